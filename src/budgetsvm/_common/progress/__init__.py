"""How long work takes: bars, and forecasts."""

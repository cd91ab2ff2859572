"""Learning from rows that come block by block."""

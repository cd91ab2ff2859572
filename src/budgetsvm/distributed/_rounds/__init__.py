"""Rounds: what can be asked of all partitions, alone or together."""

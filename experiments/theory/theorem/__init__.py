"""Theorem 1 checked: its bounds, what was run, and what came out."""

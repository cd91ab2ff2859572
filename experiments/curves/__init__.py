"""Runs that a trace has watched, and the figures made of them."""

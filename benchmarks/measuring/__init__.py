"""Time, memory, and what NumPy makes of the same work."""

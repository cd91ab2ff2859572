"""The best point of a line: between two points, or for a bias."""

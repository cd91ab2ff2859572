"""Newton's method on a smoothed loss."""

"""What would help a model: checks of a fitted machine on some rows, each with a number, and in words."""

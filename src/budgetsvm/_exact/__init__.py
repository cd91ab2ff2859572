"""The exact dual of the full problem, where the budget is not small against the rows; exact.py is its door."""

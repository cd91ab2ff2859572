"""The full problem on rows that may be support vectors, where these may be few; attempt.py is its door."""

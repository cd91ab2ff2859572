"""What the defaults of a classifier rest on: the bias, and what becomes of many classes."""

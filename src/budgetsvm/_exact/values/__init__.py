"""Rows of the kernel matrix: between groups, held while there is room, or evaluated anew."""

"""Rows of LIBSVM (SVMlight) files."""

"""Pairs of classes, solved by the core; pairs.py."""

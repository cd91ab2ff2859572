"""Fewer terms for models that are trained already, wherever they come from."""

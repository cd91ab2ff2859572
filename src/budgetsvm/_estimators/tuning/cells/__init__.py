"""Cells of a search: trained and scored on one split after another."""

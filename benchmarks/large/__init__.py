"""Budgets of thousands, each figure with its target."""

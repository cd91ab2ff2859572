"""Tuning: C, gamma and the budget by cross-validation, with one set of terms for all C."""

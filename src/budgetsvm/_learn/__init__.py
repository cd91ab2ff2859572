"""Phase 1: find the terms. `learn` is its only door."""

"""Novelty detection."""

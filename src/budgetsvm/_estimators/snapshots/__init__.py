"""Fitted estimators as plain records, and back."""

from budgetsvm._estimators.snapshots.convert import machine_of, snapshot_of

__all__ = ["machine_of", "snapshot_of"]

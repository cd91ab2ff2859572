"""Watch a fit while it runs."""

from budgetsvm._monitor import Monitor, View

__all__ = ["Monitor", "View"]

"""Warnings that name the line of the user's that called us."""

import sys
import warnings

from sklearn.exceptions import ConvergenceWarning


def say(message: str, category: type[Warning] = ConvergenceWarning) -> None:
    """Warn, and name the line of the user's that called us."""
    warnings.warn(message, category, stacklevel=_levels_to_user())


def _levels_to_user() -> int:
    """Return how far up the line is that called fit: the first one outside of this package."""
    frame, levels = sys._getframe(1), 1
    inner = ("budgetsvm.", "sklearn.callback.")
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(inner):
        frame, levels = frame.f_back, levels + 1
    return levels

"""What all examples have in common: how large their data are, and how their pictures look."""

import os
from typing import Any

import matplotlib as mpl

#: With BUDGETSVM_QUICK=1 examples run on few rows: to see that they run, not to look at.
QUICK = os.environ.get("BUDGETSVM_QUICK", "") not in ("", "0")
BLUE, ORANGE, GREY, RED, GREEN = "#2166ac", "#e08214", "#8c8c8c", "#b2182b", "#1b7837"


def rows(many: int, few: int = 400) -> int:
    """Return how many rows an example is to make."""
    return few if QUICK else many


def reset(_conf: Any = None, _name: Any = None) -> None:
    """Set the style of pictures."""
    mpl.rcParams.update(
        {
            "axes.grid": True,
            "axes.prop_cycle": mpl.cycler(color=[BLUE, ORANGE, GREEN, RED, GREY]),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlesize": "medium",
            "figure.constrained_layout.use": True,
            "figure.dpi": 120,
            "figure.figsize": (8, 4),
            "grid.alpha": 0.25,
            "legend.frameon": False,
        }
    )

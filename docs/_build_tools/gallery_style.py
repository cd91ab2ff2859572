"""How the pictures of the gallery look. Examples themselves do not say it: they stay short."""

from typing import Any

COLOURS = ["#2166ac", "#e08214", "#1b7837", "#b2182b", "#6a51a3", "#7f7f7f"]


def reset(_configuration: Any, _file: Any) -> None:
    """Set the style, before and after every example."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams.update(
        {
            "axes.grid": True,
            "axes.prop_cycle": mpl.cycler(color=COLOURS),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlesize": "medium",
            "figure.dpi": 120,
            "grid.alpha": 0.25,
            "legend.frameon": False,
            "savefig.dpi": 160,
        }
    )

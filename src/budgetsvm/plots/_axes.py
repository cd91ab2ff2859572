"""What all pictures have in common: axes to draw on, and colours."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.extras import extra

# Colours that look different to everybody.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "0.6"
_SIZE = (5.2, 4.0)  # inches


def axes_for(name: str, ax: Any, size: tuple[float, float] = _SIZE) -> Any:
    """Return the axes that the user gives, or those of a new figure."""
    if ax is not None:
        return ax
    with extra("plot", f"{name} needs matplotlib"):
        from matplotlib.figure import Figure  # not pyplot: no display, and no state left behind
    figure: Any = Figure(figsize=size)
    figure.set_layout_engine("constrained")
    return figure.add_subplot()


def draw_cells(ax: Any, values: NDArray[np.float64], least: float, most: float) -> None:
    """Draw a table of numbers as cells around whole places: as vectors, which stay sharp at any size."""
    rows, columns = (np.arange(count + 1) - 0.5 for count in values.shape)
    options = {
        "cmap": "Blues",
        "vmin": least,
        "vmax": most,
        "edgecolors": "white",
        "linewidth": 0.6,
    }
    ax.grid(visible=False)  # that of the user's style would lie on top of the cells
    ax.pcolormesh(columns, rows, np.ma.masked_invalid(values), **options)
    for side in ax.spines.values():
        side.set_visible(False)


def in_words(number: float) -> str:
    """Return a number as short as it can be told from its neighbours on a logarithmic scale."""
    return f"{float(f'{number:.3g}'):g}"


def plain(text: object, most: int = 24) -> str:
    """Return text as matplotlib shows it, without mathematics in dollars, and not too long."""
    words = str(text)
    words = words if len(words) <= most else words[: most - 1] + "…"
    return words.replace("$", r"\$")


def ink_on(shade: float) -> str:
    """Return the colour of text on a shade between light (0) and dark (1)."""
    return "white" if shade > 0.55 else "black"

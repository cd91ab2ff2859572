"""One look for all figures: who has which colour, where panels and legend go, how curves are drawn.

The colours are those of Okabe & Ito, which colour-blind people can tell apart; line styles and markers differ, too, so
that black and white prints can be read. Figures are made without pyplot: nothing is global but the settings in `context`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Of text, axes and all that is black: in the HTML report it becomes light on dark screens.
INK = "#1b1b1f"
_BLUE, _RED, _GREEN, _SKY, _ORANGE, _PINK, _GREY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#56b4e9",
    "#e69f00",
    "#cc79a7",
    "#7f7f7f",
)

# Label, colour, line style, marker.
_METHODS: dict[str, tuple[str, str, Any, str]] = {
    "bsca": ("BSCA", _BLUE, "-", "o"),
    "bsgd": ("BSGD", _RED, "--", "s"),
    "bsca-default": ("BSCA, our defaults", _SKY, (0, (6, 1.5)), "v"),
    "bsgd-default": ("BSGD, our defaults", _ORANGE, (0, (3, 1, 1, 1)), "D"),
    "two-phase": ("two phases", _GREEN, "-.", "^"),
    "exact": ("exact SVM", INK, ":", "x"),
    "sca": ("SCA, no budget", _PINK, "-", "P"),
    "sgd": ("SGD, no budget", _GREY, "--", "X"),
    "paper": ("as in the paper", INK, (0, (1, 3)), "*"),
    "bound": ("bound", _GREY, "-.", "d"),
}
BUDGETS = (200, 500, 1000)
_BUDGET_COLOURS = (_ORANGE, _GREEN, _BLUE, _PINK, _RED)
_BUDGET_LINES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))
_BUDGET_MARKERS = "os^vD"

_SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 9,
    "grid.alpha": 0.15,
    "grid.color": INK,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "svg.fonttype": "path",  # text looks the same whatever fonts a reader has
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "ytick.color": INK,
    "ytick.labelsize": 8,
}
_MOST_POINTS = 120  # of a curve: more cannot be seen, but make files large
_MARKERS = 8  # along a curve


@contextmanager
def context() -> Iterator[None]:
    """Apply the settings. The report draws and saves in here."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        yield


def look(
    what: str | int, budget: int | None = None, among: Sequence[int] = BUDGETS, **changes: Any
) -> dict[str, Any]:
    """Return label, colour, line style and marker, as keywords of `draw_band` and `Axes.plot`.

    `what` is a method, or a budget out of `among`. With both, the colour is the method's and line style and marker are the
    budget's. `changes` come last, e.g. ``label=None``.
    """
    if isinstance(what, int):
        place = _place(what, among)
        label, colour = f"B = {what}", _BUDGET_COLOURS[place]
        line, marker = _BUDGET_LINES[place], _BUDGET_MARKERS[place]
    else:
        if what not in _METHODS:
            message = f"no look for {what!r}; there are {', '.join(_METHODS)}"
            raise ValueError(message)
        label, colour, line, marker = _METHODS[what]
        if budget is not None:
            place = _place(budget, among)
            label = f"{label}, B = {budget}"
            line, marker = _BUDGET_LINES[place], _BUDGET_MARKERS[place]
    found = {"label": label, "color": colour, "linestyle": line, "marker": marker}
    return {**found, "linewidth": 1.6, "markersize": 4.5, **changes}


def _place(budget: int, among: Sequence[int]) -> int:
    places = sorted(set(among))
    if budget not in places or len(places) > len(_BUDGET_LINES):
        message = f"no look for budget {budget} among {places} (at most {len(_BUDGET_LINES)})"
        raise ValueError(message)
    return places.index(budget)


def new_figure(
    n_panels: int,
    *,
    columns: int | None = None,
    panel: tuple[float, float] = (3.5, 2.7),
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Any, list[Any]]:
    """Return a Figure and its panels, row by row. Places of the grid that stay free are for the legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    width = columns or {1: 1, 2: 2, 4: 2}.get(n_panels, 3)
    height = -(-n_panels // width)
    if n_panels == 1:
        panel = (1.8 * panel[0], 1.4 * panel[1])
    with context():
        layout = ConstrainedLayoutEngine(h_pad=0.09, w_pad=0.07)  # inches
        figure = Figure(figsize=(width * panel[0], height * panel[1]), layout=layout)
        FigureCanvasAgg(figure)
        grid = figure.subplots(height, width, sharex=sharex, sharey=sharey, squeeze=False)
    places = list(grid.flat)
    for free in places[n_panels:]:
        free.remove()
    for axes in places[n_panels - width : n_panels]:  # shared axes hide what the last row shows
        axes.tick_params(labelbottom=True)
    return figure, places[:n_panels]


def add_legend(figure: Any, panels: Sequence[Any] | None = None, **options: Any) -> None:
    """Add one legend for all panels: in the place of the grid that is free, otherwise below.

    A label that several curves share is listed once. Call it last.
    """
    entries: dict[str, Any] = {}
    for axes in figure.axes if panels is None else panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if not entries:
        return
    with context():
        place = _free_place(figure)
        if place is not None:
            place.legend(entries.values(), entries.keys(), loc="center", **options)
            return
        columns = min(len(entries), max(2, int(figure.get_figwidth() / 2)))
        options = {"loc": "outside lower center", "ncols": columns, **options}
        figure.legend(entries.values(), entries.keys(), **options)


def _free_place(figure: Any) -> Any:
    """Return invisible axes in the first free place of the grid, or None."""
    grids = {axes.get_gridspec() for axes in figure.axes if axes.get_subplotspec()}
    if len(grids) != 1:
        return None
    (grid,) = grids
    taken = {n for axes in figure.axes for n in _numbers(axes.get_subplotspec())}
    free = [n for n in range(grid.nrows * grid.ncols) if n not in taken]
    if not free:
        return None
    axes = figure.add_subplot(grid[free[0]])
    axes.set_axis_off()
    return axes


def _numbers(place: Any) -> range:
    return range(place.num1, place.num2 + 1) if place else range(0)


def draw_band(
    axes: Any,
    x: ArrayLike,
    runs: Iterable[Sequence[float | None]] | NDArray[np.float64],
    *,
    band: Literal["range", "quartiles", "none"] = "range",
    **look: Any,
) -> None:
    """Draw the median over seeds, and a band from the least to the greatest, between quartiles, or none.

    `runs` has a line per seed, observed at the same `x`; None and NaN are left out.
    """
    places = np.asarray(x, dtype=float)
    values = np.array(list(runs), dtype=float).reshape(-1, len(places))
    seen = np.flatnonzero(np.isfinite(values).any(axis=0))
    if len(seen) == 0:
        return
    seen = seen[thin(len(seen))]
    places, values = places[seen], np.where(np.isfinite(values), values, np.nan)[:, seen]
    middle = np.nanmedian(values, axis=0)
    every = {"markevery": max(1, len(places) // _MARKERS)} if len(places) > 2 * _MARKERS else {}
    (line,) = axes.plot(places, middle, **{**every, **look})
    if len(values) > 1 and band != "none":
        ends = (0, 100) if band == "range" else (25, 75)
        low, high = np.nanpercentile(values, ends, axis=0)
        colour = line.get_color()
        axes.fill_between(places, low, high, color=colour, alpha=0.18, linewidth=0)


def thin(n: int, most: int = _MOST_POINTS) -> NDArray[np.intp]:
    """Return which of n points to draw: spread evenly, and denser at the start for logarithmic axes."""
    if n <= most:
        return np.arange(n)
    even = np.linspace(0, n - 1, most * 3 // 4)
    early = np.geomspace(1, n, most // 4) - 1
    return np.unique(np.concatenate([even, early]).round().astype(np.intp))

"""A picture of a model in the plane: its decision function, some rows, and its terms."""

from pathlib import Path
from typing import Any

import numpy as np

from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm.cli._demo.spiral import Sample

_EDGE = 1.06  # of the picture; terms may lie a little outside of the disk
_PIXELS = 600
_SHOWN_ROWS = 4000
# Of classes 0 and 1: orange and blue look different to everybody, in the dark and in the light.
_DARK = ("#a83e00", "#00457a")
_LIGHT = ("#f5b26b", "#7fb5dd")


def draw(model: BudgetSVC, title: str, train: Sample, out: Path) -> None:
    """Draw the decision function, some training rows, and the terms on top."""
    from matplotlib.figure import Figure  # not pyplot: needs no display and leaves no state behind

    figure: Any = Figure(figsize=(8.0, 8.0), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.12, w_pad=0.08)
    axes = figure.add_subplot()
    axes.set(aspect="equal", xlim=(-_EDGE, _EDGE), ylim=(-_EDGE, _EDGE))
    axes.set_axis_off()
    shading = _draw_decision(axes, model)
    _draw_rows(axes, train)
    _draw_terms(axes, model)
    axes.set_title(title, fontsize=13, pad=12)
    bar = figure.colorbar(shading, ax=axes, shrink=0.7, pad=0.01, extend="both")
    bar.set_label("decision value f(x)")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    figure.savefig(out, dpi=140)


def _draw_decision(axes: Any, model: BudgetSVC) -> Any:
    """Shade the disk by f, with the boundary f = 0 and the margins f = -1 and f = 1 as lines."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Circle

    ticks = np.linspace(-1, 1, _PIXELS)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    values = model.decision_function(grid.reshape(-1, 2)).reshape(_PIXELS, _PIXELS)
    limit = np.percentile(np.abs(values), 80)  # the extremes would leave the rest pale
    # There are no rows outside the disk, and so nothing to see in what the model says there.
    disk = Circle((0, 0), 1, transform=axes.transData)
    shading = axes.imshow(
        values,
        extent=(-1, 1, -1, 1),
        origin="lower",
        cmap=LinearSegmentedColormap.from_list("classes", [_LIGHT[0], "white", _LIGHT[1]]),
        vmin=-limit,
        vmax=limit,
        interpolation="bilinear",
        clip_path=disk,
    )
    lines = axes.contour(
        ticks,
        ticks,
        values,
        levels=[-1, 0, 1],
        colors=["0.35", "black", "0.35"],
        linewidths=[0.6, 1.8, 0.6],
        linestyles=["dashed", "solid", "dashed"],
    )
    lines.set_clip_path(disk)
    axes.plot([], [], color="black", linewidth=1.8, label="boundary f = 0")
    axes.plot([], [], color="0.35", linewidth=0.6, linestyle="dashed", label="margins f = ±1")
    return shading


def _draw_rows(axes: Any, train: Sample) -> None:
    """Draw some of the rows, small, coloured by label."""
    some = train.head(_SHOWN_ROWS)
    for label, colour in enumerate(_DARK):
        axes.scatter(*some.X[some.y == label].T, s=4, color=colour, linewidths=0)
        axes.scatter([], [], s=12, color=colour, linewidths=0, label=f"rows of class {label}")


def _draw_terms(axes: Any, model: BudgetSVC) -> None:
    """Draw the terms: the sign of a coefficient as colour, its size as area."""
    coef = model.dual_coef_[0]
    sizes = 20 + 180 * np.abs(coef) / max(float(np.abs(coef).max()), 1e-300)
    look = {"edgecolors": "white", "linewidths": 1.2, "zorder": 3}
    for label, (colour, sign) in enumerate(zip(_DARK, "<>", strict=True)):
        chosen = (coef > 0) == bool(label)
        points = model.support_vectors_[chosen]
        axes.scatter(*points.T, s=sizes[chosen], color=colour, **look)
        axes.scatter([], [], s=90, color=colour, label=f"terms with β {sign} 0 (area: |β|)", **look)

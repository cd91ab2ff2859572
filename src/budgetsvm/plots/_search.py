"""Pictures of a search: the grid of cells, and the curve of budgets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in
from budgetsvm.plots._axes import BLUE, GREY, ORANGE, axes_for, draw_cells, in_words, ink_on, plain

_ANNOTATED = 150  # cells: in more of them, numbers cannot be read
_WIDEST = (0.62, 0.42)  # inches of a cell
_PERCENTILE = 25  # of the scores: those below have the lightest shade


@public_in("budgetsvm.plots")
def plot_grid(search: Any, *, ax: Any = None) -> Any:
    """Draw the scores of all cells of a search: C from left to right, gamma from bottom to top.

    Where several budgets were tried, a cell has the score of the best one. Cells that were left on the way, on fewer
    rows or folds, have a small dot; the best cell has a frame.

    Parameters
    ----------
    search : BudgetSVCCV, BudgetSVRCV, GridSearchCV, or a machine that was fitted with C="tune"
        Whoever has ``cv_results_``.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None is a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Save it by ``ax.figure.savefig("grid.png")``.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm.model_selection import BudgetSVCCV
    >>> from budgetsvm.plots import plot_grid
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> search = BudgetSVCCV([1, 10, 100], [0.1, 1], budget=20, random_state=0).fit(X, y)
    >>> plot_grid(search).get_xlabel()
    'C'
    """
    results = _results_of(search)
    across, up = _parameters_of(results)
    columns, rows = (_values_of(results, name) for name in (across, up))
    scores, whole, places = _table(results, (across, columns), (up, rows))
    size = (1.6 + _WIDEST[0] * max(4, len(columns)), 1.1 + _WIDEST[1] * max(4, len(rows)))
    ax = axes_for("plot_grid", ax, size)
    known = scores[np.isfinite(scores)]
    most = float(known.max())
    least = min(float(np.percentile(known, _PERCENTILE)), most - 1e-12)
    draw_cells(ax, scores, least, most)
    shades = np.clip((scores - least) / (most - least), 0, 1)
    for (i, j), score in np.ndenumerate(scores):
        if not np.isfinite(score):
            continue
        ink = ink_on(float(shades[i, j]))
        if scores.size <= _ANNOTATED:
            ax.text(
                j,
                i,
                _short(score, float(abs(known).max())),
                ha="center",
                va="center",
                color=ink,
                fontsize=7,
            )
        if not whole[i, j]:
            ax.plot(j + 0.36, i + 0.3, ".", color=ink, markersize=3)
    _frame(ax, places[_best_cell(search, results)])
    _label(ax, (across, columns), (up, rows))
    return ax


def _results_of(search: Any) -> dict[str, Any]:
    results = getattr(search, "cv_results_", None)
    if not isinstance(results, dict) or "mean_test_score" not in results:
        message = (
            "there are no scores of a search: fit a BudgetSVCCV or a BudgetSVRCV, or a machine with C='tune' or "
            "gamma='tune' (a model that was loaded from a file does not have them any more)"
        )
        raise ValueError(message)
    return results


def _parameters_of(results: dict[str, Any]) -> tuple[str, str]:
    """Return the names of what goes across and what goes up: C and gamma, or the first two that vary."""
    names = [name for name in results if name.startswith("param_")]
    varying = [name for name in names if len(set(map(str, results[name]))) > 1]
    order = sorted(varying or names, key=lambda name: _PREFERRED.get(name.split("_")[-1], 2))
    return (order[0], order[1]) if len(order) > 1 else (order[0], "")


_PREFERRED = {"C": 0, "gamma": 1}


def _values_of(results: dict[str, Any], name: str) -> list[Any]:
    """Return the values of a parameter in their order; what is no number comes last."""
    found = dict.fromkeys(_plain(one) for one in results[name]) if name else {"": None}
    return sorted(found, key=lambda one: (isinstance(one, str), one))


def _plain(value: Any) -> Any:
    """Return a number, or else the text of a value."""
    return float(value) if isinstance(value, int | float | np.number) else str(value)


def _short(score: float, largest: float) -> str:
    """Return a score with three digits: as a fraction, unless scores are in other units."""
    return f"{score:.3f}" if 1e-2 <= largest < 1e3 else f"{score:.3g}"


def _table(
    results: dict[str, Any], across: tuple[str, list[Any]], up: tuple[str, list[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[tuple[int, int]]]:
    """Return the best score of every place, whether it is of all rows and folds, and the places of all cells."""
    scores = np.full((len(up[1]), len(across[1])), np.nan)
    whole = np.zeros(scores.shape, np.bool_)
    means, ranks = results["mean_test_score"], np.asarray(results["rank_test_score"])
    rows = results.get("n_rows", np.ones(len(means)))
    splits = results.get("n_splits", np.ones(len(means)))
    ups, acrosses = (
        [values.index(_plain(one)) for one in results[name]] if name else [0] * len(means)
        for name, values in (up, across)
    )
    places = list(zip(ups, acrosses, strict=True))
    for cell in np.argsort(ranks, kind="stable")[::-1]:  # the best come last, and stay
        if np.isfinite(means[cell]):
            scores[places[cell]] = means[cell]
            whole[places[cell]] = rows[cell] == rows.max() and splits[cell] == splits.max()
    if not np.isfinite(scores).any():
        raise ValueError("no cell of this search has a score")
    return scores, whole, places


def _best_cell(search: Any, results: dict[str, Any]) -> int:
    """Return the cell that was chosen: of a curve of budgets, that need not be the first one by its rank."""
    if hasattr(search, "best_index_"):
        return int(search.best_index_)
    chosen = getattr(search, "best_params_", {})
    cells = (k for k, one in enumerate(results["params"]) if chosen.items() <= one.items())
    return next(cells, int(np.argmin(results["rank_test_score"])))


def _frame(ax: Any, best: tuple[int, int]) -> None:
    """Mark the best cell."""
    from matplotlib.patches import Rectangle

    place = (best[1] - 0.5, best[0] - 0.5)
    ax.add_patch(Rectangle(place, 1, 1, fill=False, edgecolor=ORANGE, linewidth=2.5, zorder=3))


def _label(ax: Any, across: tuple[str, list[Any]], up: tuple[str, list[Any]]) -> None:
    """Write parameters and their values on the axes."""
    for axis, (name, values) in ((ax.xaxis, across), (ax.yaxis, up)):
        texts = [in_words(one) if isinstance(one, float) else plain(one, 10) for one in values]
        axis.set_ticks(np.arange(len(values)), labels=texts, fontsize=8)
        axis.set_label_text(plain(name.removeprefix("param_").split("__")[-1]))
    ax.tick_params(length=0)


@public_in("budgetsvm.plots")
def plot_budget_curve(search: Any, *, ax: Any = None) -> Any:
    """Draw the score on rows held out over the budget, as a search with ``budget="auto"`` has found it.

    Parameters
    ----------
    search : BudgetSVCCV, BudgetSVRCV, or a machine that was fitted with C="tune" or gamma="tune"
        Whoever has ``budget_curve_``.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None is a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm.model_selection import BudgetSVCCV
    >>> from budgetsvm.plots import plot_budget_curve
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> search = BudgetSVCCV([1, 10], [0.1, 1], random_state=0).fit(X, y)
    >>> plot_budget_curve(search).get_xlabel()
    'budget'
    """
    curve = getattr(search, "budget_curve_", None)
    if curve is None:
        message = (
            "there is no curve of budgets: search with budget='auto', by BudgetSVCCV, BudgetSVRCV, or a machine with "
            "C='tune' or gamma='tune' (a model that was loaded from a file does not have it any more)"
        )
        raise ValueError(message)
    ax = axes_for("plot_budget_curve", ax)
    budgets, means, deviations = (
        np.asarray(curve[name], float) for name in ("budget", "mean_test_score", "std_test_score")
    )
    ax.fill_between(
        budgets,
        means - deviations,
        means + deviations,
        color=BLUE,
        alpha=0.15,
        lw=0,
        label="± σ over folds",
    )
    ax.plot(budgets, means, "o-", color=BLUE, label="mean over folds")
    chosen = (getattr(search, "best_params_", None) or {}).get("budget")
    if chosen is not None:
        ax.axvline(float(chosen), color=ORANGE, ls="--", lw=1.2, label=f"chosen: {int(chosen):,}")
    ax.set_xscale("log")
    ax.set_xticks(budgets, labels=[f"{int(one):,}" for one in budgets], fontsize=8)
    ax.minorticks_off()
    ax.set(xlabel="budget", ylabel="score on rows held out")
    ax.grid(alpha=0.25, color=GREY)
    ax.legend(frameon=False, fontsize="small")
    return ax

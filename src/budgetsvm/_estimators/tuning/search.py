"""A search: lets cells race, and finds the budget if that is wanted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.tuning.budget_curve import BudgetCurve, curve_lines
from budgetsvm._estimators.tuning.cells.heats import Heats
from budgetsvm._estimators.tuning.grid import Grid
from budgetsvm._estimators.tuning.guard.default_cell import DefaultCell
from budgetsvm._estimators.tuning.missing import (
    say_no_time,
    say_too_few_rows,
    say_undefined,
)
from budgetsvm._estimators.tuning.preparation import SEARCH_SHARE, Data, Wanted, prepare
from budgetsvm._estimators.tuning.progress import SearchProgress, search_progress
from budgetsvm._estimators.tuning.race import Race, linear
from budgetsvm._estimators.tuning.scores import Scores, with_cells

# Of the time: where the budget is to be found, too, cells race for a part of it.
_RACE_SHARE = 0.6


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found: the best cell, and how it was found."""

    results: dict[str, Any]
    index: int
    n_splits: int
    scorer: Any
    seed: int
    curve: dict[str, NDArray[Any]] | None
    complete: bool  #: nothing was left out for want of time

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the best cell."""
        return dict(self.results["params"][self.index])

    @property
    def is_default(self) -> bool:
        """Whether the machine stays as it is without a search: of a guarded one, that is the last cell."""
        return self.index == len(self.results["params"]) - 1

    def without_gain(self) -> "Found":
        """Return the same, with the machine as it is without a search."""
        return replace(self, index=len(self.results["params"]) - 1, complete=False)

    @property
    def score(self) -> float:
        """Its mean score."""
        return float(self.results["mean_test_score"][self.index])


def search(machine: BudgetMachine, wanted: Wanted, data: Data, started: float) -> Found:
    """Find the cell with the best mean score on rows held out."""
    heats, auto, usual = prepare(machine, wanted, data, started)
    if not heats.splits:
        return _not_searched(heats, usual)
    scores = Scores(heats.grid, len(heats.splits))
    ends = np.inf if wanted.time_limit is None else started + wanted.time_limit
    # BLAS of heats in other threads is held back from here: threadpoolctl listens to one thread only.
    with single_threaded_blas(), search_progress(wanted.verbose, ends) as progress:
        default = _default(heats, usual, progress) if wanted.guarded else None
        lines = (
            range(len(heats.grid.lines)) if auto is None else curve_lines(heats.grid, auto.first)
        )
        race = heats if auto is None else replace(heats, deadline=_earlier(heats.deadline))
        between = linear if default is None else default.between
        complete = Race(
            race, scores, lines, halving=wanted.halving, progress=progress, growth=between
        ).run()
        growth = _growth(heats, default, wanted)
        best = _best_cell(scores, growth, wanted.time_limit if wanted.refit else None)
        complete &= best is not None
        best = _middle_cell(scores, lines) if best is None else best
        curve = None
        if auto is not None and scores.counts().any():
            curve = BudgetCurve(heats, scores, auto, best, ends=ends, growth=growth)
            best = curve.run(progress)
            complete &= curve.complete
    _say_what_is_missing(scores, default, wanted)
    results, index = scores.results(), best
    if auto is not None:  # of most budgets, only a few cells were ever meant to be tried
        results, index = _without_empty(results, best)
    table = None if curve is None else curve.table()
    if default is not None:
        beaten = default.is_beaten(scores, best)
        index = index if beaten else len(results["params"])
        results = with_cells(results, default.scores.results())
    return Found(results, index, len(heats.splits), heats.scorer, heats.seed, table, complete)


def _not_searched(heats: Heats, usual: Grid) -> Found:
    """Return the default cell, without a score: there are too few rows for folds."""
    say_too_few_rows()
    results = DefaultCell(heats, usual).scores.results()
    return Found(results, 0, 0, heats.scorer, heats.seed, None, complete=False)


def _say_what_is_missing(scores: Scores, default: DefaultCell | None, wanted: Wanted) -> None:
    """Say that there was no time for any cell, or that scores are no numbers."""
    every = [scores] if default is None else [scores, default.scores]
    n_undefined, n_scores = (
        sum(getattr(some, name) for some in every) for name in ("n_undefined", "n_scores")
    )
    if n_undefined:
        say_undefined(n_undefined, n_scores, guarded=wanted.guarded)
    elif not scores.n_scores:
        say_no_time(wanted.time_limit, guarded=wanted.guarded)


def _default(heats: Heats, usual: Grid, progress: SearchProgress) -> DefaultCell:
    """Return the default cell, with its scores."""
    default = DefaultCell(heats, usual)
    default.run(progress)
    return default


def _earlier(deadline: float) -> float:
    """Return when a race has to end so that there is time for the budget."""
    now = perf_counter()
    return now + _RACE_SHARE * (deadline - now)


def _growth(heats: Heats, default: DefaultCell | None, wanted: Wanted) -> Callable[[int], float]:
    """Return how many times as long as with so many rows a fit to all rows takes."""
    if default is not None:
        return default.growth(wanted.default_seconds)
    return lambda rows: linear(rows, len(heats.y))


def _best_cell(
    scores: Scores, growth: Callable[[int], float], time_limit: float | None
) -> int | None:
    """Return the best cell, of those that there will be time to fit to all rows; None: none was tried."""
    order, tried = scores.order(), scores.counts().ravel() > 0
    order = order[tried[order]]
    if not len(order):
        return None
    if time_limit is None:
        return int(order[0])
    seconds = scores.alone(growth).ravel()
    soon = order[seconds[order] <= (1 - SEARCH_SHARE) * time_limit]
    return int(soon[0] if len(soon) else order[np.argmin(seconds[order])])


def _middle_cell(scores: Scores, lines: range) -> int:
    """Return the cell in the middle: there was no time for any."""
    middle = lines[len(lines) // 2]
    return len(scores.grid.Cs) // 2 * len(scores.grid.lines) + middle


def _without_empty(results: dict[str, Any], best: int) -> tuple[dict[str, Any], int]:
    """Return results without cells that were not tried, but for the best, and the new number of that."""
    kept = results["n_splits"] > 0
    kept[best] = True
    params = [cell for cell, keep in zip(results["params"], kept, strict=True) if keep]
    some = {name: params if name == "params" else values[kept] for name, values in results.items()}
    return some, int(kept[:best].sum())

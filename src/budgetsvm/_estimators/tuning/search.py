"""A search: checks what it is given, lets cells race, and finds the budget if that is wanted."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import _check_sample_weight

from budgetsvm._common.checks import check_number, check_truth
from budgetsvm._common.threads import count_threads, single_threaded_blas
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.tuning.budget_curve import (
    BudgetCurve,
    Candidates,
    candidates,
    curve_lines,
)
from budgetsvm._estimators.tuning.cells.heats import Heats, checked_splits
from budgetsvm._estimators.tuning.grid import (
    Grid,
    Values,
    budgets_of,
    gammas_for,
    is_auto,
    penalties,
)
from budgetsvm._estimators.tuning.guard.default_cell import DefaultCell
from budgetsvm._estimators.tuning.missing import (
    say_no_time,
    say_too_few_rows,
    say_undefined,
)
from budgetsvm._estimators.tuning.progress import SearchProgress, search_progress
from budgetsvm._estimators.tuning.race import Race
from budgetsvm._estimators.tuning.scores import Scores, with_cells
from budgetsvm._estimators.user_input import check_penalty
from budgetsvm._problem.rows import check_weights

# Of a time limit: the rest is for the fit to all rows. Where the budget is to be found, too, cells race for a part of it.
_SEARCH_SHARE, _RACE_SHARE = 0.7, 0.6
_COLD = 2.0  # times a solution that starts from another


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a search is asked for; `budget` may be a number, several, or "auto"."""

    Cs: Values
    gammas: Values | None
    budget: Any
    cv: Any = None
    scoring: Any = None
    halving: bool = True
    n_jobs: int | None = None
    random_state: Any = None
    time_limit: float | None = None
    verbose: int = 0
    refit: bool = True  #: a fit to all rows follows, in the same time
    guarded: bool = False  #: the machine as it is takes part, and stays unless a cell is better


@dataclass(frozen=True, eq=False)
class Data:
    """What a search is given to learn from."""

    X: Any
    y: Any
    groups: Any = None
    sample_weight: Any = None


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
    def score(self) -> float:
        """Its mean score."""
        return float(self.results["mean_test_score"][self.index])


def search(machine: BudgetMachine, wanted: Wanted, data: Data, started: float) -> Found:
    """Find the cell with the best mean score on rows held out."""
    _check(machine, wanted)
    heats, auto = _heats(machine, wanted, data, started)
    if not heats.splits:
        return _not_searched(heats, auto)
    scores = Scores(heats.grid, len(heats.splits))
    ends = np.inf if wanted.time_limit is None else started + wanted.time_limit
    # BLAS of heats in other threads is held back from here: threadpoolctl listens to one thread only.
    with single_threaded_blas(), search_progress(wanted.verbose, ends) as progress:
        default = _default(heats, auto, progress) if wanted.guarded else None
        lines = (
            range(len(heats.grid.lines)) if auto is None else curve_lines(heats.grid, auto.first)
        )
        race = heats if auto is None else replace(heats, deadline=_earlier(heats.deadline))
        complete = Race(race, scores, lines, halving=wanted.halving, progress=progress).run()
        best = _best_cell(scores, heats, wanted.time_limit if wanted.refit else None)
        complete &= best is not None
        best = _middle_cell(scores, lines) if best is None else best
        curve = None
        if auto is not None and scores.counts().any():
            curve = BudgetCurve(heats, scores, auto, best, ends=ends)
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


def _not_searched(heats: Heats, auto: Candidates | None) -> Found:
    """Return the default cell, without a score: there are too few rows for folds."""
    say_too_few_rows()
    results = DefaultCell(heats, None if auto is None else auto.usual).scores.results()
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


def _default(heats: Heats, auto: Candidates | None, progress: SearchProgress) -> DefaultCell:
    """Return the default cell, with its scores."""
    default = DefaultCell(heats, None if auto is None else auto.usual)
    default.run(progress)
    return default


def _heats(
    machine: BudgetMachine, wanted: Wanted, data: Data, started: float
) -> tuple[Heats, Candidates | None]:
    """Return what makes heats, and the budgets to choose from, if that is asked for."""
    X, y, groups = indexable(data.X, data.y, data.groups)
    weights = _weights(data.sample_weight, X)
    # Complains before anything is split.
    rows, _, counting = machine._encode(X, y, weights, machine._settings())
    Cs = penalties(wanted.Cs)
    for C in (Cs[0], Cs[-1]):
        check_weights(check_penalty(C) * counting)
    cv = check_cv(wanted.cv, y, classifier=is_classifier(machine))
    seed = wanted.random_state
    if not isinstance(seed, int | np.integer):
        source = seed.integers(2**31) if isinstance(seed, np.random.Generator) else None
        seed = source if source is not None else check_random_state(seed).randint(2**31 - 1)
    gammas = gammas_for(wanted.gammas, machine, rows)
    budgets, auto = budgets_of(wanted.budget), None
    if is_auto(wanted.budget) and isinstance(machine.basis, str):  # not points that are given
        auto = candidates(machine, X, y, weights)
        budgets = auto.all
    elif not budgets:
        machine = machine.set_params(budget=wanted.budget)
    deadline = np.inf
    if wanted.time_limit is not None:
        share = _SEARCH_SHARE if wanted.refit else 1.0
        deadline = started + share * wanted.time_limit
    heats = Heats(
        machine,
        Grid(Cs, gammas, budgets),
        X,
        y,
        weights,
        checked_splits(
            _that_count(cv.split(X, y, groups), len(y), weights),
            y,
            classifies=is_classifier(machine),
            may_be_none=wanted.guarded,
        ),
        check_scoring(machine, scoring=wanted.scoring),
        int(seed),
        count_threads(wanted.n_jobs),
        deadline,
    )
    return heats, auto


def _that_count(
    splits: Iterable[Any], n_rows: int, weights: NDArray[np.float64] | None
) -> Iterable[Any]:
    """Return splits as numbers of rows, also of masks; what is not to be learned, with weight 0, is not to be scored."""
    rows, counts = np.arange(n_rows), np.ones(n_rows, bool) if weights is None else weights > 0

    def numbers(some: Any) -> NDArray[Any]:
        some = np.asarray(some)
        return np.asarray(rows[some if some.size else some.astype(np.intp)])

    for train, test in splits:
        held_out = numbers(test)
        yield numbers(train), held_out[counts[held_out]]


def _weights(given: Any, X: Any) -> NDArray[np.float64] | None:
    """Check weights before they are split."""
    if given is None:
        return None
    weights = _check_sample_weight(given, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    return np.asarray(weights)


def _check(machine: BudgetMachine, wanted: Wanted) -> None:
    """Complain about what cannot be searched with."""
    check_truth("halving", wanted.halving)
    if wanted.time_limit is not None:
        check_number("time_limit", wanted.time_limit, above=0)
    if not isinstance(wanted.scoring, str | None) and not callable(wanted.scoring):
        message = f"scoring must be a single scorer, its name, or None, not {wanted.scoring!r}"
        raise ValueError(message)
    if not machine.polish or wanted.budget is None:
        message = (
            f"a search solves in the span of the same terms for all C, for which it needs polish=True "
            f"and a budget, not polish={machine.polish!r} and budget={wanted.budget!r}"
        )
        raise ValueError(message)
    penalties(wanted.Cs)
    budgets_of(wanted.budget)


def _earlier(deadline: float) -> float:
    """Return when a race has to end so that there is time for the budget."""
    now = perf_counter()
    return now + _RACE_SHARE * (deadline - now)


def _best_cell(scores: Scores, heats: Heats, time_limit: float | None) -> int | None:
    """Return the best cell, of those that there will be time to fit to all rows; None: none was tried."""
    order, tried = scores.order(), scores.counts().ravel() > 0
    order = order[tried[order]]
    if not len(order):
        return None
    if time_limit is None:
        return int(order[0])
    n_rows = len(heats.y) / np.maximum(scores.rows.ravel(), 1)
    seconds = _COLD * np.nan_to_num(scores.seconds().ravel()) * n_rows
    soon = order[seconds[order] <= (1 - _SEARCH_SHARE) * time_limit]
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

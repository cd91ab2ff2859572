"""What a search is given, and the heats that come of it: all that can be wrong is told before any work."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import _check_sample_weight

from budgetsvm._common.checks import check_number, check_truth
from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.tuning.budget_curve import Candidates, candidates
from budgetsvm._estimators.tuning.cells.heats import Heats, checked_splits
from budgetsvm._estimators.tuning.grid import (
    Grid,
    Values,
    budgets_of,
    gammas_for,
    is_auto,
    penalties,
)
from budgetsvm._estimators.user_input import check_penalty
from budgetsvm._problem.rows import check_weights

SEARCH_SHARE = 0.7  # of a time limit: the rest is for the fit to all rows


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
    default_seconds: float | None = None  #: of a fit without a search, if it is known
    guarded: bool = False  #: the machine as it is takes part, and stays unless a cell is better


@dataclass(frozen=True, eq=False)
class Data:
    """What a search is given to learn from."""

    X: Any
    y: Any
    groups: Any = None
    sample_weight: Any = None


def prepare(
    machine: BudgetMachine, wanted: Wanted, data: Data, started: float
) -> tuple[Heats, Candidates | None, Grid]:
    """Return what makes heats, the budgets to choose from, if that is asked for, and what a machine has without a search."""
    X, y, groups = indexable(data.X, data.y, data.groups)
    weights = _weights(data.sample_weight, X)
    _check(machine, wanted)
    Cs = penalties(wanted.Cs)
    # Complains before anything is split.
    rows, _, counting = machine._encode(X, y, weights, machine._settings())
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
        share = SEARCH_SHARE if wanted.refit else 1.0
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
            weights,
            classifies=is_classifier(machine),
            may_be_none=wanted.guarded,
        ),
        _scorer(machine, wanted.scoring),
        int(seed),
        count_threads(wanted.n_jobs),
        deadline,
        wanted.guarded,
    )
    scale = gammas_for(["scale"], machine, rows) if gammas else ()
    usual = Grid((machine.C,), scale, () if auto is None else (auto.usual,))
    return heats, auto, usual


def _scorer(machine: BudgetMachine, scoring: Any) -> Any:
    """Return a scorer, for which the machine has what it asks for."""
    scorer = check_scoring(machine, scoring=scoring)
    wanted = getattr(scorer, "_response_method", None)
    if wanted == "predict_proba" and not hasattr(machine, wanted):
        message = (
            f"scoring={scoring!r} asks for probabilities, which there are with loss='log_loss'"
        )
        raise ValueError(message)
    return scorer


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
    budgets_of(wanted.budget)

"""The models that are compared: one function each, so that all benchmarks mean the same."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.measuring.timing import clock
from benchmarks.problems.data_sets import Problem
from budgetsvm import BudgetSVC
from budgetsvm._polish import polish as _phase_two
from budgetsvm._polish.solve import polish_in_span

SOLVERS = ("bsca", "bsgd")
BUDGETS = (200, 500)
_CHUNK = 2000


def plain(
    problem: Problem, solver: str, budget: int, *, epochs: int, seed: int, threads: int
) -> BudgetSVC:
    """Return a solver of the paper alone, with the default maintenance and visiting order."""
    return BudgetSVC(
        C=problem.C,
        gamma=problem.gamma,
        budget=budget,
        solver=solver,
        epochs=epochs,
        polish=False,
        random_state=seed,
        n_jobs=threads,
    )


@dataclass(frozen=True)
class Fit:
    """What came out of training in two phases, once."""

    score: float  #: test accuracy
    seconds: float  #: of the whole fit
    phase_one: float  #: of that, the seconds in phase 1
    passes: int  #: of phase 2 over the data
    terms: int
    objective: float  #: P of the model
    gap: float  #: (P - D) / P
    converged: bool


def two_phases(problem: Problem, budget: int, *, seed: int, **parameters: Any) -> Fit:
    """Train as by default, except for the parameters given, and test."""
    model = BudgetSVC(
        C=problem.C, gamma=problem.gamma, budget=budget, random_state=seed, **parameters
    )
    with warnings.catch_warnings(), _observed_passes() as passes:
        warnings.simplefilter("ignore", ConvergenceWarning)  # `converged` says it
        seconds = clock(lambda: model.fit(problem.X, problem.y))
    return Fit(
        score=float(model.score(problem.X_test, problem.y_test)),
        seconds=seconds,
        phase_one=sum(record["seconds"] for record in model.history_),
        passes=sum(passes),
        terms=len(model.support_vectors_),
        objective=model.objective_[0],
        gap=model.duality_gap_,
        converged=model.converged_,
    )


@contextmanager
def _observed_passes() -> Iterator[list[int]]:
    """Collect the passes of every polish: an estimator does not keep their number."""
    passes: list[int] = []

    def observed(*arguments: Any, **keywords: Any) -> Any:
        polished = polish_in_span(*arguments, **keywords)
        passes.append(polished.passes)
        return polished

    with patch.object(_phase_two, "polish_in_span", observed):
        yield passes


def svc_accuracy(svc: Any, problem: Problem) -> float:
    """Return what ``svc.score`` returns, by matrix products: it may take longer than training."""
    rows, terms, coef = map(_dense, (problem.X_test, svc.support_vectors_, svc.dual_coef_))
    evaluate = partial(rbf_kernel, Y=terms, gamma=problem.gamma)
    starts = range(0, len(rows), _CHUNK)
    blocks = [evaluate(rows[start : start + _CHUNK]) @ coef[0] for start in starts]
    values = np.concatenate(blocks) + svc.intercept_[0]
    some = slice(0, 100)
    np.testing.assert_allclose(values[some], svc.decision_function(problem.X_test[some]), rtol=1e-6)
    return float(np.mean(svc.classes_[(values > 0).astype(np.intp)] == problem.y_test))


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values

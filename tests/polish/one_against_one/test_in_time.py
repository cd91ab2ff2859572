"""Pairs of classes where C is large, or time is short: what was solved counts."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC
from budgetsvm._polish.one_against_one import pairs

OPTIONS: dict[str, Any] = {"gamma": 0.05, "budget": 60, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    return make_classification(
        3000, 10, n_informative=8, n_classes=6, n_clusters_per_class=1, flip_y=0.1, random_state=0
    )


@pytest.mark.slow
def test_the_core_solves_pairs_of_a_large_C(
    data: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it stops too early, Newton's method finds the same, in many times the time."""
    model = BudgetSVC(C=300.0, **OPTIONS).fit(*data)
    assert model.converged_
    asked: list[int] = []
    monkeypatch.setattr(pairs, "_MOST_ROUNDS", 2)
    monkeypatch.setattr("budgetsvm._polish.solve._Alone.__call__", _counting(asked), raising=True)
    other = BudgetSVC(C=300.0, **OPTIONS).fit(*data)
    assert asked
    assert other.converged_
    assert other.objective_[0] == pytest.approx(model.objective_[0], rel=0.02)


def _counting(asked: list[int]) -> Any:
    from budgetsvm._polish.solve import _Alone

    solve = _Alone.__call__

    def counting(self: Any, matrix: Any, c: int) -> Any:
        asked.append(c)
        return solve(self, matrix, c)

    return counting


@pytest.mark.parametrize("solved", [0, 1, 4])
def test_pairs_that_were_solved_in_time_are_kept(
    solved: int, data: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others have no model, and the certificate says so; the model is no worse than that of phase 1."""
    full = BudgetSVC(C=10.0, **OPTIONS).fit(*data)
    some = pairs.solve_pairs

    def cut_off(matrix: Any, targets: Any, how: Any) -> Any:
        left = solved
        for found in some(matrix, targets, how):
            first = slice(min(left, len(found.numbers)))
            left -= len(found.numbers[first])
            parts = found.numbers, found.w, found.points, found.certificates
            yield pairs.SolvedPairs(*(part[first] for part in parts), found.alpha)

    monkeypatch.setattr("budgetsvm._polish.solve.solve_pairs", cut_off)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BudgetSVC(C=10.0, **OPTIONS).fit(*data)
    assert not model.converged_
    primal, dual = model.objective_
    assert dual <= full.objective_[0] <= primal * (1 + 1e-9)
    assert np.isfinite(model.decision_function(data[0])).all()
    learned = BudgetSVC(C=10.0, polish=False, **OPTIONS).fit(*data)
    assert model.score(*data) >= learned.score(*data) - 0.02

"""Searches in limited time: what they spend it on, and what they leave for the fit to all rows."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import get_scorer

from budgetsvm import BudgetSVC
from budgetsvm._estimators.tuning.budget_curve import BudgetCurve, Candidates
from budgetsvm._estimators.tuning.cells.heats import Heats
from budgetsvm._estimators.tuning.grid import Grid
from budgetsvm._estimators.tuning.guard.default_cell import DefaultCell
from budgetsvm._estimators.tuning.progress import SearchProgress
from budgetsvm._estimators.tuning.race import sample_sizes
from budgetsvm._estimators.tuning.scores import Heat, Scores

X = np.random.default_rng(0).normal(size=(1000, 2))
Y = (X[:, 0] > 0).astype(int)


def heats(grid: Grid, *, train: int = 800) -> Heats:
    """Return what makes heats of some rows."""
    splits = [(np.arange(train), np.arange(train, 1000))]
    return Heats(BudgetSVC(), grid, X, Y, None, splits, get_scorer("accuracy"), 0, 1, np.inf)


@pytest.mark.parametrize("rows", [1, 100, 4000, 4001, 9000, 16000, 20000, 80000, 10**6, 123456])
def test_samples_grow_from_few_rows_to_all(rows: int) -> None:
    sizes = sample_sizes(rows)
    assert sizes[-1] == rows
    assert sizes[0] == min(rows, 4000)
    for fewer, more in pairwise(sizes):
        assert fewer < more
        assert more <= 8 * fewer
    for fewer, more in pairwise(sizes[:-1]):
        assert more >= 2 * fewer


def test_how_much_longer_all_rows_take_is_what_the_default_took() -> None:
    grid = Grid((1.0,), (1.0,), ())
    default, one = DefaultCell(heats(grid), grid), np.ones(1)
    default.scores.add(Heat(0, 0, np.array([0]), 100, one, 2 * one, one))
    known = default.growth(6.0)
    assert known(100) == 3.0  # 6 seconds in the place of 2
    assert known(200) == 5.0  # not tried: ten times the rows of 100
    assert default.growth(1.0)(100) == 1.0  # never less than that
    assert default.growth(1e9)(100) == 10.0  # nor more than linear
    assert default.growth(None)(100) == 10.0
    assert default.between(100, 400) == 4.0
    default.scores.add(Heat(0, 0, np.array([0]), 400, one, 3 * one, one))
    assert default.between(100, 400) == 1.5


@pytest.mark.parametrize(("rows", "smaller"), [(100, False), (200, True), (800, True)])
def test_samples_do_not_say_how_few_terms_will_do(
    rows: int, smaller: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = Grid((1.0,), (1.0,), (10, 20, 40))
    scores, one = Scores(grid, 1), np.ones(1)
    scores.add(Heat(1, 0, np.array([0]), rows, one, one, one))
    tried: list[int] = []

    def no_room(_: Any, budget: int, *__: Any) -> bool:
        tried.append(budget)
        return False

    monkeypatch.setattr(BudgetCurve, "_try", no_room)
    budgets = Candidates(20, 20, (10,), (40,))
    curve = BudgetCurve(heats(grid), scores, budgets, 1, ends=np.inf, growth=lambda _: 1.0)
    assert curve.run(SearchProgress(np.inf)) == 1
    assert tried == ([40, 10] if smaller else [40])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("limit", [0.05, 0.5])
def test_a_search_in_little_time_leaves_the_machine_that_there_was(limit: float) -> None:
    """Whatever time there is, the model is solved as well as it would be without a search."""
    tuned = BudgetSVC(C="tune", gamma="tune", budget=20, time_limit=limit, random_state=0)
    plain = BudgetSVC(budget=20, time_limit=limit, random_state=0).fit(X, Y)
    gap = tuned.fit(X, Y).duality_gap_
    assert gap <= max(0.1, plain.duality_gap_)

"""Splits and scores that are of no use: said at once, and clearly."""

from typing import Any

import numpy as np
import pytest

from budgetsvm import BudgetSVC
from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV

X = np.random.default_rng(0).standard_normal((60, 2))
Y = (X[:, 0] > 0).astype(int)
SMALL: dict[str, Any] = {"Cs": [1.0, 10.0], "gammas": [0.5, 1.0], "random_state": 0, "n_jobs": 1}
ROWS = np.arange(60)


@pytest.mark.parametrize(
    ("cv", "complaint"),
    [
        ([], "cv has no splits"),
        ([(ROWS[:0], ROWS)], "split 1 of cv has no training rows"),
        ([(ROWS, ROWS), (ROWS, ROWS[:0])], "split 2 of cv has no rows held out"),
    ],
)
@pytest.mark.parametrize("kind", [BudgetSVCCV, BudgetSVRCV])
def test_splits_without_rows(kind: Any, cv: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        kind(cv=cv, **SMALL).fit(X, Y)


def test_a_class_that_is_held_out_as_a_whole() -> None:
    y = np.where(ROWS == 7, 1, 0)
    cv = [(ROWS[10:], ROWS[:10]), (np.delete(ROWS, 7), ROWS[7:8])]
    with pytest.raises(ValueError, match=r"split 1 of cv are all of class 0.*fewer folds"):
        BudgetSVCCV(cv=cv, **SMALL).fit(X, y)


def test_scores_that_are_no_numbers_count_as_none() -> None:
    def scorer(machine: BudgetSVC, X: Any, y: Any) -> float:
        return np.inf if machine.C == 10.0 else float(machine.score(X, y))

    with pytest.warns(UserWarning, match="the scorer returned inf"):
        search = BudgetSVCCV(cv=3, scoring=scorer, **SMALL).fit(X, Y)
    assert search.best_params_["C"] == 1.0
    assert np.isfinite(search.best_score_)

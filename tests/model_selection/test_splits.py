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

    with pytest.warns(UserWarning, match="scores are not finite"):
        search = BudgetSVCCV(cv=3, scoring=scorer, **SMALL).fit(X, Y)
    assert search.best_params_["C"] == 1.0
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("masks", [False, True])
def test_rows_of_weight_zero_are_not_scored(masks: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    counts = np.arange(300) % 3 == 0
    wrong = np.where(counts, y, 1 - y)
    folds = [(rng.permutation(300) < 200) for _ in range(2)]
    cv = [
        (fold, ~fold) if masks else (np.flatnonzero(fold), np.flatnonzero(~fold)) for fold in folds
    ]
    options = {"budget": 30, "cv": cv, "random_state": 0}
    found = BudgetSVCCV([0.01, 10], [0.001, 1], **options).fit(X, wrong, sample_weight=counts * 1.0)
    assert found.best_params_ == {"C": 10, "gamma": 1}
    assert found.best_score_ > 0.8


@pytest.mark.parametrize("weighted", [False, True])
def test_masks_are_rows(weighted: bool) -> None:
    """Also where a look at a part of the rows comes first, for which rows are drawn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    folds = [rng.permutation(7000) < 5000 for _ in range(2)]
    weights = np.ones(7000) if weighted else None
    scores = []
    for cv in (
        [(fold, ~fold) for fold in folds],
        [(np.flatnonzero(fold), np.flatnonzero(~fold)) for fold in folds],
    ):
        search = BudgetSVCCV([1, 10], [0.1, 1], budget=20, cv=cv, random_state=0, refit=False)
        scores.append(search.fit(X, y, sample_weight=weights).cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*scores)

"""All pairs of classes in one call of the core: the solutions are those of one pair after the other."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from budgetsvm import BudgetSVC
from budgetsvm._exact import blocks, small_pairs

X, LABELS = make_classification(240, 6, n_informative=5, n_redundant=0, n_classes=4, random_state=0)
UNEVEN = np.repeat(np.arange(9), [1, 1, 2, 3, 5, 8, 60, 70, 90])


@pytest.mark.parametrize("y", [LABELS, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_by_one(
    monkeypatch: pytest.MonkeyPatch, y: Any, C: float, precision: str, weighted: bool
) -> None:
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y)) if weighted else None

    def fitted() -> BudgetSVC:
        tol = 1e-3 if precision == "single" else 1e-4  # which is about what rounding leaves
        model = BudgetSVC(C=C, gamma=0.2, tol=tol, precision=precision, random_state=0)
        return model.fit(X, y, weights)

    together = fitted()
    monkeypatch.setattr(blocks, "are_small", lambda _: False)
    one_by_one = fitted()
    spread = np.abs(one_by_one.decision_function(X)).max()
    difference = together.decision_function(X) - one_by_one.decision_function(X)
    assert np.abs(difference).max() < 0.02 * spread
    assert together.converged_
    assert together.certifies_ == "full problem"
    np.testing.assert_allclose(together.objective_, one_by_one.objective_, rtol=2e-4)
    assert together.n_support_.tolist() == pytest.approx(one_by_one.n_support_.tolist(), abs=4)


def test_it_is_the_machine_of_scikit_learn() -> None:
    model = BudgetSVC(gamma=0.2, tol=1e-5, random_state=0, decision_function_shape="ovo").fit(
        X, LABELS
    )
    other = SVC(gamma=0.2, tol=1e-6, decision_function_shape="ovo").fit(X, LABELS)
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(X), atol=0.01, rtol=0
    )


def test_threads_and_calls_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one = BudgetSVC(random_state=0, n_jobs=1).fit(X, UNEVEN)
    monkeypatch.setattr(small_pairs, "_AT_ONCE", 1000.0)
    other = BudgetSVC(random_state=0, n_jobs=3).fit(X, UNEVEN)
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


def test_where_rounds_do_not_suffice_another_way_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_pairs, "_MOST_ROUNDS", 1)
    model = BudgetSVC(C=100, gamma=0.2, random_state=0).fit(np.tile(X, (3, 1)), np.tile(LABELS, 3))
    assert model.converged_

"""Kernels that are not positive definite: no coefficient grows beyond reason, and nothing warns of it."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetsvm import BudgetSVC, BudgetSVR

X, Y = make_classification(400, 8, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def _distance(A: Any, B: Any) -> Any:
    """A kernel whose matrices have one positive eigenvalue, or a few."""
    return 1 - 0.05 * ((A[:, np.newaxis] - B[np.newaxis]) ** 2).sum(axis=2)


KERNELS: dict[str, dict[str, Any]] = {
    "nearly linear": {"kernel": "sigmoid", "gamma": 0.01},
    "bent": {"kernel": "sigmoid", "gamma": 1.0},
    "shifted": {"kernel": "sigmoid", "gamma": 0.1, "coef0": 1.0},
    "below zero": {"kernel": "sigmoid", "gamma": 0.1, "coef0": -1.0},
    "distance": {"kernel": _distance},
}


@pytest.mark.parametrize("budget", [20, 300])
@pytest.mark.parametrize("case", KERNELS)
def test_coefficients_stay_small(case: str, budget: int) -> None:
    """Terms that are removed are projected on the others: their coefficients doubled, hundreds of times."""
    for seed in range(3):
        for C in (0.1, 10.0):
            model = BudgetSVC(
                C, budget=budget, polish=False, epochs=5, random_state=seed, **KERNELS[case]
            ).fit(X, Y)
            assert np.abs(model.dual_coef_).max() < 1e4 * C
            assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("seed", range(10))
def test_a_polish_is_not_led_astray(seed: int) -> None:
    """A model with a norm below zero has an objective below any other's, and used to be kept."""
    rng = np.random.default_rng(0)
    few, y = rng.normal(size=(600, 5)), rng.permutation(600) % 2
    model = BudgetSVC(kernel="sigmoid", gamma=0.01, random_state=seed).fit(few, y)
    primal, dual = model.objective_
    assert 0 <= dual <= primal
    assert model.converged_


def test_several_outputs() -> None:
    targets = np.column_stack([X[:, 0], X[:, 1] ** 2, X[:, 2] * X[:, 3]])
    options: dict[str, Any] = {"kernel": "sigmoid", "gamma": 0.01, "polish": False, "budget": 40}
    model = BudgetSVR(random_state=0, epochs=5, **options).fit(X, targets)
    assert np.abs(model.dual_coef_).max() < 1e4

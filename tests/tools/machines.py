"""A small binary machine, its objective from the definition, and what its fit took."""

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from budgetsvm import BudgetSVC

CERTIFICATE = ("duality_gap_", "objective_", "converged_")


def make(**options: Any) -> BudgetSVC:
    """Unless the options say otherwise: both phases, a small budget."""
    return BudgetSVC(**{"C": 10, "gamma": 1.0, "budget": 30, "random_state": 0, **options})


def objective(
    model: BudgetSVC, X: Any, y: Any, weights: Any = 1.0, C: float | None = None
) -> float:
    """P of a model, by default for its C, from its public attributes, in float64; a bias does not count for the norm."""
    C = model.C_ if C is None else C
    Z, beta = model.support_vectors_, model.dual_coef_[0]
    gamma = model.kernel_.gamma
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    slack = np.maximum(0, 1 - signs * (rbf_kernel(X, Z, gamma) @ beta + model.intercept_))
    return float(0.5 * beta @ rbf_kernel(Z, Z, gamma) @ beta + C * np.sum(weights * slack))


def passes(model: BudgetSVC, X: Any, y: Any) -> int:
    """Fit, and return how many passes the polish took."""
    polished = model._fit(X, y, None)
    assert polished is not None
    return polished.passes

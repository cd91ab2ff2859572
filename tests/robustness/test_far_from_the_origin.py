"""Where gamma · ‖x‖² is huge, distances from norms are wrong: a certificate is right, or there is none."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles.judge import phi
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC

C = 10.0


def kernel(X: Any, Z: Any, gamma: float) -> Any:
    """Return the Gaussian kernel by differences of features."""
    with np.errstate(over="ignore"):
        return np.array([np.exp(-gamma * ((x - Z) ** 2).sum(axis=1)) for x in X])


def primal(model: Any, X: Any, y: Any) -> float:
    """P of a model by its definition."""
    Z, beta, gamma = model.support_vectors_, model.dual_coef_[0], model.kernel_.gamma
    f = kernel(X, Z, gamma) @ beta
    costs = phi(model.loss, (model.loss != "logistic") - y * f)
    return float(0.5 * beta @ kernel(Z, Z, gamma) @ beta + C * costs.sum())


def best_bound(X: Any, y: Any, gamma: float, loss: str) -> float:
    """Return a P that no dual point of the full problem exceeds: that of some passes of projected steps."""
    K = kernel(X, X, gamma) * np.outer(y, y)
    target, alpha = float(loss != "logistic"), np.full(len(y), 0.5)
    high = np.inf if loss == "squared_hinge" else C
    best = np.inf
    step = 1 / (np.linalg.norm(K, 2) + 1 / (2 * C) + (10 if loss == "logistic" else 0))
    for _ in range(300):
        f = K @ alpha
        best = min(best, 0.5 * alpha @ f + C * phi(loss, target - f).sum())
        share = np.clip(alpha / C, 1e-9, 1 - 1e-9)
        slope = {"hinge": 0.0, "squared_hinge": alpha / (2 * C)}.get(
            loss, np.log(share / (1 - share))
        )
        alpha = np.clip(alpha + step * (target - f - slope), 0, high)
    return float(best)


def rows(n: int, kind: str, scale: float) -> tuple[Any, Any, Any]:
    """Return rows as they are given, the same as an array, and labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 300 if kind == "wide" else 3)) * (0.1 if kind == "wide" else 1.0)
    y = np.where(X[:, 1] > 0, 1.0, -1.0)
    match kind:
        case "offset":  # a column of time stamps, sparse
            X[:, 0] += scale
            return sparse.csr_matrix(X), X, y
        case "spread":  # every row is far from all others
            X *= scale
        case _:  # two clusters
            X[n // 2 :, 0] += scale
    return X, X, y


@pytest.mark.sampled(4)
@pytest.mark.parametrize("gamma", [0.5, 1e3])
@pytest.mark.parametrize("scale", [1.0, 1e4, 1e7, 1.7e9, 1e150])
@pytest.mark.parametrize("kind", ["offset", "clusters", "wide", "spread"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("budget", [25, 80])
def test_a_certificate_is_right_or_refused(
    budget: int, loss: str, kind: str, scale: float, gamma: float
) -> None:
    given, X, y = rows(80, kind, scale)
    model = BudgetSVC(C=C, gamma=gamma, budget=budget, loss=loss, random_state=0, n_jobs=1)
    model.set_params(fit_intercept=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(given, y)
    assert model.converged_ == (not caught)
    if scale == 1.0:
        assert model.converged_
    if model.converged_:
        P, D = model.objective_
        assert primal(model, X, y) == pytest.approx(P, rel=5e-3)
        if model.certifies_ == "full problem":
            assert best_bound(X, y, gamma, loss) * (1 + 1e-3) >= D
    for warning in caught:
        assert "larger gamma" not in str(warning.message)


@pytest.mark.parametrize("gamma", [1e16, 1e300])
def test_a_huge_gamma(gamma: float) -> None:
    _, X, y = rows(40, "clusters", 0.0)
    with pytest.warns(ConvergenceWarning, match="rounding"):
        model = BudgetSVC(C=1.0, gamma=gamma, budget=40, random_state=0).fit(X, y)
    assert not model.converged_

"""The certificate: the optimum lies between D and P, recomputed by others."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from oracles.problems import blobs, moons, noisy_xor
from polish.spans import LITTLE, PLENTY
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from budgetsvm import polish as polish_with_bias

# With a bias: test_loss_optimum.py.
polish = partial(polish_with_bias, fit_intercept=False)


def bounds_by_scipy(G: Any, y: Any, box: Any) -> tuple[float, float]:
    """Bounds on the optimum of the SVM with features G: D of L-BFGS-B's point, and P of its w."""
    A = G * y[:, np.newaxis]
    with threadpool_limits(1):
        found = minimize(
            lambda a: (0.5 * np.sum((A.T @ a) ** 2) - a.sum(), A @ (A.T @ a) - 1),
            0.5 * box,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, c) for c in box],
            options={"maxiter": 120, "maxfun": 500, "ftol": 1e-15, "gtol": 1e-9},
        )
    w = A.T @ found.x
    hinge = np.maximum(0, 1 - A @ w)
    return float(found.x.sum() - 0.5 * w @ w), float(0.5 * w @ w + box @ hinge)


def check_certificate(X: Any, y: Any, result: Any, *, box: Any, gamma: float, rel: float) -> None:
    """All that a result claims, recomputed in float64 from what it gives."""
    Z, alpha = result.points, result.alpha
    K, K_ZZ = rbf_kernel(X, Z, gamma), rbf_kernel(Z, Z, gamma)
    signs = np.where(y == np.max(y), 1.0, -1.0)
    assert result.gap == pytest.approx((result.primal - result.dual) / result.primal, abs=1e-12)
    assert -1e-12 <= result.gap <= 1
    hinge = np.maximum(0, 1 - signs * (K @ result.coef))
    primal = 0.5 * result.coef @ K_ZZ @ result.coef + box @ hinge
    assert primal == pytest.approx(result.primal, rel=rel)
    assert (alpha >= 0).all()
    assert (alpha <= box * (1 + 1e-12)).all()
    v = K.T @ (alpha * signs)
    dual = alpha.sum() - 0.5 * v @ np.linalg.solve(K_ZZ, v)
    assert dual == pytest.approx(result.dual, rel=rel, abs=rel * result.primal)
    G = np.linalg.solve(np.linalg.cholesky(K_ZZ), K.T).T
    lower, upper = bounds_by_scipy(G, signs, box)
    assert result.dual <= upper * (1 + rel)
    assert result.primal >= lower * (1 - rel)


PROBLEMS = {
    "blobs": lambda: blobs(150, 3, 0),
    "moons": lambda: moons(200, 1),
    "xor": lambda: noisy_xor(180, 2),
    "far apart": lambda: blobs(100, 2, 3, distance=20.0),
    "one rare": lambda: (blobs(100, 2, 4)[0], np.where(np.arange(100) < 3, 1.0, -1.0)),
    "duplicates": lambda: (np.repeat(blobs(20, 2, 5)[0], 10, axis=0), np.tile([-1.0, 1.0], 100)),
    "two rows": lambda: (np.array([[0.0, 0.0], [1.0, 0.5]]), np.array([-1.0, 1.0])),
    "more terms than rows": lambda: blobs(12, 2, 6),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("precision", "rel"), [("double", 1e-6), ("single", 1e-3)])
@pytest.mark.parametrize("C", [1e-6, 0.1, 10.0, 1e3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_lies_between_dual_and_primal(
    name: str, C: float, precision: Any, rel: float
) -> None:
    X, y = PROBLEMS[name]()
    rng = np.random.default_rng(0)
    Z = np.vstack([X[:20], X[:5], X[:5].mean(axis=0, keepdims=True)])
    weights = rng.uniform(0.5, 1.5, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(
            X, y, Z, C=C, gamma=0.8, precision=precision, random_state=0, sample_weight=weights
        )
    assert result.gap <= 1e-2 or not result.converged
    # A class of one row leaves little to save: then a gap of 1e-2 is not enough, and single
    # precision may not be, either.
    assert result.converged or result.gap > 1e-2 or precision == "single"
    if C <= 10:
        assert result.converged
    check_certificate(X, y, result, box=C * weights, gamma=0.8, rel=rel)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_one_sided_weights(C: float, side: int) -> None:
    X, y = moons(200, 3)
    weights = np.where(y == y[side], 1e4, 1e-4)
    result = polish(
        X, y, X[:25], C=C, gamma=1.0, precision="double", sample_weight=weights, random_state=0
    )
    assert result.converged
    check_certificate(X, y, result, box=C * weights, gamma=1.0, rel=1e-6)


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_extreme_C(C: float, memory: float) -> None:
    X, y = noisy_xor(300, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(X, y, X[:30], C=C, gamma=1.0, precision="double", memory_limit=memory)
    assert np.isfinite(result.coef).all()
    assert 0 <= result.dual <= result.primal <= C * 300
    check_certificate(X, y, result, box=np.full(300, C), gamma=1.0, rel=1e-4)


@pytest.mark.parametrize(
    ("C", "tol"),
    [(0.1, 1e-4), (1.0, 1e-6), (10.0, 1e-2), (10.0, 1e-3), (10.0, 1e-4)]
    + [(100.0, tol) for tol in (1e-3, 1e-4)]
    + [(1000.0, tol) for tol in (1e-2, 1e-3)],
)
def test_tolerances_are_reached(C: float, tol: float) -> None:
    """And the gap is about the right problem: scipy finds nothing better."""
    X, y = moons(400, 7, noise=0.3)
    result = polish(X, y, X[:30], C=C, gamma=1.0, tol=tol, precision="double", random_state=0)
    assert result.converged
    assert result.gap <= tol
    check_certificate(X, y, result, box=np.full(400, C), gamma=1.0, rel=1e-6)


def test_alpha_belongs_to_the_rows_given() -> None:
    """Also where some have weight zero."""
    X, y = moons(200, 11)
    weights = np.where(np.arange(200) % 3 == 0, 0.0, 1.0)
    result = polish(X, y, X[:20], C=2.0, gamma=1.0, sample_weight=weights, precision="double")
    assert result.alpha.shape == (200,)
    assert (result.alpha[weights == 0] == 0).all()
    check_certificate(X, y, result, box=2.0 * weights, gamma=1.0, rel=1e-6)

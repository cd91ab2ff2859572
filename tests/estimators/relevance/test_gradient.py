"""The error on rows held out is what a plain computation says, and its derivatives are those of it."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from budgetsvm._estimators.relevance.held_out_error import HeldOutError, Part

N, D, POINTS, FOLDS = 90, 4, 12, 3


def problem(outputs: int, *, weighted: bool, make: Any = np.asarray) -> tuple[HeldOutError, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.7)
    Y = rng.normal(size=(N, outputs)) + X[:, :1]
    weights = rng.integers(1, 4, N).astype(float) if weighted else np.ones(N)
    rows = np.array_split(np.arange(N), FOLDS)
    parts = [Part.of(make(X[some]), Y[some], weights[some]) for some in rows]
    return HeldOutError(parts, make(X[:POINTS]), 1), (X, Y, weights, rows)


def plain_error(data: Any, log_scales: Any, log_ridge: float) -> float:
    """The same, one fold after the other, with a solver for any linear system."""
    X, Y, weights, folds = data
    Z, total = X[:POINTS], 0.0

    def kernel(A: Any) -> Any:
        return np.exp(-(np.exp(2 * log_scales) * (A[:, np.newaxis] - Z) ** 2).sum(axis=2))

    for held_out in folds:
        rest = np.setdiff1d(np.arange(N), held_out)
        K = kernel(X[rest])
        system = K.T @ (weights[rest, np.newaxis] * K) + np.exp(log_ridge) * kernel(Z)
        system += 1e-8 * weights.sum() * np.eye(POINTS)
        beta = np.linalg.solve(system, K.T @ (weights[rest, np.newaxis] * Y[rest]))
        errors = kernel(X[held_out]) @ beta - Y[held_out]
        total += 0.5 * float((weights[held_out, np.newaxis] * errors**2).sum())
    return total / float(weights.sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_error_and_gradient(outputs: int, weighted: bool) -> None:
    error, data = problem(outputs, weighted=weighted)
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=D + 1) - 0.5
        found, by_scales, by_ridge = error(x[:-1], x[-1])
        assert found == pytest.approx(plain_error(data, x[:-1], x[-1]), rel=1e-9)
        derivatives = np.append(by_scales, by_ridge)
        for i, step in enumerate(1e-4 * np.eye(D + 1)):
            ends = [error((x + sign * step)[:-1], (x + sign * step)[-1])[0] for sign in (1, -1)]
            assert derivatives[i] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-5, abs=1e-7)


def test_threads_change_nothing() -> None:
    error, _ = problem(2, weighted=True)
    x = np.linspace(-1, 0.5, D)
    one = error(x, 0.1)
    error._threads = 3
    three = error(x, 0.1)
    assert one[0] == three[0]
    np.testing.assert_array_equal(one[1], three[1])


def test_sparse_rows_are_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    dense, _ = problem(2, weighted=True)
    few, _ = problem(2, weighted=True, make=sparse.csr_array)
    module = "budgetsvm._estimators.relevance.held_out_error._AT_ONCE"
    monkeypatch.setattr(module, 5 * D)  # points by fives
    x = np.linspace(-1, 0.5, D)
    for one, other in zip(dense(x, 0.1), few(x, 0.1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)

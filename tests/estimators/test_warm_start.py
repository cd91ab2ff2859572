"""Warm starts, and partial_fit after a fit."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import noisy_xor
from sklearn.metrics.pairwise import polynomial_kernel
from tools.machines import CERTIFICATE, make, objective, passes

from budgetsvm import kernels


def test_warm_start_reuses_terms_and_dual_variables() -> None:
    X, y = noisy_xor(3000, 18)
    options: dict[str, Any] = {"tol": 1e-3, "budget": 40}
    model = make(warm_start=True, **options).fit(X, y)
    terms, last = model.support_vectors_, model.objective_[0]
    gap = model.duality_gap_
    again = passes(model, X, y)
    assert again <= 3  # nothing changed: it only looks
    assert model.duality_gap_ <= gap + 1e-6  # at both points that were certified
    np.testing.assert_allclose(model.support_vectors_, terms, atol=1e-6)
    assert model.objective_[0] == pytest.approx(last, rel=1e-3)
    warm = passes(model.set_params(C=12), X, y)
    assert model.converged_
    known = {tuple(np.round(z, 5)) for z in terms}
    assert {tuple(np.round(z, 5)) for z in model.support_vectors_} <= known
    fresh = make(C=model.C_, basis=terms, **options)
    assert warm < passes(fresh, X, y)
    assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=2e-3)
    assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-3)


def test_warm_start_along_a_path_of_C() -> None:
    X, y = noisy_xor(2000, 19)
    model = make(warm_start=True, tol=1e-3, basis=X[:30])
    for C in (0.01, 0.1, 1.0, 10.0, 100.0, 0.1):
        model.set_params(C=C).fit(X, y)
        assert model.converged_
        fresh = make(C=C, tol=1e-3, basis=model.support_vectors_).fit(X, y)
        assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=2e-3)


def test_warm_start_takes_over_a_changed_gamma() -> None:
    X, y = noisy_xor(1000, 20)
    model = make(warm_start=True, tol=1e-3).fit(X, y)
    model.set_params(gamma=0.2).fit(X, y)
    assert model.kernel_ == kernels.Gaussian(0.2)
    assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-3)
    fresh = make(C=model.C_, gamma=0.2, tol=1e-3, basis=model.support_vectors_).fit(X, y)
    assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=2e-3)


def test_warm_start_takes_over_a_changed_kernel() -> None:
    """Kernels that know where the origin is, after one that does not."""
    X, y = noisy_xor(600, 21)
    X = X + 2.0
    options: dict[str, Any] = {"maintenance": "remove", "coef0": 1.0, "gamma": 0.5, "degree": 2}
    model = make(warm_start=True, **options).fit(X, y)
    model.set_params(kernel="poly").fit(X, y)
    K = polynomial_kernel(X, model.support_vectors_, degree=2, gamma=0.5, coef0=1.0)
    expected = K @ model.dual_coef_[0] + model.intercept_
    scale = abs(expected).max()
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-3 * scale)
    model.set_params(kernel=lambda A, B: A @ B.T).fit(X, y)
    expected = X @ model.support_vectors_.T @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)


def test_warm_start_on_other_data() -> None:
    """Fewer rows, other features, a smaller budget."""
    X, y = noisy_xor(1000, 22)
    model = make(warm_start=True, budget=40).fit(X, y)
    model.fit(X[:700], y[:700])
    assert model.converged_
    wide = np.column_stack([X, X])
    model.fit(wide, y)
    assert model.support_vectors_.shape[1] == 4
    model.set_params(budget=10).fit(wide, y)
    assert len(model.support_vectors_) <= 10
    assert model.converged_


def test_warm_start_with_a_new_basis() -> None:
    """Points that the user gives are the terms, warm start or not."""
    X, y = noisy_xor(500, 23)
    model = make(warm_start=True, basis=X[:10]).fit(X, y)
    model.set_params(basis=X[10:30]).fit(X, y)
    Z = X[10:30]
    assert all(np.isclose(Z, z, atol=1e-5).all(axis=1).any() for z in model.support_vectors_)


def test_warm_start_counts_its_own_epochs() -> None:
    X, y = noisy_xor(500, 24)
    model = make(warm_start=True, epochs=2).fit(X, y)
    assert model.n_iter_ == 2
    assert model.set_params(C=20).fit(X, y).n_iter_ == 0  # no epoch of phase 1 was needed


def test_without_warm_start_a_fit_is_from_scratch() -> None:
    X, y = noisy_xor(800, 25)
    model = make().fit(X, y)
    f = model.decision_function(X)
    model.set_params(C=3).fit(X, y)
    model.set_params(C=10).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), f)


def test_partial_fit_goes_on_from_a_polished_model() -> None:
    X, y = noisy_xor(2000, 26)
    model = make().fit(X[:1000], y[:1000])
    before = model.support_vectors_
    model.partial_fit(X[1000:1001], y[1000:1001])
    assert not any(hasattr(model, name) for name in CERTIFICATE)
    after = model.support_vectors_
    kept = [np.isclose(after, point, atol=1e-5).all(axis=1).any() for point in before]
    assert np.mean(kept) > 0.9
    model.partial_fit(X[1000:], y[1000:])
    assert len(model.support_vectors_) <= 30
    assert model.score(X, y) > 0.8
    model.fit(X, y)
    assert model.converged_


def test_partial_fit_alone_never_polishes() -> None:
    X, y = noisy_xor(500, 27)
    a, b = make().partial_fit(X, y), make(polish=False).partial_fit(X, y)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)

"""The span of terms: which of them are kept, and their orthonormal coordinates."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, blobs, noisy_xor
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC, kernels, polish
from budgetsvm._polish.basis import Basis

GAMMA = 0.8


def basis_error(basis: Basis, gram: Any) -> float:
    """‖L Lᵀ − K_ZZ‖ and ‖L⁻ᵀ Lᵀ − 1‖, at most."""
    K = gram(basis.points.astype(np.float64), basis.points.astype(np.float64))
    identity = basis.inverse @ basis.lower.T
    return float(
        max(
            abs(basis.lower @ basis.lower.T - K).max() / abs(K).max(),
            abs(identity - np.eye(len(basis))).max(),
        )
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_independent_points_are_all_kept(name: str, dtype: Any) -> None:
    kernel, gram = KERNELS[name]
    Z = np.random.default_rng(0).standard_normal((30, 6)).astype(dtype)
    basis = Basis.of(Z, kernel)
    assert len(basis) == 30
    assert basis.points.dtype == dtype
    assert basis_error(basis, gram) < 1e-9
    np.testing.assert_array_equal(np.sort(basis.points, axis=0), np.sort(Z, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_are_left_out(dtype: Any) -> None:
    kernel, gram = KERNELS["rbf"]
    Z = np.random.default_rng(1).standard_normal((10, 3)).astype(dtype)
    close = Z + dtype(1e-4 if dtype == np.float32 else 1e-7)
    basis = Basis.of(np.vstack([Z, Z, close]), kernel)
    assert len(basis) == 10
    assert basis_error(basis, gram) < 1e-9


@pytest.mark.parametrize(("name", "rank"), [("linear", 4), ("poly", 20)])
def test_kernels_of_finite_rank(name: str, rank: int) -> None:
    """Linear: d. Polynomial of degree 3 in three variables: C(6, 3)."""
    kernel, gram = KERNELS[name]
    Z = np.random.default_rng(2).standard_normal((60, 4 if name == "linear" else 3))
    basis = Basis.of(Z, kernel)
    assert len(basis) == rank
    assert basis_error(basis, gram) < 1e-9


@pytest.mark.parametrize("gamma", [1e-12, 1e-300])
def test_a_tiny_gamma_leaves_one_term(gamma: float) -> None:
    Z = np.random.default_rng(3).standard_normal((50, 4))
    basis = Basis.of(Z, kernels.Gaussian(gamma))
    assert len(basis) == 1
    assert np.isfinite(basis.inverse).all()


def test_a_kernel_that_vanishes_leaves_none() -> None:
    assert len(Basis.of(np.zeros((5, 3)), kernels.Linear())) == 0
    X, y = blobs(40, 3, 0)
    options: dict[str, Any] = {"kernel": "linear", "maintenance": "remove"}
    result = polish(X, y, np.zeros((5, 3)), C=2.0, fit_intercept=False, **options)
    assert result.primal == result.dual == 2 * 40
    assert len(result.coef) == 0
    model = BudgetSVC(budget=3, fit_intercept=False, **options).fit(np.zeros((40, 3)), y)
    assert (model.decision_function(X) == 0).all()
    assert model.converged_


def test_a_kernel_that_vanishes_leaves_the_bias() -> None:
    """It names the class that most rows belong to, with a margin of 1."""
    X, y = blobs(40, 3, 0)
    few = min((y == label).sum() for label in set(y))
    assert few < 20
    result = polish(X, y, np.zeros((5, 3)), kernel="linear", maintenance="remove", C=2.0)
    assert result.primal == pytest.approx(2.0 * 2 * few, rel=1e-12)
    assert result.dual == pytest.approx(2.0 * 2 * few, rel=1e-12)
    model = BudgetSVC(kernel="linear", maintenance="remove", budget=3).fit(np.zeros((40, 3)), y)
    assert abs(model.decision_function(X)) == pytest.approx(1.0)
    assert (model.predict(X) == max(set(y), key=list(y).count)).all()
    assert model.converged_


@pytest.mark.parametrize("coef0", [-1.0, 0.1, 1.0])
def test_an_indefinite_kernel_is_cut_to_its_positive_part(coef0: float) -> None:
    kernel = kernels.Sigmoid(0.5, coef0)
    Z = np.random.default_rng(4).standard_normal((40, 3))
    basis = Basis.of(Z, kernel)
    assert len(basis) < 40
    assert np.isfinite(basis.inverse).all()
    X, y = noisy_xor(200, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(X, y, X[:40], kernel=kernel, maintenance="remove")
    assert np.isfinite(result.coef).all()
    assert result.dual <= result.primal * (1 + 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_is_one_more_orthonormal_function(dtype: Any) -> None:
    Z = np.random.default_rng(0).standard_normal((12, 3)).astype(dtype)
    plain, basis = (Basis.of(Z, kernels.Gaussian(GAMMA), constant=c) for c in (False, True))
    assert len(basis) == len(plain) == plain.dimension == basis.dimension - 1
    np.testing.assert_array_equal(basis.gram[:-1, :-1], plain.gram)
    for matrix in (basis.gram, basis.lower, basis.inverse):
        np.testing.assert_array_equal(matrix[-1], np.eye(13)[-1])
        np.testing.assert_array_equal(matrix[:, -1], np.eye(13)[-1])
    coef = np.random.default_rng(1).standard_normal(13)
    w = basis.coordinates(coef)
    assert w @ w == pytest.approx(coef[:-1] @ plain.gram @ coef[:-1] + coef[-1] ** 2)
    np.testing.assert_allclose(basis.coefficients(w), coef, atol=1e-9)
    np.testing.assert_allclose(basis.projection(basis.gram @ coef), w, atol=1e-9)


@pytest.mark.parametrize("constant", [False, True])
def test_a_basis_of_no_points(constant: bool) -> None:
    for Z in (np.empty((0, 3)), np.zeros((4, 3))):
        basis = Basis.of(Z, kernels.Linear(), constant=constant)
        assert (len(basis), basis.dimension) == (0, constant)
        assert basis.inverse.shape == basis.lower.shape == (constant, constant)


@pytest.mark.parametrize("gamma", [1e-3, 1e-2, 0.3])
@pytest.mark.parametrize("n_features", [4, 18])
def test_products_with_the_gram_matrix_are_precise_where_it_is_small(
    gamma: float, n_features: int
) -> None:
    """Wide kernels have eigenvalues below the rounding errors of single precision: they are read in double then.

    What counts is the norm of the inverse, in which conjugate gradients measure residuals.
    """
    points = np.random.default_rng(0).standard_normal((600, n_features)).astype(np.float32)
    basis = Basis.of(points, kernels.Gaussian(gamma))
    values, vectors = np.linalg.eigh(basis.gram)
    for place in (0, len(values) // 2, -1):
        own = vectors[:, place]
        error = vectors.T @ (basis.gram_times(own, np.float32) - values[place] * own)
        assert np.sqrt((error**2 / values).sum()) < 0.1 * np.sqrt(values[place])

"""The polish as a function of its own, of points that may come as any table."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import moons, noisy_xor, sparse_rows
from scipy import sparse

from budgetsvm import BudgetSVC, kernels, polish
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.polish import _guess
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget


def test_polish_is_a_function_of_its_own() -> None:
    X, y = moons(300, 10)
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    Z = X[::10]
    result = polish(X, labels, Z, C=5.0, gamma=2.0, tol=1e-5, precision="double", random_state=0)
    assert len(result.points) <= len(Z)
    assert all(np.isclose(Z, point).all(axis=1).any() for point in result.points)
    model = BudgetSVC(
        C=5.0, gamma=2.0, tol=1e-5, basis=Z, budget=30, precision="double", random_state=0
    ).fit(X, labels)
    assert model.objective_ == (result.primal, result.dual)
    np.testing.assert_array_equal(model.dual_coef_[0], result.coef)
    np.testing.assert_array_equal(model.support_vectors_, result.points)


def test_sparse_and_dense_rows_agree() -> None:
    X = sparse_rows(400, 20, 12)
    y = np.sign(X.toarray()[:, :3].sum(axis=1) + 0.1)
    options: dict[str, Any] = {"C": 3.0, "gamma": 0.2, "tol": 1e-5, "precision": "double"}
    a = polish(X, y, X[:30].toarray(), random_state=0, **options)
    b = polish(X.toarray(), y, X[:30].toarray(), random_state=0, **options)
    assert a.primal == pytest.approx(b.primal, rel=2e-5)
    assert a.gap <= 1e-5


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "table",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_matrix,
        sparse.coo_array,
        np.ndarray.tolist,
        np.float32,
        np.asfortranarray,
    ],
)
def test_kinds_of_points(table: Any, rows: Any) -> None:
    X, y = noisy_xor(300, 0)
    Z = np.round(X[:20], 1).astype(np.float32).astype(float)
    expected = polish(rows(X), y, Z, C=10, gamma=1.0)
    result = polish(rows(X), y, table(Z), C=10, gamma=1.0)
    np.testing.assert_array_equal(result.coef, expected.coef)
    np.testing.assert_array_equal(result.points, expected.points)
    assert isinstance(result.points, np.ndarray)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_wrong_points(form: Any) -> None:
    X, y = noisy_xor(300, 0)
    with pytest.raises(ValueError, match="basis has 3 features, but X has 2"):
        polish(X, y, form(np.ones((5, 3))))
    with pytest.raises(ValueError, match="NaN"):
        polish(X, y, form(np.full((5, 2), np.nan)))
    with pytest.raises(ValueError, match="0 sample"):
        polish(X, y, form(np.ones((0, 2))))


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("copies", [0, 7])
def test_the_guess_is_the_function_of_the_terms(copies: int, constant: bool) -> None:
    """Less its bias, wherever the points are stored; terms that the basis leaves out count, too."""
    rng, centre = np.random.default_rng(0), np.array([5.0, -3.0])
    X, y = noisy_xor(200, 0)
    points = np.vstack([X[:20], X[:copies]])
    coef, bias = rng.standard_normal((1, len(points))), np.array([2.0])
    model = KernelExpansion(kernels.Gaussian(0.7), points, coef, bias, centre)
    basis = Basis.of(points, model.kernel, constant=constant)
    assert len(basis) == 20
    rows = Rows(X + centre, np.float64, centre)
    guess = _guess(model, basis, Problem(rows, SingleTarget.of_labels(y, np.ones(200))))
    assert guess is not None
    found = KernelMatrix(rows, basis, 1, 1e9).times(guess.w)
    np.testing.assert_allclose(found, model.decision(X + centre)[:, 0] - 2.0, atol=1e-8)


@pytest.mark.parametrize("coef", [0.0, 1e308])
def test_no_guess_without_a_function(coef: float) -> None:
    """Terms that nobody has learned, or values that overflow."""
    X, y = noisy_xor(60, 0)
    points = np.vstack([X[:20], X[:5]])
    kernel = kernels.Gaussian(0.7)
    model = KernelExpansion(kernel, points, np.full((1, 25), coef), np.zeros(1), None)
    basis = Basis.of(points, kernel)
    problem = Problem(Rows(X, np.float64, None), SingleTarget.of_labels(y, np.ones(60)))
    with np.errstate(all="ignore"):
        assert _guess(model, basis, problem) is None

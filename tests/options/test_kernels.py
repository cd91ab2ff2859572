"""Kernel values against scikit-learn, over all loop remainders, precisions and layouts."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, sparse_rows
from scipy import sparse
from tools.core.arguments import core_rows, store

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._problem.rows import squared_norms

DIMENSIONS = [1, 2, 5, 7, 13, 40, 100]
SIZES = [1, 31, 32, 33, 63, 64, 65, 130]
DTYPES = [np.float32, np.float64]
# Relative to the largest kernel value: float32 distances are differences of norms of about 2d.
ROUNDING = {np.float32: 3e-5, np.float64: 1e-13}


def kernel_block(X: Any, terms: Any, kernel: kernels.Kernel, dtype: Any) -> Any:
    out = np.full((X.shape[0], terms.size), np.nan, dtype)
    arrays = terms.arrays
    _core.kernel_block(core_rows(X, dtype), arrays, terms.size, terms.core_kernel(kernel), out)
    return out


def decision(X: Any, terms: Any, kernel: kernels.Kernel, dtype: Any) -> Any:
    out = np.full(X.shape[0], np.nan)
    arrays = terms.arrays
    _core.decision(core_rows(X, dtype), arrays, terms.size, terms.core_kernel(kernel), out)
    return out


@pytest.mark.parametrize("form", ["dense", "csr", "unsorted csr"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_values(name: str, d: int, dtype: Any, form: str) -> None:
    """kernel_block and decision for all sizes of the model."""
    kernel, gram = KERNELS[name]
    rng = np.random.default_rng(d)
    X = sparse_rows(9, d, d, 0.5) if "csr" in form else rng.standard_normal((9, d)) / d**0.25
    if "csr" in form:
        X = sparse.csr_array(X / d**0.25)
        X.data[::4] = 0  # explicit zeros
    wide = X.toarray() if "csr" in form else X
    if form == "unsorted csr":
        for i in range(9):
            part = slice(X.indptr[i], X.indptr[i + 1])
            X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
    for size in SIZES:
        points, coef = rng.standard_normal((size, d)) / d**0.25, rng.standard_normal(size)
        terms = store(points, coef, kernel, dtype)
        expected = gram(wide.astype(dtype).astype(float), terms.points().astype(float))
        tolerance = ROUNDING[dtype] * max(1.0, abs(expected).max())
        values = kernel_block(X, terms, kernel, dtype)
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)
        f = decision(X, terms, kernel, dtype)
        np.testing.assert_allclose(f, expected @ coef, rtol=0, atol=tolerance * abs(coef).sum())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_no_rows(name: str, dtype: Any) -> None:
    kernel, _ = KERNELS[name]
    terms = store(np.ones((3, 2)), np.ones(3), kernel, dtype)
    assert decision(np.ones((0, 2)), terms, kernel, dtype).shape == (0,)


@pytest.mark.parametrize("name", KERNELS)
def test_diagonal(name: str) -> None:
    kernel, gram = KERNELS[name]
    X = np.random.default_rng(0).standard_normal((20, 4))
    expected = gram(X, X).diagonal()
    np.testing.assert_allclose(kernel.diagonal((X**2).sum(axis=1)), expected, rtol=1e-13)


def test_squared_norms_of_sparse_rows_beside_large_ones() -> None:
    """A row's norm must not depend on what else is in the block."""
    X = sparse.csr_array(np.array([[1e9, 1e9], [1.0, 2.0], [0.0, 0.0], [3e-4, 0.0]]))
    norms = squared_norms(core_rows(X, np.float64)[0])
    np.testing.assert_allclose(norms, [2e18, 5.0, 0.0, 9e-8], rtol=1e-14)


# ---- the exponential function ----


def gaussian_of(exponents: Any, dtype: Any) -> Any:
    """exp(−t) as the core computes it: k(x, z) with x = (√t, 0), or its closest float, and z = 0."""
    points = np.zeros((len(exponents), 1), dtype)
    points[:, 0] = np.sqrt(exponents)
    kernel = kernels.Gaussian(1.0)
    terms = store(points, np.ones(len(points)), kernel, dtype)
    terms.norms[: terms.size] = exponents.astype(dtype)
    return kernel_block(np.zeros((1, 1)), terms, kernel, dtype)[0]


@pytest.mark.parametrize(("dtype", "lowest", "ulps"), [(np.float32, 86, 3), (np.float64, 700, 3)])
def test_exponential_is_accurate(dtype: Any, lowest: float, ulps: float) -> None:
    exponents = np.concatenate(
        [np.linspace(0, lowest, 20001), np.geomspace(1e-12, lowest, 5001)]
    ).astype(dtype)
    values = gaussian_of(exponents, dtype).astype(np.longdouble)
    exact = np.exp(-exponents.astype(np.longdouble))
    error = np.max(np.abs(values / exact - 1))
    assert error <= ulps * np.finfo(dtype).eps


@pytest.mark.parametrize(("dtype", "beyond"), [(np.float32, 87.5), (np.float64, 709.0)])
def test_exponential_ends_at_zero(dtype: Any, beyond: float) -> None:
    """No denormals: they would make everything after them slow."""
    exponents = np.array([beyond, 2 * beyond, 1e4, 1e10, 1e30], dtype)
    np.testing.assert_array_equal(gaussian_of(exponents, dtype), 0)
    falling = gaussian_of(np.linspace(0, 1.1 * beyond, 50001).astype(dtype), dtype)
    assert (np.diff(falling) <= 0).all()
    assert falling[falling > 0].min() >= np.finfo(dtype).tiny


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_a_point_is_equal_to_itself(name: str, dtype: Any) -> None:
    """k(x, x) = 1; exactly so at the origin."""
    kernel, _ = KERNELS[name]
    X = np.random.default_rng(1).standard_normal((40, 30))
    X[0] = 0
    values = kernel_block(X, store(X, np.ones(40), kernel, dtype), kernel, dtype).diagonal()
    assert values[0] == 1
    assert (values <= 1).all()
    np.testing.assert_allclose(values, 1, rtol=100 * np.finfo(dtype).eps)


# ---- through the estimator ----


def test_sparse_input_in_any_form() -> None:
    """Duplicate entries are summed; zeros may be stored; indices may be long and in any order."""
    rng = np.random.default_rng(2)
    X = sparse_rows(60, 8, 3, 0.5)
    y = rng.integers(2, size=60)
    coo = sparse.coo_array(X)
    doubled = sparse.csr_array(
        (
            np.concatenate([2 * coo.data, -coo.data, np.zeros(60)]),
            (
                np.concatenate([*([coo.coords[0]] * 2), np.arange(60)]),
                np.concatenate([*([coo.coords[1]] * 2), np.full(60, 7)]),
            ),
        ),
        shape=X.shape,
    )
    raw = X.copy()
    raw.data = np.repeat(X.data, 2) * np.tile([2.0, -1.0], X.nnz)
    raw.indices, raw.indptr = np.repeat(X.indices, 2), 2 * X.indptr
    long = X.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    turned = X.copy()
    for i in range(60):
        part = slice(turned.indptr[i], turned.indptr[i + 1])
        turned.indices[part] = turned.indices[part][::-1].copy()
        turned.data[part] = turned.data[part][::-1].copy()
    turned.has_sorted_indices = False
    for maintenance, kernel in (("merge", "rbf"), ("remove", "poly"), ("remove", "laplacian")):
        model = BudgetSVC(
            kernel=kernel,
            gamma=0.3,
            budget=9,
            maintenance=maintenance,
            precision="double",
            epochs=1,
            polish=False,
            random_state=0,
        )
        expected = model.fit(X, y).decision_function(X)
        assert np.ptp(expected) > 0.1
        variants = {
            "doubled": doubled,
            "raw duplicates": raw,
            "int64 indices": long,
            "unsorted": turned,
            "csr_matrix": sparse.csr_matrix(X),
            "csc": sparse.csc_array(X),
        }
        for name, other in variants.items():
            kept = other.copy()
            values = model.fit(other, y).decision_function(other)
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9, err_msg=name)
            np.testing.assert_array_equal(other.data, kept.data)  # the input stays what it was
            np.testing.assert_array_equal(other.indices, kept.indices)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("budget", [10, None])
@pytest.mark.parametrize("name", KERNELS)
def test_a_python_function_as_kernel(name: str, budget: int | None, form: str) -> None:
    """The slow path gives what the built-in kernel gives, in training and in prediction."""
    kernel, gram = KERNELS[name]
    X = sparse_rows(60, 4, 5, 0.7)
    y = np.random.default_rng(6).integers(2, size=60)
    data = X if form == "csr" else X.toarray()
    options: dict[str, Any] = {
        "budget": budget,
        "epochs": 2,
        "polish": False,
        "precision": "double",
        "random_state": 1,
        "maintenance": "remove" if name == "sigmoid" else "project",
    }
    expected = BudgetSVC(kernel=kernel, **options).fit(data, y)
    model = BudgetSVC(kernel=gram, **options).fit(data, y)
    f = expected.decision_function(data)
    np.testing.assert_allclose(model.decision_function(data), f, rtol=0, atol=1e-5 * abs(f).max())
    assert model.history_[0]["steps"] == expected.history_[0]["steps"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Z: np.ones((len(X), len(Z) + 1)), r"returned shape \(1, \d+\), not \(1, \d+\)"),
        (lambda _, Z: np.ones(len(Z)), r"returned shape \(\d*,\), not \(1, \d+\)"),
        (lambda X, Z: np.full((len(X), len(Z)), np.nan), "returned NaN or infinity"),
        (lambda X, Z: np.full((len(X), len(Z)), np.inf), "returned NaN or infinity"),
    ],
)
def test_a_python_function_that_returns_nonsense(function: Any, message: str) -> None:
    X, y = np.random.default_rng(7).standard_normal((20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match=message):
        BudgetSVC(kernel=function, budget=5, maintenance="remove").fit(X, y)


def test_an_exception_of_a_python_function_comes_through() -> None:
    """Also from inside the core, after some good answers, and without harm to later calls."""
    calls = []

    def fragile(X: Any, Z: Any) -> Any:
        calls.append(len(Z))
        if len(calls) > 60:
            raise ArithmeticError("no more")
        return X @ Z.T

    X, y = np.random.default_rng(8).standard_normal((40, 2)), np.arange(40) % 2
    with pytest.raises(ArithmeticError, match="no more"):
        BudgetSVC(kernel=fragile, budget=5, maintenance="remove", epochs=3).fit(X, y)
    assert len(calls) == 61
    BudgetSVC(kernel=lambda X, Z: X @ Z.T, budget=5, maintenance="remove").fit(X, y)

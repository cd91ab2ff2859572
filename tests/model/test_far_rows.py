"""Rows so far outside that their squares, or their products with terms, overflow."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, moons
from scipy import sparse

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.rows import Rows

SIZES = [1e30, 3e38, 1e154, 1e300]
DIRECTIONS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0], [0.0, 1.0], [-0.3, 0.8]])
NAMES = ["rbf", "laplacian", "poly", "sigmoid", "linear"]


def fitted(kernel: str, precision: str, *, classes: int = 2) -> tuple[BudgetSVC, Any]:
    X, y = moons(600, 0)
    y = y if classes == 2 else y + 3 * (X[:, 0] > 1.5)
    maintenance = "merge" if kernel == "rbf" else "project"
    model = BudgetSVC(
        kernel=kernel,
        gamma=1.0,
        coef0=0.5,
        budget=25,
        maintenance=maintenance,
        precision=precision,
        decision_function_shape="ovo",
        fit_intercept=True,
        polish=False,
        epochs=1,
        random_state=0,
    )
    return model.fit(X, y), X[:40]


def exact_decision(model: BudgetSVC, kernel: str, X: Any) -> Any:
    """f(x) in extended precision, whose exponents reach to 10^4932."""
    wide = np.longdouble
    terms = model._expansion.original_points().astype(wide)
    products = np.asarray(X, wide) @ terms.T
    match kernel:
        case "poly":
            values = (products + wide(0.5)) ** 3
        case "sigmoid":
            values = np.tanh(products + wide(0.5))
        case _:
            values = products
    return values @ model._expansion.coef.T.astype(wide) + model._expansion.bias


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("kernel", NAMES)
def test_decision_values(kernel: str, precision: str, dtype: Any, form: str) -> None:
    """Ordinary rows keep their values bit by bit; far ones have the right ones."""
    for classes in (2, 3):
        model, X = fitted(kernel, precision, classes=classes)
        ordinary = X.astype(dtype)
        make = sparse.csr_array if form == "sparse" else np.asarray
        expected = model.decision_function(make(ordinary))
        for size in SIZES:
            if size > float(np.finfo(dtype).max):
                continue
            far = (size * DIRECTIONS).astype(dtype)
            mixed = np.vstack([ordinary[:20], far, ordinary[20:]])
            values = model.decision_function(make(mixed))
            middle = slice(20, 20 + len(far))
            np.testing.assert_array_equal(np.delete(values, np.r_[middle], axis=0), expected)
            values = values[middle].reshape(len(far), -1)
            if kernel in ("rbf", "laplacian"):
                bias = model._expansion.bias
                np.testing.assert_array_equal(values, np.tile(bias, (len(far), 1)))
            else:
                exact = exact_decision(model, kernel, far)
                compare(values, exact, kernel, 1e-9 if precision == "double" else 1e-5)


def compare(values: Any, exact: Any, kernel: str, tolerance: float) -> None:
    """Values agree, and are infinite of the right sign where double precision ends."""
    too_large = abs(exact) > np.finfo(float).max
    assert (values[too_large] == np.sign(exact[too_large]) * np.inf).all()
    scale = abs(exact[~too_large]).max(initial=1.0) if kernel != "sigmoid" else 1.0
    assert np.isfinite(values[~too_large]).all()
    np.testing.assert_allclose(
        (values[~too_large] / scale).astype(float),
        (exact[~too_large] / scale).astype(float),
        rtol=0,
        atol=tolerance,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_kernel_values_are_zero(name: str, dtype: Any) -> None:
    """Exactly, whatever the gamma and the number of features; in the core and in the solvers."""
    rng = np.random.default_rng(0)
    for gamma, d in ((1e-6, 1), (0.5, 3), (1e4, 40)):
        kernel = kernels.Gaussian(gamma) if name == "rbf" else kernels.Laplacian(gamma)
        points = rng.standard_normal((37, d)).astype(dtype)
        terms = TermStore.of(points, rng.standard_normal(37), kernel, 0)
        for size in [*SIZES, 1e307]:
            X = size * rng.choice([-1.0, 1.0], (33, d))
            X[::4] = 0
            X[::4, -1] = -size  # dense rows that are mostly zero become sparse
            out, f = np.empty((33, 37), dtype), np.ones(33)
            for rows in ((X, None, None), (X, None, rng.standard_normal(d))):
                _core.kernel_block(rows, terms.arrays, 37, kernel.core(), out)
                _core.decision(rows, terms.arrays, 37, kernel.core(), f)
                assert (out == 0).all()
                assert (f == 0).all()


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_values_of_a_single_precision_model(name: str) -> None:
    """What fits into single precision is right, the rest infinite; no NaN."""
    ours, gram = KERNELS[name]
    rng = np.random.default_rng(1)
    points = rng.standard_normal((9, 2)).astype(np.float32)
    model = KernelExpansion(ours, points, rng.standard_normal((1, 9)), np.zeros(1), None)
    X = np.vstack([DIRECTIONS, 1e12 * DIRECTIONS, 1e20 * DIRECTIONS, 1e36 * DIRECTIONS])
    with np.errstate(over="ignore"):
        expected = gram(X, points.astype(float)).astype(np.float32)
    values = model.kernel_values(X)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_python_kernel_sees_the_rows_as_they_are(outputs: int) -> None:
    seen = []

    def function(X: Any, Z: Any) -> Any:
        seen.append((X.dtype, Z.dtype, float(abs(X).max())))
        return np.tanh(X @ Z.T)

    rng = np.random.default_rng(2)
    points = rng.standard_normal((5, 2)).astype(np.float32)
    coef = rng.standard_normal((outputs, 5))
    model = KernelExpansion(kernels.Callback(function), points, coef, np.zeros(outputs), None)
    X = 1e154 * DIRECTIONS
    expected = np.tanh(X @ points.T.astype(float)) @ coef.T
    np.testing.assert_allclose(model.decision(X), expected)
    assert seen == [(np.float64, np.float64, 1e154)]


def test_rows_are_brought_near_in_the_solvers_too() -> None:
    """A far row among the training points is a term that sees no other."""
    X, y = moons(64, 0)
    X[5] = [3e38, -3e38]
    kernel = kernels.Gaussian(1.0)
    terms = TermStore(65, 2, np.float32)
    alpha, order = np.zeros(64), np.arange(64)
    problem = (("hinge", 0.0), order, np.ones(64), y, np.ones(1), np.full(64, 5.0), alpha)
    problem = (*problem, np.empty(0, np.int32), np.empty(0))
    rows = Rows(X, np.float32, None).source(order)
    size, *_ = _core.bsca(
        rows, problem, terms.arrays, 0, 64, kernel.core(), ("merge", False, False, 2), (16, 1)
    )
    assert np.isfinite(terms.points(size)).all()
    assert alpha[5] == pytest.approx(1)  # f was 0 there

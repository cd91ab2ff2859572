"""Products with rows of kernel values and of features, against plain NumPy."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, moons, sparse_rows
from polish.spans import LITTLE, PLENTY

from budgetsvm import _core, kernels, polish
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.some_rows import SomeRows
from budgetsvm._problem.rows import Rows


def make_matrix(
    name: str = "rbf",
    memory: float = PLENTY,
    n_threads: int = 1,
    form: str = "dense",
    dtype: Any = np.float64,
) -> tuple[KernelMatrix, Any]:
    """A kernel matrix, and the features that it stands for, by plain NumPy."""
    kernel, gram = KERNELS[name]
    X = sparse_rows(300, 6, 5, 0.6)
    Z = X.toarray()[10:25].astype(dtype)
    basis = Basis.of(Z, kernel)
    rows = Rows(X if form == "csr" else X.toarray(), dtype, None)
    matrix = KernelMatrix(rows, basis, n_threads, memory)
    K = gram(X.toarray(), basis.points.astype(np.float64))
    K_ZZ = gram(basis.points.astype(np.float64), basis.points.astype(np.float64))
    return matrix, np.linalg.solve(np.linalg.cholesky(K_ZZ), K.T).T


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "linear"])
def test_products_with_the_kernel_matrix(
    name: str, memory: float, n_threads: int, form: str
) -> None:
    matrix, G = make_matrix(name, memory, n_threads, form)
    assert (matrix._held is not None) == (memory == PLENTY)
    assert len(matrix.parts(matrix.n)) == (1 if memory == PLENTY else 5)
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(matrix.basis.dimension), rng.standard_normal(300)
    v[64:128] = 0  # a part without work
    scale = 1e-9 * abs(G).max()
    np.testing.assert_allclose(matrix.times(w), G @ w, rtol=0, atol=20 * scale)
    np.testing.assert_allclose(matrix.transposed_times(v), G.T @ v, rtol=0, atol=300 * scale)
    features = matrix.feature_rows(np.arange(50, 250)).rows
    np.testing.assert_allclose(features, G[50:250], rtol=0, atol=scale)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_sums_over_some_rows(n_threads: int, memory: float) -> None:
    matrix, _ = make_matrix(memory=memory, n_threads=n_threads)
    K = KERNELS["rbf"][1](np.asarray(matrix.rows.X), matrix.basis.points)
    rng = np.random.default_rng(1)
    weights, v = rng.uniform(0, 3, 300), rng.standard_normal(matrix.basis.dimension)
    w = rng.standard_normal(matrix.basis.dimension)
    for chosen in (np.sort(rng.permutation(300)[:101]), np.arange(300), np.arange(7, 8)):
        c, rows = weights[chosen], K[chosen]
        np.testing.assert_allclose(
            matrix.normal_times(chosen, c, v), rows.T @ (c * (rows @ v)), rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(matrix.gram(chosen, c), (rows.T * c) @ rows, rtol=0, atol=1e-9)
        assert matrix.some(chosen).at_hand
        spread = np.zeros(300)
        spread[chosen] = c
        for some in (matrix.some(chosen), SomeRows(matrix, chosen)):
            assert some.n == len(chosen)
            np.testing.assert_allclose(some.times(w), matrix.times(w)[chosen], rtol=0, atol=1e-12)
            np.testing.assert_allclose(
                some.transposed_times(c), matrix.transposed_times(spread), rtol=0, atol=1e-9
            )
            last = np.arange(len(chosen))[-50:]
            np.testing.assert_allclose(
                some.some(last).gram(np.arange(len(last)), c[last]),
                matrix.gram(chosen[last], c[last]),
                rtol=0,
                atol=1e-9,
            )


@pytest.mark.parametrize("width", [1, 3, 4, 15, 16, 17, 33, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_of_the_core(dtype: Any, width: int) -> None:
    """All remainders: of rows in a group, and of values in a register."""
    rng = np.random.default_rng(width)
    block = rng.standard_normal((11, width)).astype(dtype)
    exact, coef = block.astype(np.float64), rng.standard_normal(width)
    for count in range(12):
        chosen = rng.permutation(11)[:count]
        scale = rng.standard_normal(count)
        out, sums, normal = np.empty(count), np.ones(width), np.ones(width)
        _core.times(block, chosen, coef, out)
        _core.add_transposed_times(block, chosen, scale, sums)
        _core.add_normal_times(block, chosen, scale, coef, normal)
        np.testing.assert_allclose(out, exact[chosen] @ coef, atol=1e-12)
        np.testing.assert_allclose(sums, 1 + scale @ exact[chosen], atol=1e-12)
        np.testing.assert_allclose(normal, 1 + (scale * out) @ exact[chosen], atol=1e-11)


def test_passes_of_the_core_check_their_arguments() -> None:
    block, sums, one = np.zeros((5, 3)), np.zeros(3), np.zeros(1)
    for row in (-1, 5, 2**40):
        with pytest.raises(ValueError, match="out of range"):
            _core.times(block, np.array([row]), sums, one)
        with pytest.raises(ValueError, match="out of range"):
            _core.add_transposed_times(block, np.array([row]), one, sums)
    with pytest.raises(ValueError, match="shapes differ"):
        _core.times(block, np.array([0]), sums, np.zeros(2))
    with pytest.raises(ValueError, match="shapes differ"):
        _core.add_transposed_times(block, np.array([0]), np.zeros(2), sums)
    with pytest.raises(ValueError, match="shapes differ"):
        _core.add_normal_times(block, np.array([0]), one, np.zeros(4), sums)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_features_are_orthonormal(name: str, dtype: Any) -> None:
    """G_Z G_Zᵀ = K_ZZ for the terms themselves."""
    kernel, gram = KERNELS[name]
    Z = np.random.default_rng(2).standard_normal((20, 5)).astype(dtype)
    basis = Basis.of(Z, kernel)
    matrix = KernelMatrix(Rows(basis.points, dtype, None), basis, 1, PLENTY)
    G = matrix.feature_rows(np.arange(20)).rows.astype(np.float64)
    K = gram(basis.points.astype(np.float64), basis.points.astype(np.float64))
    np.testing.assert_allclose(G @ G.T, K, atol=1e-5 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_a_python_function_as_kernel(memory: float) -> None:
    X, y = moons(300, 0)
    options: dict[str, Any] = {"C": 2.0, "maintenance": "remove", "precision": "double"}
    options |= {"tol": 1e-5, "memory_limit": memory, "random_state": 0}
    built_in = polish(X, y, X[:20], kernel=kernels.Gaussian(0.7), **options)
    function = polish(X, y, X[:20], kernel=KERNELS["rbf"][1], **options)
    assert function.primal == pytest.approx(built_in.primal, rel=2e-5)

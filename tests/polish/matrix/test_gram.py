"""Sums of outer products of many terms, tile by tile."""

from typing import Any

import numpy as np
import pytest
from polish.spans import LITTLE, PLENTY
from sklearn.metrics.pairwise import rbf_kernel

from budgetsvm import kernels
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix import blocks
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._problem.rows import Rows

X = np.random.default_rng(0).standard_normal((700, 5))


def some_matrix(terms: int, memory: float, n_threads: int, dtype: Any = np.float64) -> KernelMatrix:
    basis = Basis.of(X[:terms].astype(dtype), kernels.Gaussian(0.3))
    return KernelMatrix(Rows(X, dtype, None), basis, n_threads, memory)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("count", [0, 1, 600])
@pytest.mark.parametrize(("terms", "dtype"), [(8, np.float64), (41, np.float64), (41, np.float32)])
def test_tiles_are_parts_of_the_sum(
    monkeypatch: pytest.MonkeyPatch, terms: int, dtype: Any, count: int, memory: float
) -> None:
    for name, value in {"_TILED": 4, "_TILE": 7, "_TILED_PARTS": 2}.items():
        monkeypatch.setattr(blocks, name, value)
    rng = np.random.default_rng(1)
    chosen, weights = np.sort(rng.permutation(700)[:count]), rng.uniform(0, 3, count)
    sums = [some_matrix(terms, memory, n, dtype).gram(chosen, weights) for n in (1, 3)]
    np.testing.assert_array_equal(*sums)
    np.testing.assert_array_equal(sums[0], sums[0].T)
    points = some_matrix(terms, memory, 1, dtype).basis.points
    K = rbf_kernel(X[chosen], points, 0.3) if count else np.empty((0, terms))
    precision = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(sums[0], (K.T * weights) @ K, rtol=0, atol=precision)


def test_threads_change_no_bit_of_a_large_one() -> None:
    weights = np.linspace(0.1, 2, 700)
    one, two = (
        some_matrix(600, PLENTY, n, np.float32).gram(np.arange(700), weights) for n in (1, 2)
    )
    assert len(one) > blocks._TILED
    np.testing.assert_array_equal(one, two)

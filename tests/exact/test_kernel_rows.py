"""Rows of the kernel matrix: the right values, the same bits whatever is held and however many threads."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, sparse_rows

from budgetsvm._common.limits import Limits
from budgetsvm._exact.values import kernel_rows
from budgetsvm._exact.values.kernel_rows import KernelRows
from budgetsvm._problem.rows import Rows

N = 90


@pytest.fixture(autouse=True)
def _narrow_stripes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_rows, "_STRIPE", 32)
    monkeypatch.setattr(kernel_rows, "_ROWS_AT_ONCE", 8)


def made(
    X: Any, name: str = "rbf", most: int = N, threads: int = 1, dtype: Any = np.float64
) -> Any:
    limits = Limits(1e-2, 100, np.inf, 1e9, threads)
    return KernelRows(Rows(X, dtype, None), KERNELS[name][0], limits, most)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_and_sums(name: str, kind: str, dtype: Any) -> None:
    sparse = sparse_rows(N, 5, 0)
    dense = sparse.toarray()
    K = KERNELS[name][1](dense, dense)
    rows = made(sparse if kind == "sparse" else dense, name, dtype=dtype)
    chosen, others = np.array([3, 70, 33]), np.array([0, 31, 32, 64, 89])
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(
        rows.values(chosen, others), K[np.ix_(chosen, others)], tolerance, tolerance
    )
    np.testing.assert_allclose(rows.gram(others), K[np.ix_(others, others)], tolerance, tolerance)
    weights = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(
        rows.sums(chosen, weights), weights @ K[chosen], tolerance, tolerance
    )
    assert rows.count == 8  # each row once


@pytest.mark.parametrize(("most", "threads"), [(20, 1), (N, 3), (20, 3)])
def test_what_is_held_and_who_computes_changes_no_bit(most: int, threads: int) -> None:
    X = np.random.default_rng(0).standard_normal((N, 4))
    rng, one, other = np.random.default_rng(1), made(X), made(X, most=most, threads=threads)
    for _ in range(12):
        chosen = np.sort(rng.choice(N, 15, replace=False))
        weights = rng.standard_normal(15)
        np.testing.assert_array_equal(one.gram(chosen), other.gram(chosen))
        np.testing.assert_array_equal(one.sums(chosen, weights), other.sums(chosen, weights))
    assert one.count <= N
    assert (other.count > N) == (most < N)  # some had to be computed again


def test_the_rows_used_last_stay() -> None:
    rows = made(np.random.default_rng(0).standard_normal((N, 4)), most=20)
    for chosen in (np.arange(10), np.arange(10, 20), np.arange(10), np.arange(20, 30)):
        rows.slots(chosen)
    before = rows.count
    rows.slots(np.arange(10))
    assert rows.count == before
    rows.slots(np.arange(10, 20))
    assert rows.count == before + 10

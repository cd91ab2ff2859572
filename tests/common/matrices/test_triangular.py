"""Products and systems with triangular matrices, against NumPy."""

from typing import Any

import numpy as np
import pytest

from budgetsvm._common.matrices import triangular
from budgetsvm._common.matrices.triangular import (
    lower_times,
    slices,
    solve_factored,
    solve_lower,
    solve_upper,
    upper_times,
)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that do not divide anything."""
    for name, value in {"_SMALL": 3, "_BLOCK": 11, "_PIECE": 2}.items():
        monkeypatch.setattr(triangular, name, value)


def factor(n: int) -> Any:
    """A well conditioned lower triangular matrix."""
    lower = np.tril(np.random.default_rng(n).standard_normal((n, n))) / np.sqrt(n)
    np.fill_diagonal(lower, 1.0 + np.arange(n) % 3)
    return lower


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n", [0, 1, 3, 4, 11, 12, 60])
def test_blocks_do_as_numpy_does(n: int) -> None:
    L, v = factor(n), np.random.default_rng(0).standard_normal(n)
    before = v.copy()
    dirty = L + np.triu(np.full((n, n), np.nan), 1)  # systems do not look there
    np.testing.assert_allclose(solve_lower(dirty, v, 2), np.linalg.solve(L, v))
    np.testing.assert_allclose(solve_upper(dirty, v, 2), np.linalg.solve(L.T, v))
    np.testing.assert_allclose(solve_factored(dirty, v, 2), np.linalg.solve(L @ L.T, v))
    np.testing.assert_allclose(lower_times(L, v, 2), L @ v, atol=1e-12)
    np.testing.assert_allclose(upper_times(L, v, 2), L.T @ v, atol=1e-12)
    np.testing.assert_array_equal(v, before)


@pytest.mark.parametrize("find", [solve_lower, solve_upper, lower_times, upper_times])
def test_threads_change_no_bit(find: Any) -> None:
    L, v = factor(1700), np.random.default_rng(0).standard_normal(1700)
    np.testing.assert_array_equal(find(L, v, 1), find(L, v, 3))


def test_slices() -> None:
    assert slices(2, 9, 3) == [slice(2, 5), slice(5, 8), slice(8, 9)]
    assert slices(4, 4, 3) == []

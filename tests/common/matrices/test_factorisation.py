"""Factorisations in blocks and threads, against those of NumPy."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from budgetsvm._common.matrices import factorisation
from budgetsvm._common.matrices.factorisation import (
    cholesky,
    cut_to_lower,
    mirrored,
    principal,
    symmetrised,
)
from budgetsvm._common.matrices.triangular import solve_factored, solve_lower, solve_upper


def never(multiplications: float) -> None:
    """No limit."""


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows and columns, which do not divide anything."""
    for name, value in {"_SMALL": 10, "_COLUMNS": 7, "_ROWS": 11, "_GATHERED": 3}.items():
        monkeypatch.setattr(factorisation, name, value)


def positive(n: int, seed: int = 0) -> Any:
    """A positive definite matrix of moderate condition."""
    rows = np.random.default_rng(seed).standard_normal((2 * n + 1, n))
    return rows.T @ rows


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n", [1, 7, 10, 11, 14, 64, 97])
def test_blocks_make_the_same_factor(n: int) -> None:
    A = positive(n)
    L = cholesky(A.copy(), 1, never)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n", [300, 1100])
def test_threads_change_no_bit(n: int) -> None:
    A = positive(n)
    one, three = (cholesky(A.copy(), threads, never) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(np.tril(one), np.linalg.cholesky(A), rtol=1e-8, atol=1e-8)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("n", "bad"), [(5, 4), (40, 0), (40, 8), (40, 39)])
def test_what_is_not_positive_definite_is_refused(n: int, bad: int) -> None:
    A = positive(n)
    A[bad, bad] = -1.0
    with pytest.raises(LinAlgError):
        cholesky(A, 2, never)


@pytest.mark.usefixtures("small_blocks")
def test_it_asks_between_blocks_whether_there_is_time() -> None:
    asked: list[float] = []
    cholesky(positive(70), 2, asked.append)
    assert len(asked) == 10
    assert min(asked) > 0
    assert sum(asked) >= 70**3 / 6 / 2

    def no_more(multiplications: float) -> None:
        if len(asked) > 12:
            raise TimeoutError
        asked.append(multiplications)

    with pytest.raises(TimeoutError):
        cholesky(positive(70), 2, no_more)


def test_triangular_systems() -> None:
    """What is above the diagonal does not count."""
    A, v = positive(30), np.random.default_rng(1).standard_normal(30)
    L = np.linalg.cholesky(A)
    dirty = L + np.triu(np.full((30, 30), np.nan), 1)
    np.testing.assert_allclose(solve_lower(dirty, v), np.linalg.solve(L, v))
    np.testing.assert_allclose(solve_upper(dirty, v), np.linalg.solve(L.T, v))
    np.testing.assert_allclose(solve_factored(dirty, v), np.linalg.solve(A, v))
    assert len(solve_factored(np.empty((0, 0)), np.empty(0))) == 0


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n", [0, 1, 10, 40])
def test_parts_of_matrices(n: int) -> None:
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    np.testing.assert_array_equal(cut_to_lower(A), np.tril(A))
    np.testing.assert_array_equal(cut_to_lower(A.T), np.tril(A.T))
    chosen = rng.permutation(n)[: n // 2 + 1]
    np.testing.assert_array_equal(principal(A, chosen), A[np.ix_(chosen, chosen)])
    np.testing.assert_array_equal(symmetrised(A.copy()), 0.5 * (A + A.T))


@pytest.mark.parametrize("n", [1, 5, 512, 1100])
def test_mirrored(n: int) -> None:
    A = np.random.default_rng(0).standard_normal((n, n))
    np.testing.assert_array_equal(mirrored(A.copy()), np.triu(A) + np.triu(A, 1).T)

"""Which rows of a matrix are independent, block by block, against what pivots say."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from budgetsvm._common.matrices import independent
from budgetsvm._common.matrices.independent import explained, independent_rows

TOLERANCE = 1e-6


def never(multiplications: float) -> None:
    """No limit."""


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows and columns, which do not divide anything."""
    for name, value in {"_COLUMNS": 7, "_ROWS": 11, "_SEEN": 21}.items():
        monkeypatch.setattr(independent, name, value)


def of_rank(n: int, rank: int, seed: int = 0) -> Any:
    """A positive semi-definite matrix: rows are independent until there are so many."""
    rows = np.random.default_rng(seed).standard_normal((n, rank))
    return rows @ rows.T


def what_is_new(A: Any, kept: Any) -> Any:
    """What is not explained by the rows kept, of all rows."""
    inner = np.linalg.solve(A[np.ix_(kept, kept)], A[kept])
    return np.diag(A - A[:, kept] @ inner)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (6, 6), (40, 40), (40, 33), (61, 25), (30, 9)])
def test_the_factor_is_that_of_the_rows_kept(n: int, rank: int) -> None:
    A = of_rank(n, rank)
    before = A.copy()
    found = independent_rows(A, TOLERANCE, 2, never)
    np.testing.assert_array_equal(A, before)
    assert len(found.kept) == rank
    np.testing.assert_array_equal(
        np.sort(np.concatenate([found.kept, found.left_out])), np.arange(n)
    )
    L = found.lower
    assert L.flags.c_contiguous
    np.testing.assert_array_equal(L, np.tril(L))
    np.testing.assert_allclose(L @ L.T, A[np.ix_(found.kept, found.kept)], atol=1e-9 * n)
    assert (np.diag(L) ** 2 > TOLERANCE).all()
    assert (abs(what_is_new(A, found.kept)[found.left_out]) <= TOLERANCE).all()


@pytest.mark.usefixtures("small_blocks")
def test_twins_are_left_out_wherever_they_are() -> None:
    A = of_rank(30, 30)
    twice = np.concatenate([np.arange(30), [3, 29, 3]])
    order = np.random.default_rng(1).permutation(33)
    found = independent_rows(A[np.ix_(twice[order], twice[order])], TOLERANCE, 1, never)
    assert sorted(twice[order][found.kept]) == list(range(30))


def test_threads_change_no_bit() -> None:
    A = of_rank(1500, 1400)
    one, three = (independent_rows(A, TOLERANCE, threads, never) for threads in (1, 3))
    np.testing.assert_array_equal(one.kept, three.kept)
    np.testing.assert_array_equal(one.lower, three.lower)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("bad", [0, 8, 39])
def test_what_is_indefinite_is_refused(bad: int) -> None:
    A = of_rank(40, 40)
    A[bad, bad] = -1.0
    with pytest.raises(LinAlgError):
        independent_rows(A, TOLERANCE, 2, never)


@pytest.mark.usefixtures("small_blocks")
def test_a_low_rank_is_for_pivots() -> None:
    with pytest.raises(LinAlgError):
        independent_rows(of_rank(60, 4), TOLERANCE, 1, never)


@pytest.mark.usefixtures("small_blocks")
def test_it_asks_between_blocks_whether_there_is_time() -> None:
    asked: list[float] = []
    independent_rows(of_rank(70, 70), TOLERANCE, 2, asked.append)
    assert len(asked) == 10
    assert min(asked) > 0
    assert sum(asked) >= 70**3 / 6 / 2


@pytest.mark.usefixtures("small_blocks")
def test_what_is_explained() -> None:
    A = of_rank(40, 40)
    L = np.linalg.cholesky(A[:25, :25])
    np.testing.assert_allclose(explained(L, A[:25, 25:], 2), np.linalg.solve(L, A[:25, 25:]).T)

"""Which rows of a positive semi-definite matrix are linearly independent, with their Cholesky factor, in threads.

LAPACK's decomposition with pivots looks for the largest one at every step, which takes one thread and reads the
whole matrix again and again. Here rows keep their order but for blocks of 256: in a block, those in which too little is
new are left out, by a decomposition with pivots of what the rows before do not explain. Of rows that are left out, not
more than that is new beside the rows kept, which is all that pivots are for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack
from scipy.linalg.blas import dtrsm

from budgetsvm._common.matrices.triangular import slices
from budgetsvm._common.threads import for_each

_Array: TypeAlias = NDArray[np.float64]
#: Called between blocks, with multiplications to come; may raise an exception to end it.
_Tick: TypeAlias = Callable[[float], None]

_COLUMNS, _ROWS = 256, 512  # of a block, and of what one thread does at a time
# Where at most this share of so many rows was kept, pivots make a smaller basis, and in less time.
_LOW_RANK, _SEEN = 0.25, 1024


@dataclass(frozen=True, eq=False)
class Independent:
    """Rows that were kept, in an order of their own, and those that were not; L of the former."""

    kept: NDArray[np.int64]
    left_out: NDArray[np.int64]
    lower: _Array


def independent_rows(matrix: _Array, tolerance: float, n_threads: int, tick: _Tick) -> Independent:
    """Choose rows so that more than `tolerance` is new in each of them, beside those before it.

    Raises LinAlgError where the matrix is not positive semi-definite, by more than that, or its rank is low.
    """
    work, n = matrix.copy(), len(matrix)
    kept: list[NDArray[np.int64]] = []
    rank = 0
    for block in slices(0, n, _COLUMNS):
        known = slice(0, rank)
        tick((n - block.start) * _COLUMNS * (rank + _COLUMNS / 6) / n_threads)
        rest = work[block, block] - work[block, known] @ work[block, known].T
        order, factor = _pivoted(rest, tolerance)
        own, new = slice(block.start, block.start + len(order)), slice(rank, rank + len(order))
        work[block, known] = _first(work[block, known], order)
        work[own, new] = factor
        if len(order) and block.stop < n:
            added = _Added(block.start + order, new, work[own, known].copy(), factor)
            for_each(partial(added.fill, work, matrix), slices(block.stop, n, _ROWS), n_threads)
        kept.append(block.start + order)
        rank = new.stop
        if block.stop >= _SEEN and rank < _LOW_RANK * block.stop:
            raise LinAlgError("of low rank")
    everyone = np.concatenate([np.empty(0, np.int64), *kept])
    left_out = np.setdiff1d(np.arange(n), everyone)
    return Independent(everyone, left_out, _compact(work, [len(some) for some in kept], rank))


class _Added:
    """Rows that were kept of a block, which of the columns of L are theirs, and their rows of L."""

    def __init__(
        self, chosen: NDArray[np.int64], new: slice, known: _Array, factor: _Array
    ) -> None:
        self._chosen, self._new, self._known = chosen, new, known
        self._inverse = lapack.dtrtri(factor.T, lower=0)[0]
        self._in_order = bool((np.diff(chosen) == 1).all())

    def fill(self, work: _Array, matrix: _Array, rows: slice) -> None:
        """Fill their columns of L, for rows that are still to come."""
        first, last = int(self._chosen[0]), int(self._chosen[-1])
        whole = matrix[rows]
        columns = whole[:, first : last + 1] if self._in_order else whole[:, self._chosen]
        explained = work[rows, : self._new.start] @ self._known.T
        work[rows, self._new] = (columns - explained) @ self._inverse


def _pivoted(rest: _Array, tolerance: float) -> tuple[NDArray[np.int64], _Array]:
    """Return which rows of a small matrix to keep, and their factor; all in order, if there is something new in each."""
    diagonal = np.diag(rest)
    if diagonal.min(initial=0.0) < -tolerance:
        raise LinAlgError("not positive semi-definite")
    factor, failed = lapack.dpotrf(rest.T, lower=0, clean=1)
    if not failed and (np.diag(factor) ** 2 > tolerance).all():
        return np.arange(len(rest)), np.ascontiguousarray(factor.T)
    factor, pivots, rank, _ = lapack.dpstrf(rest.T, lower=0, tol=tolerance)
    while rank and factor[rank - 1, rank - 1] ** 2 <= tolerance:
        rank -= 1
    lower = np.tril(factor.T[:rank, :rank])
    return pivots[:rank].astype(np.int64) - 1, np.ascontiguousarray(lower)


def _first(rows: _Array, order: NDArray[np.int64]) -> _Array:
    """Return rows in an order that names the first of them; the others do not count any more."""
    if len(order) == len(rows) and (np.diff(order) == 1).all():
        return rows
    others = np.setdiff1d(np.arange(len(rows)), order)
    return np.asarray(rows[np.concatenate([order, others])])


def _compact(work: _Array, counts: list[int], rank: int) -> _Array:
    """Return L alone, in the place of `work` where all rows were kept; zeros above the diagonal."""
    if rank < len(work):
        places = [np.arange(i * _COLUMNS, i * _COLUMNS + count) for i, count in enumerate(counts)]
        lower = np.zeros((rank, rank))
        start = 0
        for some in places:
            stop = start + len(some)
            lower[start:stop, :stop] = work[some, :stop]
            start = stop
        return lower
    for block in slices(0, rank, _COLUMNS):
        work[block, block.stop :] = 0
    return work


def explained(lower: _Array, columns: _Array, n_threads: int) -> _Array:
    """Return (L⁻¹ A)ᵀ for columns A, one row each."""
    out = np.empty((columns.shape[1], len(lower)))

    def solve(some: slice) -> None:
        right = np.asfortranarray(columns[:, some])
        out[some] = dtrsm(1.0, lower.T, right, lower=0, trans_a=1, overwrite_b=1).T

    for_each(solve, slices(0, columns.shape[1], _COLUMNS), n_threads)
    return out


def share_left_over(
    gram: NDArray[np.float64],
    kept: NDArray[np.int64],
    lower: NDArray[np.float64],
    n_threads: int = 1,
) -> float:
    """Return the largest value among the rows left out that those kept do not explain, of either sign, beside the largest of all.

    Of a matrix that is positive semi-definite, that is next to nothing.
    """
    others = np.setdiff1d(np.arange(len(gram)), kept)
    largest = float(abs(gram).max(initial=0.0))
    if not (len(others) and largest > 0):
        return 0.0
    known = explained(lower, gram[others][:, kept].T, n_threads)
    return float(abs(gram[np.ix_(others, others)] - known @ known.T).max()) / largest

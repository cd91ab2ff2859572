"""Products and systems with large lower triangular matrices, in threads, with the same bits for any number of them.

BLAS would do it in one thread; and it reads all of a square where a product with half of it is wanted. Matrices
are C-contiguous; what is above the diagonal means nothing. Those in single precision are read in half the time, which
is all that counts here: they serve where a solution need not be precise.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, dtrsv, strsm, strsv

from budgetsvm._common.threads import for_each

_Array: TypeAlias = NDArray[np.float64]

_SMALL = 4096  # up to here BLAS is faster
# Rows that are solved for at once, and of them, what one thread does at a time.
_BLOCK, _PIECE = 512, 128


def solve_lower(lower: NDArray[Any], v: _Array, n_threads: int = 1) -> _Array:
    """Return L⁻¹ v."""
    if len(v) <= _SMALL:
        return _solve(lower, v, trans=1)
    x = np.array(v)
    for block in slices(0, len(v), _BLOCK):
        known = slice(0, block.start)

        def subtract(rows: slice, known: slice = known) -> None:
            x[rows] -= lower[rows, known] @ x[known].astype(lower.dtype)

        if block.start:
            for_each(subtract, slices(block.start, block.stop, _PIECE), n_threads)
        x[block] = _solve(lower[block, block], x[block], trans=1)
    return x


def solve_upper(lower: NDArray[Any], v: _Array, n_threads: int = 1) -> _Array:
    """Return L⁻ᵀ v, for a vector or a matrix."""
    if v.ndim > 1 and len(v) > _SMALL:
        return np.column_stack([solve_upper(lower, column, n_threads) for column in v.T])
    if len(v) <= _SMALL:
        return _solve(lower, v, trans=0)
    x = np.array(v)
    for block in reversed(slices(0, len(v), _BLOCK)):
        x[block] = _solve(lower[block, block], x[block], trans=0)

        def subtract(columns: slice, block: slice = block) -> None:
            x[columns] -= x[block].astype(lower.dtype) @ lower[block, columns]

        for_each(subtract, slices(0, block.start, 8 * _PIECE), n_threads)
    return x


def _solve(lower: NDArray[Any], v: _Array, trans: int) -> _Array:
    """Return L⁻¹ v (trans=1) or L⁻ᵀ v (0) in the precision of L: by columns, L is an upper triangle."""
    if not len(v):
        return v
    if v.ndim > 1:
        solve = strsm if lower.dtype == np.float32 else dtrsm
        return np.asarray(solve(1.0, lower.T, v, lower=0, trans_a=trans), np.float64)
    solve = strsv if lower.dtype == np.float32 else dtrsv
    return np.asarray(solve(lower.T, v, lower=0, trans=trans), np.float64)


def solve_factored(lower: NDArray[Any], v: _Array, n_threads: int = 1) -> _Array:
    """Return (L Lᵀ)⁻¹ v."""
    return solve_upper(lower, solve_lower(lower, v, n_threads), n_threads)


def lower_times(lower: _Array, v: _Array, n_threads: int = 1) -> _Array:
    """Return L v; above the diagonal of L there are zeros."""
    if len(v) <= _SMALL:
        return np.asarray(lower @ v)
    out = np.empty(len(v))

    def multiply(rows: slice) -> None:
        known = slice(0, rows.stop)
        out[rows] = lower[rows, known] @ v[known]

    for_each(multiply, slices(0, len(v), _PIECE), n_threads)
    return out


def upper_times(lower: _Array, v: _Array, n_threads: int = 1) -> _Array:
    """Return Lᵀ v; above the diagonal of L there are zeros."""
    if len(v) <= _SMALL:
        return np.asarray(lower.T @ v)
    out = np.zeros(len(v))

    def multiply(columns: slice) -> None:
        for rows in slices(columns.start, len(v), _BLOCK):
            out[columns] += v[rows] @ lower[rows, columns]

    for_each(multiply, slices(0, len(v), 8 * _PIECE), n_threads)
    return out


def slices(start: int, stop: int, step: int) -> list[slice]:
    """Return slices of so many numbers each, from `start` to before `stop`."""
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]

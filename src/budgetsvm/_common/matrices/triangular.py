"""Products and systems with large lower triangular matrices, in threads, with the same bits for any number of them.

BLAS would do it in one thread; and it reads all of a square where a product with half of it is wanted. Matrices
are C-contiguous; what is above the diagonal means nothing.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsv

from budgetsvm._common.threads import for_each

_Array: TypeAlias = NDArray[np.float64]

_SMALL = 1024  # up to here BLAS is as fast
_BLOCK, _PIECE = (
    512,
    128,
)  # rows that are solved for at once, and of them, what one thread does at a time


def solve_lower(lower: _Array, v: _Array, n_threads: int = 1) -> _Array:
    """Return L⁻¹ v."""
    if len(v) <= _SMALL:
        return np.asarray(dtrsv(lower.T, v, lower=0, trans=1)) if len(v) else v
    x = np.array(v)
    for block in slices(0, len(v), _BLOCK):
        known = slice(0, block.start)

        def subtract(rows: slice, known: slice = known) -> None:
            x[rows] -= lower[rows, known] @ x[known]

        if block.start:
            for_each(subtract, slices(block.start, block.stop, _PIECE), n_threads)
        x[block] = dtrsv(lower[block, block].T, x[block], lower=0, trans=1)
    return x


def solve_upper(lower: _Array, v: _Array, n_threads: int = 1) -> _Array:
    """Return L⁻ᵀ v."""
    if len(v) <= _SMALL:
        return np.asarray(dtrsv(lower.T, v, lower=0, trans=0)) if len(v) else v
    x = np.array(v)
    for block in reversed(slices(0, len(v), _BLOCK)):
        x[block] = dtrsv(lower[block, block].T, x[block], lower=0, trans=0)

        def subtract(columns: slice, block: slice = block) -> None:
            x[columns] -= x[block] @ lower[block, columns]

        for_each(subtract, slices(0, block.start, 8 * _PIECE), n_threads)
    return x


def solve_factored(lower: _Array, v: _Array, n_threads: int = 1) -> _Array:
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

"""Cholesky factors of large matrices, in threads, with the same bits for any number of them.

LAPACK has one thread here (`single_threaded_blas`), and does not come back before it is done. So large matrices are
factorised block by block: a block of columns of L is (A_k - L_<k L_k,<kᵀ) L_kk⁻ᵀ, whose products are nearly all of the
work. They are split by rows, in a way that does not depend on the number of threads; `tick` is called between blocks.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack

from budgetsvm._common.threads import for_each

_Array: TypeAlias = NDArray[np.float64]
#: Called between blocks, with multiplications to come; may raise an exception to end it.
_Tick: TypeAlias = Callable[[float], None]

_SMALL = 1024  # up to here LAPACK is as fast
_COLUMNS, _ROWS = 256, 512  # of a block, and of what one thread does at a time
_GATHERED = 64  # rows


def cholesky(matrix: _Array, n_threads: int, tick: _Tick) -> _Array:
    """Return L with matrix = L Lᵀ, in its place; what is above the diagonal means nothing.

    Raises LinAlgError where it is not positive definite; then the matrix is lost.
    """
    n = len(matrix)
    width = n if n <= _SMALL else _COLUMNS
    for start in range(0, n, width):
        block = slice(start, min(start + width, n))
        tick((n - start) * width * (start + width / 6) / n_threads)
        if start:
            for_each(partial(_subtract, matrix, block), _pieces(start, n), n_threads)
        factor, failed = lapack.dpotrf(matrix[block, block].T, lower=0, clean=1)
        if failed:
            raise LinAlgError("not positive definite")
        matrix[block, block] = factor.T
        if block.stop < n:
            inverse = lapack.dtrtri(factor, lower=0)[0]
            for_each(partial(_multiply, matrix, block, inverse), _pieces(block.stop, n), n_threads)
    return matrix


def _subtract(matrix: _Array, block: slice, rows: slice) -> None:
    """Take away from some rows of a block of columns what the columns before it explain."""
    known = slice(0, block.start)
    matrix[rows, block] -= matrix[rows, known] @ matrix[block, known].T


def _multiply(matrix: _Array, block: slice, by: _Array, rows: slice) -> None:
    matrix[rows, block] = matrix[rows, block] @ by


def _pieces(start: int, stop: int, step: int = _ROWS) -> list[slice]:
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]


def cut_to_lower(matrix: _Array) -> _Array:
    """Return a copy by rows with zeros above the diagonal: as np.tril, which takes much longer for large ones."""
    lower = np.array(matrix, order="C")
    for rows in _pieces(0, len(lower)):
        lower[rows, rows] = np.tril(lower[rows, rows])
        lower[rows, rows.stop :] = 0
    return lower


def principal(matrix: _Array, chosen: NDArray[np.int64]) -> _Array:
    """Return the chosen rows and columns of a matrix; a few rows at a time stay in the cache in between."""
    out = np.empty((len(chosen), len(chosen)))
    for rows in _pieces(0, len(chosen), _GATHERED):
        np.take(matrix[chosen[rows]], chosen, axis=1, out=out[rows])
    return out


def symmetrised(matrix: _Array) -> _Array:
    """Return (A + Aᵀ) / 2 in the place of A, tile by tile: whole columns would miss the cache at every number."""
    tiles = _pieces(0, len(matrix))
    for i, rows in enumerate(tiles):
        for columns in tiles[: i + 1]:
            mean = 0.5 * (matrix[rows, columns] + matrix[columns, rows].T)
            matrix[rows, columns], matrix[columns, rows] = mean, mean.T
    return matrix


def mirrored(matrix: _Array) -> _Array:
    """Return A with what is above its diagonal below it, too, in its place; tile by tile, for the same reason."""
    tiles = _pieces(0, len(matrix))
    for i, rows in enumerate(tiles):
        for columns in tiles[i + 1 :]:
            matrix[columns, rows] = matrix[rows, columns].T
        matrix[rows, rows] = np.triu(matrix[rows, rows]) + np.triu(matrix[rows, rows], 1).T
    return matrix

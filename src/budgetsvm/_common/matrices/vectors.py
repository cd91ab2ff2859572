"""Vectors of one number for every row."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio

#: Rows of a piece: some vectors of so many numbers fit into the cache of a core.
PIECE = 1 << 14


def nonzero_places(vector: NDArray[Any]) -> NDArray[np.int64]:
    """Return where a vector is not zero; NumPy finds what is true five times as fast as numbers that are not zero."""
    return np.flatnonzero(vector != 0)


def pieces(n: int) -> Iterator[slice]:
    """Yield n rows in pieces: whatever has to be computed in between need not be written to memory."""
    for start in range(0, n, PIECE):
        yield slice(start, min(start + PIECE, n))


def evenly_spread(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return so many of some rows, by their numbers alone: multiples of the golden ratio spread them, and fewer are among more."""
    if count >= len(rows):
        return rows
    return rows[np.argpartition(rows.astype(np.uint64) * _GOLDEN, count)[:count]]

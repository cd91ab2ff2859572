"""Which training rows the points of a model are, bit for bit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._problem.rows import Precision, Rows, dense_block

_Indices = NDArray[np.int64]
_Hashes = NDArray[np.uint64]

_MULTIPLIER = 0x9E3779B97F4A7C15  # odd: no bit is lost


def find_rows(points: NDArray[Any], rows: Rows) -> _Indices | None:
    """Return the number of the row that each point is, or None if one of them is none.

    Of rows that are the same, the points that are the same get one after the other. Points that were learned in
    single precision may be given in double.
    """
    if len(points) == 0:
        return np.empty(0, np.int64)
    own: Precision = points.dtype.type
    found = _find(points, rows, own)
    return _find(points, rows, np.float32) if found is None and own == np.float64 else found


def _find(points: NDArray[Any], rows: Rows, dtype: Precision) -> _Indices | None:
    as_stored = Rows(rows.X, dtype, rows.centre)
    with np.errstate(over="ignore"):
        wanted = np.ascontiguousarray(points, dtype)
        hashes = np.concatenate(
            [_hashes(_block(as_stored, chunk)) for chunk in as_stored.chunks()], dtype=np.uint64
        )
    own = _hashes(wanted)
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first, last = (np.searchsorted(ordered, own, side) for side in ("left", "right"))
    if not (first < last).all():
        return None
    found = order[np.minimum(first + _repeats(own), last - 1)].astype(np.int64)
    with np.errstate(over="ignore"):
        same = np.array_equal(_block(as_stored, found), wanted)
    return found if same else None


def _block(rows: Rows, chosen: slice | _Indices) -> NDArray[Any]:
    return dense_block(rows.block(chosen), rows.X.shape[1])


def _hashes(block: NDArray[Any]) -> _Hashes:
    """Return a number for every row, the same for the same bits."""
    words = np.ascontiguousarray(block + 0.0).view(np.uint32)  # -0.0 becomes 0.0
    factors = np.cumprod(np.full(words.shape[1], _MULTIPLIER, np.uint64), dtype=np.uint64)
    sums: _Hashes = words.astype(np.uint64) @ factors
    return sums


def _repeats(values: _Hashes) -> _Indices:
    """Return how many of the values before each are the same as it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.searchsorted(ordered, ordered, "left")
    repeats = np.empty(len(values), np.int64)
    repeats[order] = np.arange(len(values)) - starts
    return repeats

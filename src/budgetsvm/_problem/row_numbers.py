"""Which training rows the points of a model are, bit for bit."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._problem.points import Points, points_of
from budgetsvm._problem.rows import Block, Precision, Rows

_Indices = NDArray[np.int64]
_Hashes = NDArray[np.uint64]

_MULTIPLIER = 0x9E3779B97F4A7C15  # odd: no bit is lost


def find_rows(points: Points, rows: Rows) -> _Indices | None:
    """Return the number of the row that each point is, or None if one of them is none.

    Of rows that are the same, the points that are the same get one after the other. Points that were learned in
    single precision may be given in double.
    """
    if points.shape[0] == 0:
        return np.empty(0, np.int64)
    own: Precision = points.dtype.type
    found = _find(points, rows, own)
    return _find(points, rows, np.float32) if found is None and own == np.float64 else found


def _find(points: Points, rows: Rows, dtype: Precision) -> _Indices | None:
    as_stored = Rows(rows.X, dtype, rows.centre, rows.sparse_points)
    with np.errstate(over="ignore"):
        wanted = points.astype(dtype)
        width = points.shape[1]
        parts = [_hashes(as_stored.block(chunk), width) for chunk in as_stored.chunks()]
    hashes, own = np.concatenate(parts), _hashes(_block(wanted), width)
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first, last = (np.searchsorted(ordered, own, side) for side in ("left", "right"))
    if not (first < last).all():
        return None
    found = order[np.minimum(first + _repeats(own), last - 1)].astype(np.int64)
    with np.errstate(over="ignore"):
        same = _equal(points_of(as_stored, found), wanted)
    return found if same else None


def _block(points: Points) -> Block:
    if not sparse.issparse(points):
        return np.ascontiguousarray(points)
    return points.data, points.indices, points.indptr.astype(np.int64)


def _equal(some: Points, others: Points) -> bool:
    if sparse.issparse(some) and sparse.issparse(others):
        return bool((some != others).nnz == 0)
    some, others = (one.toarray() if sparse.issparse(one) else one for one in (some, others))
    return np.array_equal(some, others)


def _hashes(block: Block, n_features: int) -> _Hashes:
    """Return a number for every row, the same for the same bits; zeros do not count, be they stored or not."""
    values = block[0] if isinstance(block, tuple) else block
    words = np.ascontiguousarray(values + 0.0).view(np.uint32)  # -0.0 becomes 0.0
    each = words.shape[-1] // values.shape[-1] if values.size else 1
    factors = np.cumprod(np.full(n_features * each, _MULTIPLIER, np.uint64), dtype=np.uint64)
    if not isinstance(block, tuple):
        dense: _Hashes = words.astype(np.uint64) @ factors
        return dense
    _, indices, starts = block
    products = words.reshape(-1, each) * factors.reshape(-1, each)[indices]
    # Sums of unsigned numbers, whose differences are right though they overflow.
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(products.sum(axis=1))])
    sparse: _Hashes = sums[starts[1:]] - sums[starts[:-1]]
    return sparse


def _repeats(values: _Hashes) -> _Indices:
    """Return how many of the values before each are the same as it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.searchsorted(ordered, ordered, "left")
    repeats = np.empty(len(values), np.int64)
    repeats[order] = np.arange(len(values)) - starts
    return repeats

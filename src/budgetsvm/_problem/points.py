"""The points of terms: an array with a row for each or, where that is much smaller, compressed sparse rows.

Dense data have dense points. Those of sparse data are sparse where there are many features, of which rows have few:
see docs/theory.md, *Sparse terms*. Points of both kinds are indexed by rows, and know their `shape` and `dtype`.
"""

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from budgetsvm._common.records import Fields, Record
from budgetsvm._problem.rows import Rows, as_rows, dense_block
from budgetsvm.kernels import Kernel

Points: TypeAlias = Any  # an array, or a csr_array with sorted features

_FLOATS, _INTEGERS = (np.float32, np.float64), (np.int32, np.int64)

# No sparse term has more than a quarter of the features: with their indices, half the memory of a dense one. With more
# in the mean, dense ones take less time. And with fewer features than this, they take little memory, and those that
# cannot count can be left out (pruning.py).
_MOST_SHARE, _MEAN_SHARE, _FEWEST_FEATURES = 1 / 4, 1 / 32, 1024
# Room for the entries of merged points, in those of a mean row: docs/theory.md has the figures.
_ROOM = 32


def sparse_pays(X: Any, kernel: Kernel) -> bool:
    """Whether points of rows like these are better kept sparse. That is a matter of X alone, and of its storage."""
    if not sparse.issparse(X) or kernel.in_python or X.shape[1] <= _FEWEST_FEATURES:
        return False
    n, n_features = X.shape
    most, mean = _MOST_SHARE * n_features, _MEAN_SHARE * n_features
    return bool(longest_row(X) <= most and X.nnz <= mean * n)


def entry_room(X: Any) -> int:
    """Return how many entries a sparse term may have that is learned from sparse rows."""
    n, n_features = X.shape
    wanted = min(_ROOM * X.nnz / max(1, n), _MOST_SHARE * n_features)
    return max(1, longest_row(X), int(wanted))


def longest_row(X: Any) -> int:
    """Return the most entries of a sparse row."""
    return int(np.diff(X.indptr).max(initial=0))


def sparse_rows(X: Any) -> Any:
    """Return rows, dense or sparse, as sparse ones."""
    return X if sparse.issparse(X) else sparse.csr_array(X)


def points_of(rows: Rows, chosen: slice | np.ndarray[Any, Any]) -> Points:
    """Return rows as points, sparse if those of these rows are to be."""
    block, n_features = rows.block(chosen), rows.X.shape[1]
    if not rows.sparse_points:
        return dense_block(block, n_features)
    if not isinstance(block, tuple):
        return sparse_rows(block)
    values, indices, starts = block
    return sparse.csr_array((values, indices, starts), shape=(len(starts) - 1, n_features))


def like_rows(points: Any, rows: Rows) -> Points:
    """Return points, dense or sparse, as those of these rows are."""
    if rows.sparse_points:
        return sparse.csr_array(points)
    return points.toarray() if sparse.issparse(points) else points


def stacked(first: Points, second: Points) -> Points:
    """Return all of them, of which either all or none are sparse."""
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack([first, second], format="csr"))
    return np.concatenate([first, second])


# ---- records ----


def sparse_record(X: Any) -> Record:
    """Return what compressed sparse rows are made of."""
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "width": X.shape[1]}


def read_sparse(fields: Fields, n: int | None = None) -> Any:
    """Make compressed sparse rows from their record; n of them, or any number."""
    width = fields.count("width", least=1, most=int(np.iinfo(np.int32).max))
    data = fields.array("data", _FLOATS, (None,), finite=True)
    indices = fields.array("indices", _INTEGERS, data.shape, finite=False)
    starts = fields.array("indptr", _INTEGERS, (None if n is None else n + 1,), finite=False)
    fields.end()
    if not (len(starts) and starts[0] == 0 and starts[-1] == len(data)):
        fields.fail("indptr", "does not fit to the entries")
    shape = (len(starts) - 1, width)
    return as_rows(sparse.csr_matrix((data, indices, starts), shape=shape))


def points_record(points: Points) -> Any:
    """Return points for a record."""
    return sparse_record(points) if sparse.issparse(points) else points


def read_points(fields: Fields, name: str) -> Points:
    """Make points from what is in a record."""
    if not fields.has_record(name):
        return fields.array(name, _FLOATS, (None, None), finite=True)
    points = read_sparse(fields.inside(name))
    return sparse.csr_array(
        (points.data, points.indices.astype(np.int32), points.indptr), points.shape
    )

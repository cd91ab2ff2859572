"""Terms that are not learned: random rows, cluster centres or points that the user gives."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from budgetsvm._problem.points import Points, entry_room, like_rows, points_of
from budgetsvm._problem.rows import Rows, as_rows

_ROWS_PER_CENTRE = 100  # more rows do not make better centres
_PROJECTED_FEATURES = 256  # in which sparse rows are clustered: k-means has dense centres


def random_rows(rows: Rows, count: int, rng: np.random.Generator) -> Points:
    """Return distinct rows drawn at random."""
    chosen = rng.choice(len(rows), min(count, len(rows)), replace=False)
    return points_of(rows, chosen)


def cluster_centres(rows: Rows, count: int, rng: np.random.Generator) -> Points:
    """Return the centres of k-means on a sample of the rows."""
    from sklearn.cluster import MiniBatchKMeans  # slow to import, and rarely wanted

    sample = random_rows(rows, _ROWS_PER_CENTRE * count, rng)
    if sample.shape[0] <= count:
        return sample
    seed = int(rng.integers(2**31))
    means = MiniBatchKMeans(count, random_state=seed, n_init=1, batch_size=4096)
    if rows.sparse_points:
        return _sparse_centres(sample, means.fit_predict(_projected(sample, seed)))
    return np.ascontiguousarray(means.fit(sample).cluster_centers_, dtype=rows.dtype)


def _projected(points: Points, seed: int) -> NDArray[Any]:
    """Return few features that keep the distances of sparse points, roughly (Johnson & Lindenstrauss 1984)."""
    from sklearn.random_projection import SparseRandomProjection

    narrow = SparseRandomProjection(_PROJECTED_FEATURES, random_state=seed, dense_output=True)
    return np.asarray(narrow.fit_transform(points), np.float32)


def _sparse_centres(points: Points, labels: NDArray[Any]) -> Points:
    """Return the means of clusters, each with the largest entries that a term has room for."""
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    shares = (1 / sizes[labels], (labels, np.arange(len(labels))))
    means = sparse.csr_array(sparse.csr_array(shares) @ points)
    room, starts = entry_room(points), means.indptr
    ranks = np.lexsort((-abs(means.data), np.repeat(np.arange(len(sizes)), np.diff(starts))))
    place = np.arange(len(ranks)) - np.repeat(starts[:-1], np.diff(starts))
    means.data[ranks[place >= room]] = 0
    means.eliminate_zeros()
    means.sort_indices()
    return means.astype(points.dtype)


def given_points(points: Any, rows: Rows, budget: int) -> Points:
    """Check the user's points, and return them as the core wants them."""
    points = as_rows(check_array(points, accept_sparse="csr", dtype=np.float64))
    if points.shape[1] != rows.X.shape[1]:
        message = f"basis has {points.shape[1]} features, but X has {rows.X.shape[1]}"
        raise ValueError(message)
    if points.shape[0] > budget:
        message = f"basis has {points.shape[0]} points, more than budget={budget}; raise the budget"
        raise ValueError(message)
    points = like_rows(points, rows)
    return points_of(replace(rows, X=points), np.arange(points.shape[0]))

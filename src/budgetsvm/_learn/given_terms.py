"""Terms that are not learned: random rows, cluster centres or points that the user gives."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from budgetsvm._problem.points import Points, like_rows, points_of
from budgetsvm._problem.rows import Rows, as_rows

_ROWS_PER_CENTRE = 100  # more rows do not make better centres


def random_rows(rows: Rows, count: int, rng: np.random.Generator) -> Points:
    """Return distinct rows drawn at random."""
    chosen = rng.choice(len(rows), min(count, len(rows)), replace=False)
    return points_of(rows, chosen)


def cluster_centres(rows: Rows, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return the centres of k-means on a sample of the rows."""
    from sklearn.cluster import MiniBatchKMeans  # slow to import, and rarely wanted

    sample = random_rows(rows, _ROWS_PER_CENTRE * count, rng)
    if len(sample) <= count:
        return sample
    seed = int(rng.integers(2**31))
    means = MiniBatchKMeans(count, random_state=seed, n_init=1, batch_size=4096).fit(sample)
    return np.ascontiguousarray(means.cluster_centers_, dtype=rows.dtype)


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

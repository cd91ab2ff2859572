"""Points are recognised among rows, however these are stored."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from budgetsvm._problem.row_numbers import find_rows
from budgetsvm._problem.rows import Rows, dense_points

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 7)) * (RNG.random((500, 7)) < 0.6)
X[3] = 0
X[10, 2] = -0.0
CHOSEN = RNG.permutation(500)[:60]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of", [np.array, np.asfortranarray, np.float32, sparse.csr_matrix])
@pytest.mark.parametrize("centre", [None, np.linspace(-3, 3, 7)])
def test_points_are_found(of: Any, dtype: Any, centre: Any) -> None:
    rows = Rows(of(X), dtype, centre)
    points = dense_points(rows, CHOSEN)
    np.testing.assert_array_equal(find_rows(points, rows), CHOSEN)
    # learned in single precision, kept in double
    np.testing.assert_array_equal(find_rows(points.astype(np.float64), rows), CHOSEN)
    assert find_rows(points + 1e-3, rows) is None
    assert len(find_rows(points[:0], rows)) == 0


def test_rows_that_are_the_same() -> None:
    rows = Rows(np.repeat(X[20:30], 3, axis=0), np.float64, None)
    points = rows.X[[4, 0, 3, 5, 1]]
    assert find_rows(points, rows).tolist() == [3, 0, 4, 5, 1]
    assert find_rows(np.tile(points[:1], (4, 1)), rows).tolist() == [3, 4, 5, 5]


def test_many_features_that_are_not_there() -> None:
    """Sparse rows of many features are not made dense."""
    where = (RNG.integers(0, 2000, 9000), RNG.integers(0, 300_000, 9000))
    wide = sparse.csr_matrix((RNG.normal(size=9000), where), shape=(2000, 300_000))
    rows = Rows(wide, np.float32, None)
    chosen = np.array([1999, 5, 17])
    np.testing.assert_array_equal(find_rows(dense_points(rows, chosen), rows), chosen)

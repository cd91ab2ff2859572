"""Points for the polish may come as any table."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import noisy_xor
from scipy import sparse

from budgetsvm import polish

X, Y = noisy_xor(300, 0)


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "table",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_matrix,
        sparse.coo_array,
        np.ndarray.tolist,
        np.float32,
        np.asfortranarray,
    ],
)
def test_kinds_of_points(table: Any, rows: Any) -> None:
    Z = np.round(X[:20], 1).astype(np.float32).astype(float)
    expected = polish(rows(X), Y, Z, C=10, gamma=1.0)
    result = polish(rows(X), Y, table(Z), C=10, gamma=1.0)
    np.testing.assert_array_equal(result.coef, expected.coef)
    np.testing.assert_array_equal(result.points, expected.points)
    assert isinstance(result.points, np.ndarray)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_wrong_points(form: Any) -> None:
    with pytest.raises(ValueError, match="basis has 3 features, but X has 2"):
        polish(X, Y, form(np.ones((5, 3))))
    with pytest.raises(ValueError, match="NaN"):
        polish(X, Y, form(np.full((5, 2), np.nan)))
    with pytest.raises(ValueError, match="0 sample"):
        polish(X, Y, form(np.ones((0, 2))))

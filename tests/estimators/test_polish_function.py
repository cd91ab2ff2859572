"""The function polish: the points that it takes."""

import numpy as np
import pytest
from oracles.problems import noisy_xor
from scipy import sparse
from sequences.runs import Data

from budgetsvm import polish


def test_polish_needs_points() -> None:
    X, y = noisy_xor(100, 35)
    with pytest.raises(ValueError, match="minimum of 1"):
        polish(X, y, np.zeros((0, 2)))


@pytest.mark.parametrize("classes", [2, 3])
def test_polish_takes_sparse_points(classes: int) -> None:
    data = Data(n=200, d=2)
    X, y = data.rows(), data.targets("two classes" if classes == 2 else "three classes")
    for rows in (X, sparse.csr_array(X)):
        dense = polish(rows, y, X[:20], C=10, gamma=1.0, random_state=0)
        found = polish(rows, y, sparse.csr_matrix(X[:20]), C=10, gamma=1.0, random_state=0)
        np.testing.assert_array_equal(found.coef, dense.coef)
        assert found.primal == dense.primal

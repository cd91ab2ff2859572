"""The polish as a function of its own, of points that may come as any table."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import moons, noisy_xor, sparse_rows
from scipy import sparse

from budgetsvm import BudgetSVC, polish


def test_polish_is_a_function_of_its_own() -> None:
    X, y = moons(300, 10)
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    Z = X[::10]
    result = polish(X, labels, Z, C=5.0, gamma=2.0, tol=1e-5, precision="double", random_state=0)
    assert len(result.points) <= len(Z)
    assert all(np.isclose(Z, point).all(axis=1).any() for point in result.points)
    model = BudgetSVC(
        C=5.0, gamma=2.0, tol=1e-5, basis=Z, budget=30, precision="double", random_state=0
    ).fit(X, labels)
    assert model.objective_ == (result.primal, result.dual)
    np.testing.assert_array_equal(model.dual_coef_[0], result.coef)
    np.testing.assert_array_equal(model.support_vectors_, result.points)


def test_sparse_and_dense_rows_agree() -> None:
    X = sparse_rows(400, 20, 12)
    y = np.sign(X.toarray()[:, :3].sum(axis=1) + 0.1)
    options: dict[str, Any] = {"C": 3.0, "gamma": 0.2, "tol": 1e-5, "precision": "double"}
    a = polish(X, y, X[:30].toarray(), random_state=0, **options)
    b = polish(X.toarray(), y, X[:30].toarray(), random_state=0, **options)
    assert a.primal == pytest.approx(b.primal, rel=2e-5)
    assert a.gap <= 1e-5


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
    X, y = noisy_xor(300, 0)
    Z = np.round(X[:20], 1).astype(np.float32).astype(float)
    expected = polish(rows(X), y, Z, C=10, gamma=1.0)
    result = polish(rows(X), y, table(Z), C=10, gamma=1.0)
    np.testing.assert_array_equal(result.coef, expected.coef)
    np.testing.assert_array_equal(result.points, expected.points)
    assert isinstance(result.points, np.ndarray)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_wrong_points(form: Any) -> None:
    X, y = noisy_xor(300, 0)
    with pytest.raises(ValueError, match="basis has 3 features, but X has 2"):
        polish(X, y, form(np.ones((5, 3))))
    with pytest.raises(ValueError, match="NaN"):
        polish(X, y, form(np.full((5, 2), np.nan)))
    with pytest.raises(ValueError, match="0 sample"):
        polish(X, y, form(np.ones((0, 2))))

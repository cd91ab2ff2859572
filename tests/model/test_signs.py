"""Labels are those of double precision, next to the boundary, too."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC
from budgetsvm._model.signs import sure_decision

X, TWO = make_moons(600, noise=0.25, random_state=0)
X = X + 3.0  # off the origin, where distances are differences of larger numbers
FOUR = TWO + 2 * (X[:, 1] > 3.3)
RNG = np.random.default_rng(0)


def in_double(model: BudgetSVC, rows: Any) -> Any:
    return model._expansion.in_precision(np.float64).decision(rows)


def rows_at_the_boundary(model: BudgetSVC) -> Any:
    """Return rows between those of different signs, where rounding in double is small beside a value, and in single not."""
    signs = np.sign(in_double(model, X)[:, 0])
    low, high = (X[RNG.choice(np.flatnonzero(signs == side), 300)] for side in (-1, 1))
    for _ in range(26):
        middle = 0.5 * (low + high)
        below = (in_double(model, middle)[:, 0] < 0)[:, np.newaxis]
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear", "sigmoid"])
def test_labels_at_the_boundary_are_those_of_double_precision(
    kernel: str, y: Any, form: Any
) -> None:
    gamma = 0.02 if kernel == "sigmoid" else 0.5  # which is 1 everywhere, almost
    model = BudgetSVC(kernel=kernel, gamma=gamma, C=100.0, budget=40, precision="single", coef0=0.1)
    model.set_params(random_state=0, tol=0.1, fit_intercept=True).fit(X, y)
    rows = rows_at_the_boundary(model)
    values, single = in_double(model, rows), model._expansion.decision(rows)
    assert (np.sign(single) != np.sign(values)).any()  # or else this would show nothing
    model.set_params(decision_function_shape="ovo")
    found = model.decision_function(form(rows)).reshape(len(rows), -1)
    np.testing.assert_array_equal(np.sign(found), np.sign(values))
    if len(model.classes_) == 2:
        labels = model.classes_[(values[:, 0] > 0).astype(int)]
        np.testing.assert_array_equal(model.predict(form(rows)), labels)


def test_rows_far_from_the_boundary_stay_as_they_are() -> None:
    model = BudgetSVC(gamma=0.5, budget=40, precision="single", random_state=0).fit(X, TWO)
    values, found = model._expansion.decision(X)[:, 0], model.decision_function(X)
    far = abs(values) > 1e-3
    assert far.mean() > 0.9
    np.testing.assert_array_equal(found[far], values[far])


def test_no_bit_depends_on_the_other_rows() -> None:
    model = BudgetSVC(gamma=0.5, C=100.0, budget=40, precision="single", random_state=0).fit(X, TWO)
    rows = np.concatenate([rows_at_the_boundary(model)[:20], X[:20]])[RNG.permutation(40)]
    alone = [model.decision_function(row[np.newaxis])[0] for row in rows]
    np.testing.assert_array_equal(model.decision_function(rows), alone)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_huge_coefficients_and_rows_are_no_warning(kernel: str) -> None:
    model = BudgetSVC(kernel=kernel, budget=20, precision="single", random_state=0).fit(X, TWO)
    huge = replace(model._expansion, coef=1e200 * model._expansion.coef)
    for rows in (X, 1e30 * X):
        assert sure_decision(huge, rows).shape == (len(X), 1)

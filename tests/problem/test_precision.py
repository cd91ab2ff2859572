"""A tolerance beyond the precision: double is chosen, or named."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_primal
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("tol", [1e-7, 1e-9])
def test_single_precision_names_double_where_it_is_not_enough(loss: str, tol: float) -> None:
    X, y = make_moons(400, noise=0.2, random_state=0)
    model = BudgetSVC(
        C=100.0, gamma=1.0, loss=loss, tol=tol, precision="single", budget=50, random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    if model.converged_:
        assert not caught
        check_primal(model, X, y)
        return
    assert [one.category for one in caught] == [ConvergenceWarning]
    assert "double" in str(caught[0].message)


@pytest.mark.parametrize("classes", [2, 3])
def test_automatic_precision_reaches_a_small_tolerance(classes: int) -> None:
    X, y = make_moons(400, noise=0.2, random_state=0)
    labels = y if classes == 2 else y + (X[:, 0] > 1)
    model = BudgetSVC(C=100.0, gamma=1.0, tol=1e-7, budget=50, random_state=0)
    model.set_params(time_limit=20).fit(X, labels)  # it takes a blink, or goes on for minutes
    assert model.converged_
    check_primal(model, X, labels)


@pytest.mark.parametrize("tol", [1e-5, 1e-2])
def test_a_narrow_kernel_in_single_precision_certifies_nothing_that_is_wrong(tol: float) -> None:
    """Where all rows are terms, k(x, x) is not 1 but for an error of γ‖x‖² roundings: the model is fine, D is not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 40)), np.arange(30) % 2
    options: dict[str, Any] = {"C": 10.0, "gamma": 480.0, "tol": tol, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BudgetSVC(precision="single", basis="random", budget=30, **options).fit(X, y)
    # The kernel matrix is the identity: α = 1 for all, as the classes are equally large.
    assert model.objective_[1] <= 15 * (1 + tol) or not model.converged_
    assert BudgetSVC(basis="random", budget=30, **options).fit(X, y).converged_

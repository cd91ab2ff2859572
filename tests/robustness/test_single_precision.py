"""Single precision that was asked for: where numbers do not fit into it, nothing is certified, but refused."""

from typing import Any

import numpy as np
import pytest

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR

X = np.random.default_rng(0).standard_normal((60, 2))
Y = (np.arange(60) < 2).astype(int)
SCALES = [1e-30, 1e-27, 1e-22, 1e-20, 1e-13, 1e13, 1e20, 1e23, 1e30]


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "sigmoid"])
def test_rows_whose_squares_do_not_fit_are_refused(kind: Any, kernel: str) -> None:
    machine = kind(kernel=kernel, precision="single", budget=20, random_state=0)
    for scale in SCALES:
        with pytest.raises(ValueError, match=r"'single' has no room.*'auto'"):
            machine.fit(scale * X, Y)


@pytest.mark.parametrize("gamma", [1e26, 1e40, 1e300])
def test_kernels_that_do_not_fit_are_refused(gamma: float) -> None:
    with pytest.raises(ValueError, match="has no room"):
        BudgetSVC(gamma=gamma, precision="single").fit(X, Y)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_by_default_such_rows_have_the_same_certificate(scale: float, loss: str) -> None:
    options: dict[str, Any] = {"C": 30.0, "loss": loss, "budget": 60, "random_state": 0}
    usual = BudgetSVC(**options).fit(X, Y)
    model = BudgetSVC(**options).fit(scale * X, Y)
    assert model.converged_
    assert model.objective_[1] <= (1 + 1e-6) * usual.objective_[0]
    assert model.objective_[0] >= (1 - 1e-6) * usual.objective_[1]


def test_later_blocks_that_do_not_fit_leave_the_model_as_it_was() -> None:
    model = BudgetSVC(gamma=1.0, precision="single", budget=20, random_state=0).partial_fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="has no room"):
        model.partial_fit(1e20 * X, Y)
    np.testing.assert_array_equal(model.decision_function(X), before)

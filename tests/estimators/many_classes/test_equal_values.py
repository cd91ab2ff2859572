"""Classes whose numbers are equal, up to rounding or altogether: the one that is predicted is the only largest."""

from typing import Any

import numpy as np
import pytest

from budgetsvm import BudgetSVC

RULES = [False, "head_to_head"]


def far_rows(scale: float) -> Any:
    return np.random.default_rng(1).normal(size=(3000, 3)) * scale


def machine(loss: str, rule: Any, classes: int = 6) -> BudgetSVC:
    rng = np.random.default_rng(0)
    y = np.arange(300) % classes
    X = 2 * rng.normal(size=(classes, 3))[y] + rng.normal(size=(300, 3))
    how: Any = {"kernel": "poly", "C": 10, "break_ties": rule, "random_state": 0}
    return BudgetSVC(loss=loss, **how).fit(X, y)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scale", [10.0, 100.0, 1e8])
def test_the_most_probable_class_is_the_one_that_is_predicted(scale: float, rule: Any) -> None:
    model, rows = machine("log_loss", rule), far_rows(scale)
    shares = model.predict_proba(rows)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(rows))
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scale", [1.0, 1e6, 1e18])
def test_so_is_the_one_with_the_largest_value(scale: float, rule: Any) -> None:
    model, rows = machine("hinge", rule), far_rows(scale)
    values = model.decision_function(rows)
    np.testing.assert_array_equal(model.classes_[values.argmax(axis=1)], model.predict(rows))


@pytest.mark.parametrize("rule", ["yes", None, "Head_To_Head", 2])
def test_a_rule_that_is_none_is_refused_by_a_fitted_machine_too(rule: Any) -> None:
    model = machine("hinge", True).set_params(break_ties=rule)
    with pytest.raises(TypeError, match="break_ties must be True, False or 'head_to_head'"):
        model.predict(far_rows(1.0))

"""Snapshots of older versions become those of today."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import moons

from budgetsvm import BudgetFeatures, BudgetSVC, BudgetSVR
from budgetsvm._estimators.snapshots import machine_of, snapshot_of


def of_version_one(snapshot: Any) -> Any:
    """Return what the first version would have written."""
    machine = snapshot["machine"]
    state = dict(machine["state"])
    state.pop("certifies", None)
    if state.get("learner") is not None:
        inner = dict(state["learner"])
        inner["state"] = {k: v for k, v in inner["state"].items() if k != "certifies"}
        state["learner"] = inner
    return snapshot | {"version": 1, "machine": machine | {"state": state}}


@pytest.mark.parametrize("polish", [False, True])
def test_a_certificate_of_version_one_is_about_the_span(polish: bool) -> None:
    X, y = moons(200, 0)
    model = BudgetSVC(budget=20, polish=polish, random_state=0).fit(X, y)
    again = machine_of(of_version_one(snapshot_of(model)))
    assert hasattr(again, "certifies_") == polish
    assert not polish or again.certifies_ == "span"
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_features_of_version_one() -> None:
    X, y = moons(200, 0)
    model = BudgetFeatures(budget=20, random_state=0).partial_fit(X, y)
    again = machine_of(of_version_one(snapshot_of(model)))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_what_is_certified_has_two_values() -> None:
    X, y = moons(200, 0)
    snapshot = snapshot_of(BudgetSVC(budget=200, random_state=0).fit(X, y))
    assert machine_of(snapshot).certifies_ == "full problem"
    snapshot["machine"]["state"]["certifies"] = "nothing"
    with pytest.raises(ValueError, match="certifies"):
        machine_of(snapshot)
    snapshot["machine"]["state"]["certifies"] = None
    with pytest.raises(ValueError, match="belong together"):
        machine_of(snapshot)


def test_before_version_five_values_of_pairs_broke_ties() -> None:
    X, y = moons(200, 0)
    y = np.where(X[:, 0] > 1, 2, y)
    model = BudgetSVC(budget=20, random_state=0).fit(X, y)
    snapshot = snapshot_of(model)
    machine = snapshot["machine"]
    state = {name: value for name, value in machine["state"].items() if name != "tie_order"}
    parameters = {n: value for n, value in machine["parameters"].items() if n != "break_ties"}
    old = machine | {"state": state, "parameters": parameters}
    again = machine_of(snapshot | {"version": 4, "machine": old})
    assert again.break_ties is True
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    snapshot["machine"]["state"]["tie_order"] = np.array([0, 1, 1])
    with pytest.raises(ValueError, match="'tie_order' does not have each of 'classes' once"):
        machine_of(snapshot)


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR])
def test_C_of_the_span_is_kept_and_unknown_of_version_five(kind: Any) -> None:
    X, y = moons(200, 0)
    model = kind(budget=20, random_state=0).fit(X, y)
    snapshot = snapshot_of(model)
    assert machine_of(snapshot).C_ == model.C_
    state = {k: v for k, v in snapshot["machine"]["state"].items() if k != "penalty"}
    old = snapshot | {"version": 5, "machine": snapshot["machine"] | {"state": state}}
    again = machine_of(old)
    assert not hasattr(again, "C_")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_the_loss_of_version_seven_is_that_of_the_parameter(loss: str) -> None:
    X, y = moons(200, 0)
    snapshot = snapshot_of(BudgetSVC(budget=20, loss=loss, random_state=0).fit(X, y))
    assert hasattr(machine_of(snapshot), "predict_proba") == (loss == "log_loss")
    state = {k: v for k, v in snapshot["machine"]["state"].items() if k != "logistic"}
    old = snapshot | {"version": 7, "machine": snapshot["machine"] | {"state": state}}
    assert hasattr(machine_of(old), "predict_proba") == (loss == "log_loss")

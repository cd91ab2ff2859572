"""Parameters that change after a fit are for the next one: what is fitted goes by what it was fitted with."""

import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from oracles.problems import Array
from sklearn.base import is_classifier

from budgetsvm import (
    BudgetFeatures,
    BudgetOneClassSVM,
    BudgetSVC,
    BudgetSVR,
    RelevanceScaler,
    load,
    to_libsvm,
)
from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV

#: How an answer is given, and by whom, is asked for with the answer: so it is for SVC, too.
OF_ANSWERS = {"decision_function_shape", "break_ties", "n_jobs", "verbose"}
#: Another value for every parameter, which is fine by itself.
OTHERS: dict[str, tuple[Any, ...]] = {
    "C": (7.0,),
    "Cs": ([3.0],),
    "nu": (0.9,),
    "epsilon": (5.0,),
    "loss": ("hinge", "squared_hinge", "log_loss"),
    "multi_class": ("ovo", "ovr", "weston-watkins"),
    "class_weight": ({0: 9.0}, "balanced"),
    "kernel": ("linear", "laplacian", "precomputed"),
    "gamma": (0.01, "auto"),
    "gammas": ([0.01],),
    "degree": (5,),
    "coef0": (2.0,),
    "budget": (3, 40, None, "auto"),
    "solver": ("bsgd",),
    "maintenance": ("remove",),
    "epochs": (3,),
    "polish": (False, True),
    "basis": ("random",),
    "fit_intercept": (False, True),
    "tol": (10.0,),
    "max_passes": (1,),
    "time_limit": (1e-3,),
    "memory_limit": (1e5,),
    "early_stopping": (True,),
    "validation_fraction": (0.7,),
    "n_iter_no_change": (1,),
    "reservoir": (0,),
    "warm_start": (True,),
    "precision": ("single", "double"),
    "random_state": (7,),
    "monitor": (None,),
    "task": ("regression", "classification", "density"),
    "strength": (0.5,),
    "sample": (20,),
    "max_iter": (1,),
    "cv": (2,),
    "scoring": ("accuracy",),
    "refit": (False,),
    "halving": (True,),
}
SMALL: dict[str, Any] = {"budget": 20, "random_state": 0}
# What is written for LIBSVM is looked at, which breaks ties in its own way and says so.
pytestmark = pytest.mark.filterwarnings("ignore:where several classes win")
MACHINES: dict[str, Any] = {
    "pairs": partial(BudgetSVC, **SMALL),
    "probabilities": partial(BudgetSVC, loss="log_loss", **SMALL),
    "probabilities of classes": partial(BudgetSVC, loss="log_loss", multi_class="ovr", **SMALL),
    "linear": partial(BudgetSVC, kernel="linear", **SMALL),
    "rows": partial(BudgetSVC, maintenance="remove", class_weight="balanced", **SMALL),
    "unpolished": partial(BudgetSVC, polish=False, **SMALL),
    "regression": partial(BudgetSVR, **SMALL),
    "novelty": partial(BudgetOneClassSVM, nu=0.2, **SMALL),
    "features": partial(BudgetFeatures, **SMALL),
    "relevance": partial(RelevanceScaler, strength=1.0, sample=100, random_state=0),
    "search": partial(BudgetSVCCV, [1.0, 10.0], [0.5], loss="log_loss", cv=2, **SMALL),
    "search of regression": partial(BudgetSVRCV, [1.0, 10.0], [0.5], cv=2, **SMALL),
}
_OF_ROWS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples")
_OF_ROWS += ("transform", "inverse_transform")


def data(machine: Any) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    numbers = X[:, 0] ** 2 + X[:, 1]
    if is_classifier(machine) or isinstance(machine, BudgetFeatures | RelevanceScaler):
        return X, np.digitize(numbers, [0.0, 1.5])
    return X, numbers


def outputs(machine: Any, X: Array, y: Array) -> dict[str, Any]:
    """All that a fitted machine has to say."""
    names = {name for name in {*dir(type(machine)), *vars(machine)} if name.endswith("_")}
    found = {name: getattr(machine, name, "missing") for name in names if name[0] != "_"}
    for name in found.keys() & {"best_estimator_", "scorer_"}:  # which know no equality
        found[name] = repr(found[name])
    for name in _OF_ROWS:
        found[name] = getattr(machine, name)(X) if hasattr(machine, name) else "missing"
    if hasattr(machine, "score"):
        found["score"] = machine.score(X, y)
    if hasattr(machine, "to_c") and not isinstance(machine, RelevanceScaler):
        found["C"] = machine.to_c().text
    if hasattr(machine, "predict") and not hasattr(machine, "best_score_"):
        try:
            found["LIBSVM"] = to_libsvm(machine)
        except ValueError as error:
            found["LIBSVM"] = str(error)
    return found


def check_same(found: dict[str, Any], known: dict[str, Any], where: Any) -> None:
    assert found.keys() == known.keys(), where
    for name, value in known.items():
        np.testing.assert_equal(found[name], value, err_msg=f"{name} after {where}")


def changes(machine: Any) -> Iterator[dict[str, Any]]:
    names = set(machine.get_params(deep=False)) - OF_ANSWERS
    for name in sorted(names):
        for value in OTHERS[name]:  # a new parameter needs its line above
            yield {name: value}
    yield dict.fromkeys(names, "nonsense")  # nobody looks at any


@pytest.mark.parametrize("kind", MACHINES)
def test_no_parameter_changes_what_is_fitted(kind: str) -> None:
    machine = MACHINES[kind]()
    X, y = data(machine)
    machine.fit(X, y)
    known, given = outputs(machine, X, y), machine.get_params(deep=False)
    for change in changes(machine):
        machine.set_params(**change)
        check_same(outputs(machine, X, y), known, change)
        check_same(outputs(pickle.loads(pickle.dumps(machine)), X, y), known, change)
        machine.set_params(**given)


@pytest.mark.parametrize("before", ["hinge", "log_loss"])
@pytest.mark.parametrize("after", ["squared_hinge", "log_loss"])
def test_a_file_knows_the_loss_of_the_fit(before: str, after: str, tmp_path: Any) -> None:
    machine = BudgetSVC(loss=before, **SMALL)
    X, y = data(machine)
    machine.fit(X, y).set_params(loss=after).save(tmp_path / "model.bsvm")
    again = load(tmp_path / "model.bsvm")
    assert hasattr(again, "predict_proba") == (before == "log_loss")
    assert again.get_params()["loss"] == after
    check_same(outputs(again, X, y), outputs(machine, X, y), after)


def test_a_polish_with_another_loss_counts() -> None:
    machine = BudgetSVC(**SMALL)
    X, y = data(machine)
    machine.partial_fit(X, y).set_params(loss="log_loss")
    assert not hasattr(machine, "predict_proba")
    with pytest.raises(AttributeError, match="as this was fitted with"):
        machine.predict_proba(X)
    assert hasattr(machine.polish_now(), "predict_proba")
    machine.set_params(loss="hinge").polish_now()
    assert not hasattr(machine, "predict_proba")
    assert hasattr(machine.set_params(loss="log_loss").partial_fit(X, y), "predict_proba")


def test_before_a_fit_parameters_say_what_there_will_be() -> None:
    machine = BudgetSVC(loss="log_loss")
    assert hasattr(machine, "predict_proba")
    assert not hasattr(machine.set_params(loss="hinge"), "predict_proba")

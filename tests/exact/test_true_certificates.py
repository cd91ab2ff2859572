"""P and D are true to much less than the gap that they report, however much C amplifies errors of kernel values."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracles.certificates import _problem
from oracles.model_math import Model, primal
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC, BudgetSVR


@cache
def data(name: str) -> tuple[Any, Any]:
    if name == "circles":
        return make_circles(500, noise=0.1, factor=0.5, random_state=1)
    if name == "moons":
        return make_moons(600, noise=0.3, random_state=0)
    if name == "many moons":  # more rows than a sample has
        return make_moons(1500, noise=0.25, random_state=5)
    if name == "a wave":
        X = np.random.default_rng(0).uniform(-2, 2, (300, 2))
        return X, np.sin(2 * X[:, 0]) + 0.3 * np.random.default_rng(1).standard_normal(300)
    classes, features = (3, 5) if name == "three classes" else (2, 4)
    options: dict[str, Any] = {"n_redundant": 0, "flip_y": 0.05, "random_state": 2}
    return make_classification(
        400, features, n_informative=features - 1, n_classes=classes, **options
    )


def fitted(name: str, C: float, gamma: float, **options: Any) -> Any:
    X, y = data(name)
    kind = BudgetSVR if name == "a wave" else BudgetSVC
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kind(C=C, gamma=gamma, random_state=0, time_limit=10, **options).fit(X, y)


def true_primal(model: Any, name: str) -> float:
    X, wanted = _problem(model, *data(name), None)
    return primal(Model.of(model), wanted, X)


def check(model: Any, name: str, C: float, gamma: float) -> None:
    """P is what NumPy says, and no model of the same problem has a smaller one than D."""
    if not model.converged_:
        return
    (P, D), found = model.objective_, true_primal(model, name)
    room = max(0.1 * (P - D), 1e-6 * P)
    assert abs(found - P) <= room, f"P is {found}, not {P}, with a gap of {P - D}"
    options: dict[str, Any] = {"precision": "double", "tol": 1e-5}
    if model.certifies_ == "span":
        options |= {"basis": model.support_vectors_, "budget": len(model.support_vectors_)}
    best = fitted(name, C, gamma, **options)
    if best.C_ == model.C_ and (
        model.certifies_ != "span" or len(best.support_vectors_) == len(model.support_vectors_)
    ):
        least = min(found, true_primal(best, name))
        assert least + room >= D, f"D is {D}, but P may be {least}"


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4, 1e5])
@pytest.mark.parametrize("gamma", [1e-3, 0.01, 1.0])
@pytest.mark.parametrize("name", ["circles", "moons", "classification", "three classes", "a wave"])
def test_a_certificate_is_true(name: str, gamma: float, C: float) -> None:
    check(fitted(name, C, gamma), name, C, gamma)


@pytest.mark.slow
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("gamma", [1e-3, 0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", ["moons", "many moons", "classification", "a wave"])
def test_a_certificate_is_true_on_all_of_a_grid(name: str, gamma: float, C: float) -> None:
    check(fitted(name, C, gamma), name, C, gamma)


@pytest.mark.parametrize("options", [{"budget": 120}, {"basis": "random", "budget": 60}])
@pytest.mark.parametrize("name", ["moons", "classification", "many moons"])
def test_so_is_that_of_fewer_terms(name: str, options: Any) -> None:
    for C in (1.0, 1e4, 1e5):
        check(fitted(name, C, 0.05, **options), name, C, 0.05)


def test_single_precision_by_name_says_what_it_has() -> None:
    """It does not go on in double precision, but its certificate is true, or none."""
    for name in ("circles", "moons", "a wave"):
        for C in (1e3, 1e4, 1e5):
            check(fitted(name, C, 0.01, precision="single"), name, C, 0.01)

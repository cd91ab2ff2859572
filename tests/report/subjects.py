"""Fitted estimators of all kinds, with rows to report on."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits, make_circles, make_friedman1, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV
from budgetsvm.monitoring import Trace

EVIL = "<script>alert(1)</script>"
Made = tuple[Any, Any, Any]


def _moons(n: int = 400) -> tuple[Any, Any]:
    return make_moons(n, noise=0.2, random_state=0)


def binary() -> Made:
    X, y = _moons()
    return BudgetSVC(gamma=2, budget=30, random_state=0).fit(X[:300], y[:300]), X[300:], y[300:]


def many_classes() -> Made:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = BudgetSVC(loss="log_loss", budget=40, random_state=0, monitor=Trace())
    return model.fit(X[:600], y[:600]), X[600:900], y[600:900]


def one_against_the_rest() -> Made:
    X, y = load_digits(return_X_y=True)
    model = BudgetSVC(multi_class="ovr", gamma=0.001, budget=40, random_state=0)
    return model.fit(X[:600], y[:600]), X[600:900], y[600:900]


def names_that_mean_harm() -> Made:
    import pandas as pd

    X, y = _moons()
    frame = pd.DataFrame(X, columns=[EVIL, '" onload="alert(2)'])
    labels = np.where(y == 1, EVIL, "a&b 'c' $x_1$ " + "long" * 12)
    model = BudgetSVC(gamma=2, budget=30, random_state=0)
    return model.fit(frame[:300], labels[:300]), frame[300:], labels[300:]


def regression() -> Made:
    X, y = make_friedman1(500, noise=1.0, random_state=0)
    return BudgetSVR(budget=40, random_state=0).fit(X[:350], y[:350]), X[350:], y[350:]


def two_targets() -> Made:
    X, y = make_friedman1(400, noise=1.0, random_state=0)
    both = np.column_stack([y, -1e6 * y])
    return BudgetSVR(random_state=0).fit(X[:300], both[:300]), X[300:], both[300:]


def one_class() -> Made:
    X, _ = _moons()
    return BudgetOneClassSVM(nu=0.1, random_state=0).fit(X[:300]), X[300:], None


def one_class_with_labels() -> Made:
    model, X, _ = one_class()
    return model, np.vstack([X, X + 5]), np.repeat([1, -1], len(X))


def search() -> Made:
    X, y = make_circles(300, noise=0.1, factor=0.5, random_state=0)
    found = BudgetSVCCV([1, 10, 100], [0.1, 1, 10], random_state=0).fit(X[:200], y[:200])
    return found, X[200:], y[200:]


def search_of_regression() -> Made:
    X, y = make_friedman1(300, random_state=0)
    found = BudgetSVRCV([1, 10], [0.1, 1], budget=[10, 20], random_state=0)
    return found.fit(X[:200], y[:200]), X[200:], y[200:]


def tuned() -> Made:
    X, y = _moons(300)
    model = BudgetSVC(C="tune", budget=20, time_limit=10, random_state=0)
    return model.fit(X[:200], y[:200]), X[200:], y[200:]


def grid_search_of_a_pipeline() -> Made:
    X, y = _moons(300)
    pipeline = make_pipeline(StandardScaler(), BudgetSVC(budget=20, random_state=0))
    found = GridSearchCV(pipeline, {"budgetsvc__C": [1.0, 10.0]}, cv=3)
    return found.fit(X[:200], y[:200]), X[200:], y[200:]


def pipeline() -> Made:
    X, y = _moons()
    model = make_pipeline(StandardScaler(), BudgetSVC(budget=20, random_state=0))
    return model.fit(X[:300], y[:300]), X[300:], y[300:]


def wide_and_sparse() -> Made:
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 5000), density=0.01, format="csr", random_state=rng)
    y = np.asarray(X[:, :2500].sum(axis=1)).ravel() > np.asarray(X[:, 2500:].sum(axis=1)).ravel()
    model = BudgetSVC(budget=30, random_state=0)
    return model.fit(X[:300], y[:300]), X[300:], y[300:]


def kernel_values() -> Made:
    X, y = _moons(300)
    K = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    model = BudgetSVC(kernel="precomputed", budget=20, random_state=0)
    return model.fit(K[:200, :200], y[:200]), K[200:, :200], y[200:]


def common_letters(A: Any, B: Any) -> Any:
    return np.array([[len(set(a) & set(b)) for b in B] for a in A])


def words() -> Made:
    X = ["apple", "maple", "plea", "moon", "noon", "moor"]
    y = [0, 0, 0, 1, 1, 1]
    return BudgetSVC(kernel=common_letters).fit(X, y), X, y


def linear() -> Made:
    X, y = _moons()
    return BudgetSVC(kernel="linear", random_state=0).fit(X[:300], y[:300]), X[300:], y[300:]


def of_a_stream() -> Made:
    X, y = _moons()
    model = BudgetSVC(gamma=2, budget=30, random_state=0)
    return model.partial_fit(X[:300], y[:300], classes=[0, 1]), X[300:], y[300:]


def without_a_budget() -> Made:
    X, y = _moons()
    return BudgetSVC(gamma=2, budget=None, random_state=0).fit(X[:300], y[:300]), X[300:], y[300:]


def labels_that_are_new() -> Made:
    model, X, y = binary()
    return model, X, np.where(np.arange(len(y)) < 5, 7, y)


ALL: list[Callable[[], Made]] = [
    *(binary, many_classes, one_against_the_rest, names_that_mean_harm, regression, two_targets),
    *(one_class, one_class_with_labels, search, search_of_regression, tuned, pipeline),
    *(grid_search_of_a_pipeline, wide_and_sparse, kernel_values, words, linear, of_a_stream),
    *(without_a_budget, labels_that_are_new),
]

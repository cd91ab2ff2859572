"""The machines of the comparison: each takes rows, and is ready to score others."""

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from benchmarks.tuned.data import Table
from budgetsvm import BudgetSVC, BudgetSVR, RelevanceScaler

#: Seconds of a fit that finds its parameters.
TIME_LIMIT = 60.0
TUNED, UNTUNED, EXACT, TREES = "tuned", "untuned", "SVC", ("XGBoost", "LightGBM")
RELEVANT = "relevance"
_EXACT_ROWS, _SEARCH_ROWS, _FOLDS = 10_000, 2_500, 3
_CS, _GAMMAS = 10.0 ** np.arange(-1, 4), 4.0 ** np.arange(-2, 3)  # gamma: times that of "scale"


def _ours(table: Table, scaler: Any = None, **parameters: Any) -> Any:
    machine = (BudgetSVR if table.regression else BudgetSVC)(random_state=0, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where the time is up
        return make_pipeline(scaler or StandardScaler(), machine).fit(table.X, table.y)


def _tuned(table: Table, scaler: Any = None, spent: float = 0.0) -> Any:
    found = {"C": "tune", "gamma": "tune", "budget": "auto"}
    return _ours(table, scaler, time_limit=TIME_LIMIT - spent, **found)


def _relevant(table: Table) -> Any:
    """The tuned machine behind scales of features that are found, too, in the same time."""
    begun, task = perf_counter(), "regression" if table.regression else "classification"
    scaler = RelevanceScaler(task=task, random_state=0).fit(table.X, table.y)
    return _tuned(table, FrozenEstimator(scaler), spent=perf_counter() - begun)


def _exact(table: Table) -> Any:
    """The exact machine on some rows, with the best C and gamma of a cross-validation on some of these."""
    machine: Any = TransformedTargetRegressor(SVR()) if table.regression else SVC()
    if table.regression:
        machine.set_params(transformer=StandardScaler())
    prefix = "regressor__" if table.regression else ""
    order = np.random.default_rng(0).permutation(len(table.y))
    few, some = order[:_SEARCH_ROWS], order[:_EXACT_ROWS]
    scaler = StandardScaler().fit(table.X[some])
    rows = scaler.transform(table.X[few])
    scale = 1 / (rows.shape[1] * rows.var())
    grid = {f"{prefix}C": _CS, f"{prefix}gamma": scale * _GAMMAS}
    search = GridSearchCV(machine, grid, cv=_FOLDS).fit(rows, table.y[few])
    best = make_pipeline(scaler, search.best_estimator_)
    return best.fit(table.X[some], table.y[some])


def _xgboost(table: Table) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    return _of_labels(table, XGBRegressor if table.regression else XGBClassifier)


def _lightgbm(table: Table) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    return _of_labels(table, LGBMRegressor if table.regression else LGBMClassifier, verbose=-1)


def _of_labels(table: Table, kind: Any, **options: Any) -> Any:
    """Trees with the defaults of their library; classes are numbers from 0 on for some of them."""
    if table.regression:
        return kind(**options).fit(table.X, table.y)
    labels, y = np.unique(table.y, return_inverse=True)
    return _Labels(kind(**options).fit(table.X, y), labels)


class _Labels:
    """A classifier whose classes are numbers of labels."""

    def __init__(self, machine: Any, labels: Any) -> None:
        self._machine, self._labels = machine, labels

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy."""
        return float(np.mean(self._labels[self._machine.predict(X)] == y))


MACHINES: dict[str, Callable[[Table], Any]] = {
    UNTUNED: _ours,
    TUNED: _tuned,
    RELEVANT: _relevant,
    EXACT: _exact,
    TREES[0]: _xgboost,
    TREES[1]: _lightgbm,
}

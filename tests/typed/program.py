"""A program as a user writes it, with types: `mypy --strict` must find nothing to complain about.

A line with an ignore must be an error without it: ignores that are not needed are errors, too.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import budgetsvm
from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.conformal import ConformalClassifier
from budgetsvm.kernels import Gaussian, Kernel, Laplacian
from budgetsvm.maintenance import Maintenance, Merge
from budgetsvm.model_selection import BudgetSVCCV
from budgetsvm.monitoring import Monitor, Trace


def rows(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X = np.random.default_rng(seed).standard_normal((200, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int64)


def train(kernel: Kernel, maintenance: Maintenance) -> BudgetSVC:
    X, y = rows(0)
    model = BudgetSVC(kernel=kernel, budget=30, maintenance=maintenance, random_state=0)
    assert_type(model.fit(X, y), BudgetSVC)
    assert_type(model.decision_function(X), NDArray[np.float64])
    assert_type(model.predict(X), NDArray[Any])
    return model


def main(folder: Path) -> None:
    X, y = rows(1)
    model = train(Gaussian(0.5), Merge())
    train(Laplacian(0.5), budgetsvm.maintenance.Remove())
    model.save(folder / "model.bsvm")
    assert_type(budgetsvm.__version__, str)
    assert_type(budgetsvm.diagnose(model, X, y), budgetsvm.Diagnosis)
    assert_type(BudgetSVR(budget=30).fit(X, X[:, 0]).predict(X), NDArray[np.float64])
    assert_type(BudgetOneClassSVM(budget=30).fit(X).predict(X), NDArray[np.int64])
    assert_type(BudgetFeatures(30).fit(X).transform(X), NDArray[Any])
    assert_type(BudgetSVCCV([1.0], [0.5], budget=30).fit(X, y), BudgetSVCCV)
    assert_type(ConformalClassifier(model).calibrate(X, y).predict_set(X), NDArray[np.bool_])
    monitor: Monitor = Trace()
    BudgetSVC(budget=30, monitor=monitor).fit(X, y)


def mistakes() -> None:
    """What a type checker must find, and what is never run."""
    budgetsvm.BudgetSVM()  # type: ignore[attr-defined]
    BudgetSVC(bugdet=30)  # type: ignore[call-arg]
    BudgetSVC().predict()  # type: ignore[call-arg]
    Merge(partners="all")  # type: ignore[arg-type]

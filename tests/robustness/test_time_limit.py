"""A fit that is cut short returns the best model it had, and in time."""

import warnings
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from oracles.problems import Array
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def digits() -> tuple[Array, Array]:
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def _cut(model: Any, *data: Any, limit: float, **parameters: Any) -> Any:
    """Fit within a time that may be over before the polish begins."""
    return model.set_params(time_limit=limit, **parameters).fit(*data)


@pytest.mark.parametrize("limit", [1e-9, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("multi_class", ["ovr", "weston-watkins"])
def test_many_classes_keep_phase_one(
    digits: tuple[Array, Array], multi_class: str, limit: float
) -> None:
    model = BudgetSVC(C=10.0, budget=300, multi_class=multi_class, random_state=0, n_jobs=1)
    plain = model.set_params(polish=False, epochs=2).fit(*digits).score(*digits)
    cut = _cut(model, *digits, limit=limit, polish=True)
    assert cut.score(*digits) > plain - 0.02
    assert cut.objective_[0] > 0


@pytest.mark.parametrize("limit", [1e-9, 0.01, 0.1])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("classes", [2, 10])
def test_classes_keep_phase_one(
    digits: tuple[Array, Array], loss: str, classes: int, limit: float
) -> None:
    X, y = digits[0], digits[1] % classes
    model = BudgetSVC(C=10.0, budget=300, loss=loss, random_state=0, n_jobs=1)
    plain = model.set_params(polish=False, epochs=2).fit(X, y).score(X, y)
    assert _cut(model, X, y, limit=limit, polish=True).score(X, y) > plain - 0.02


@pytest.mark.parametrize("limit", [1e-9, 0.01, 0.1])
@pytest.mark.parametrize("targets", [1, 2])
def test_targets_keep_phase_one(limit: float, targets: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (3000, 2))
    y = np.sin(2 * X[:, :targets]) + 0.1 * rng.standard_normal((3000, targets))
    y = y if targets > 1 else y[:, 0]
    model = BudgetSVR(C=10.0, gamma=2.0, budget=100, random_state=0, n_jobs=1)
    plain = model.set_params(polish=False, epochs=2).fit(X, y).score(X, y)
    assert _cut(model, X, y, limit=limit, polish=True).score(X, y) > plain - 0.02


@pytest.mark.parametrize("limit", [1e-9, 0.01, 0.1])
def test_one_class_keeps_phase_one(limit: float) -> None:
    X = np.random.default_rng(0).standard_normal((3000, 2))
    model = BudgetOneClassSVM(nu=0.1, gamma=0.5, budget=50, random_state=0, n_jobs=1)
    wanted = model.fit(X).score_samples(X)
    plain = model.set_params(polish=False, epochs=2).fit(X).score_samples(X)
    cut = _cut(model, X, limit=limit, polish=True)
    least = np.corrcoef(plain, wanted)[0, 1] - 0.05
    assert np.corrcoef(cut.score_samples(X), wanted)[0, 1] > least
    assert np.mean(cut.predict(X) < 0) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("limit", [1e-9, 0.02, 0.1])
def test_a_polish_that_is_cut_short_makes_nothing_worse(limit: float) -> None:
    X, y = make_moons(3000, noise=0.2, random_state=0)
    model = BudgetSVC(C=10.0, gamma=5.0, budget=50, random_state=0).partial_fit(X, y)
    before = model.score(X, y)
    model.set_params(time_limit=limit, tol=1e-9).polish_now()
    assert model.score(X, y) > before - 0.02


LONG = {
    "two classes": (2, BudgetSVC(C=1e5, gamma=0.05, tol=1e-9)),
    "five classes": (5, BudgetSVC(C=1e4, gamma=0.05, tol=1e-9)),
    "Weston & Watkins": (5, BudgetSVC(C=1e4, gamma=0.05, tol=1e-9, multi_class="weston-watkins")),
    "regression": (0, BudgetSVR(C=1e5, gamma=0.05, tol=1e-9, epsilon=0.01)),
    "one class": (0, BudgetOneClassSVM(nu=0.3, gamma=0.05, tol=1e-9)),
}


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("limit", [1.0, 4.0])
@pytest.mark.parametrize("task", LONG)
def test_limits_are_kept(task: str, limit: float) -> None:
    classes, model = LONG[task]
    X, y = make_classification(
        30_000, 20, n_informative=10, n_classes=max(2, classes), flip_y=0.3, random_state=0
    )
    if classes == 0:
        y = X[:, 0] * X[:, 1] + 0.3 * y
    model.set_params(budget=500, time_limit=limit, max_passes=10**6, random_state=0)
    started = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    # Phase 1 takes a second or two, and is not cut; other people may use the cores.
    phase_one = sum(epoch["seconds"] for epoch in model.history_)
    assert perf_counter() - started < max(limit, phase_one) + max(1.0, 0.1 * limit) + 1.0


@pytest.mark.parametrize("budget", [50, 5000])
def test_a_fit_that_ended_without_terms_is_no_beginning(budget: int) -> None:
    """What a warm start takes over must be something: an empty model is optimal in its own span."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 20))
    y = X[:, 0] * X[:, 1] > 0
    model = BudgetSVC(C=10, budget=budget, warm_start=True, random_state=0).fit(X, y)
    empty = model._expansion
    model._expansion = empty.with_points(empty.points[:0])
    model._dual = None
    model.fit(X, y)
    assert len(model.support_vectors_) > 10
    assert model.score(X, y) > 0.75

"""A large C takes more rounds of the same method: another one, which takes far longer, is not needed."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.svm import SVC, SVR

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._exact import blocks, exact
from budgetsvm._exact.dual import best_multiple
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.losses import Hinge

NOISY, LABELS = make_moons(400, noise=0.3, random_state=0)
WIDE, CLASSES = make_classification(300, 8, n_informative=6, n_classes=3, random_state=0)


@pytest.fixture
def one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_way(*_: Any) -> None:
        pytest.fail("the slower machine was tried")

    monkeypatch.setattr(exact, "_attempt", other_way)


@pytest.mark.usefixtures("one_way")
@pytest.mark.parametrize(
    ("kernel", "C"), [("rbf", 1.0), ("rbf", 46.0), ("rbf", 1e4), ("linear", 1.0), ("linear", 1e3)]
)
def test_two_classes(kernel: str, C: float) -> None:
    model = BudgetSVC(C=C, kernel=kernel, random_state=0).fit(NOISY, LABELS)
    assert model.certifies_ == "full problem"
    assert model.converged_
    same = model.predict(NOISY) == SVC(C=C, kernel=kernel).fit(NOISY, LABELS).predict(NOISY)
    assert np.mean(same) > 0.98


@pytest.mark.usefixtures("one_way")
@pytest.mark.parametrize("C", [1e3, 1e5])
def test_pairs_that_need_double_precision(C: float) -> None:
    model = BudgetSVC(C=C, random_state=0).fit(WIDE, CLASSES)
    assert model.certifies_ == "full problem"
    assert model.converged_


@pytest.mark.usefixtures("one_way")
@pytest.mark.parametrize("C", [1.0, 46.0, 359.0])
def test_regression(C: float) -> None:
    y = np.sin(3 * NOISY[:, 0]) + NOISY[:, 1] + 0.3 * np.random.default_rng(0).standard_normal(400)
    y /= y.std()
    model = BudgetSVR(C=C, gamma=0.5, random_state=0).fit(NOISY, y)
    assert model.certifies_ == "full problem"
    scale = float(model.target_scale_[0])
    other = SVR(C=C * scale, gamma=0.5, epsilon=0.1 * scale)
    assert np.std(model.predict(NOISY) - other.fit(NOISY, y).predict(NOISY)) < 0.05


def test_who_may_learn_other_terms_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_ROUNDS_PER_SET", 1)
    monkeypatch.setattr(blocks, "_FEWEST_ROUNDS", 1)
    tried = []
    monkeypatch.setattr(exact, "_attempt", lambda *_: tried.append(1))
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((700, 5)), rng.integers(2, size=700)
    model = BudgetSVC(C=1e3, random_state=0).fit(X, y)
    assert not tried
    assert (model.budget_, model.certifies_) == (500, "span")
    BudgetSVC(C=1e3, budget=700, random_state=0).fit(X, y)
    assert tried


@pytest.mark.parametrize("most", [0.5, 1.0, 8.0])
def test_the_best_multiple(most: float) -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    K = np.exp(-((NOISY[:30, np.newaxis] - NOISY[:30]) ** 2).sum(axis=2))
    targets = SingleTarget.of_labels(y, np.full(30, 10.0), Hinge())
    beta = y * rng.uniform(0, 10, 30)
    best = best_multiple(targets, beta, K @ beta, most)

    def dual(t: float) -> float:
        return t * targets.gain(beta * y) - 0.5 * t * t * float(beta @ K @ beta)

    assert 0 <= best <= most
    assert all(dual(best) >= dual(t) - 1e-9 for t in np.linspace(0, most, 200))


def test_classes_of_few_rows_are_not_learned() -> None:
    y = np.repeat(np.arange(130), 4)
    X = np.random.default_rng(0).standard_normal((520, 5))
    assert BudgetSVC(random_state=0).fit(X, y).budget_ == 520

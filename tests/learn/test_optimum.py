"""Without a budget the solvers reach the exact SVM, as independent solvers find it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import blobs, moons, noisy_xor, weights
from scipy.optimize import minimize
from sklearn.svm import SVC
from tools.trainers import new_trainer

from budgetsvm import BudgetSVC, kernels
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.maintenance import Remove
from budgetsvm.solvers import BSCA, BSGD, Solver


@dataclass(frozen=True, eq=False)
class Task:
    """A dual problem: max 1ᵀα − ½ αᵀQα over 0 ≤ α_i ≤ C_i."""

    X: Any
    y: Any
    box: Any
    kernel: kernels.Kernel
    K: Any

    @property
    def Q(self) -> Any:
        return self.y[:, np.newaxis] * self.K * self.y

    def dual(self, alpha: Any) -> float:
        return float(alpha.sum() - 0.5 * alpha @ self.Q @ alpha)

    def primal(self, beta: Any) -> float:
        """P(w) for w = Σ β_i φ(x_i)."""
        f = self.K @ beta
        return float(0.5 * beta @ f + self.box @ np.maximum(0, 1 - self.y * f))

    def kkt_violation(self, alpha: Any) -> float:
        """The largest projected gradient, relative to the margin 1."""
        gradient = 1 - self.Q @ alpha
        gradient[(alpha <= 0) & (gradient < 0)] = 0
        gradient[(alpha >= self.box) & (gradient > 0)] = 0
        return float(abs(gradient).max())


def _blobs() -> Task:
    X, y = blobs(150, 3, 0, distance=2.0)
    plain = reference.Kernel("rbf", 0.5)
    return Task(X, y, 2.0 * np.ones(150), kernels.Gaussian(0.5), plain(X, X))


def _moons() -> Task:
    X, y = moons(120, 1, noise=0.25)
    plain = reference.Kernel("laplacian", 2.0)
    return Task(X, y, 5.0 * weights(120, 3), kernels.Laplacian(2.0), plain(X, X))


def _xor() -> Task:
    X, y = noisy_xor(140, 2)
    plain = reference.Kernel("poly", 0.5, 1.0, 3)
    return Task(X, y, 0.3 * np.ones(140), kernels.Polynomial(3, 0.5, 1.0), plain(X, X))


TASKS: dict[str, Callable[[], Task]] = {"blobs": _blobs, "moons": _moons, "xor": _xor}


@cache
def task(name: str) -> Task:
    return TASKS[name]()


@cache
def optimum(name: str) -> float:
    """The optimal dual value by L-BFGS-B, certified by the primal value of its point."""
    t = task(name)
    Q = t.Q
    found = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
        np.zeros(len(t.y)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, c) for c in t.box],
        options={
            "maxiter": 100_000,
            "maxfun": 1_000_000,
            "ftol": 1e-15,
            "gtol": 1e-9,
            "maxcor": 40,
        },
    )
    dual = t.dual(found.x)
    assert t.kkt_violation(found.x) < 1e-3
    assert t.primal(t.y * found.x) - dual < 2e-7 * dual
    return dual


def train(name: str, solver: Solver, epochs: int) -> OutputTrainer:
    t = task(name)
    settings = Settings(t.kernel, solver, Remove(), None)
    problem = Problem(Rows(t.X, np.float64, None), SingleTarget.of_labels(t.y, t.box))
    trainer = new_trainer(OutputTrainer, settings, problem, np.random.default_rng(4))
    trainer.run(Plan(epochs * len(t.y)))
    return trainer


@pytest.mark.parametrize(("name", "epochs"), [("blobs", 700), ("moons", 300), ("xor", 300)])
def test_coordinate_ascent_reaches_the_optimum(name: str, epochs: int) -> None:
    t, best = task(name), optimum(name)
    trainer = train(name, BSCA(), epochs)
    alpha = trainer.alpha
    assert (alpha >= 0).all()
    assert (alpha <= t.box).all()
    assert t.dual(alpha) <= best * (1 + 1e-9)
    assert t.dual(alpha) >= best * (1 - 1e-6)
    assert t.primal(t.y * alpha) <= best * (1 + 1e-6)
    # the terms are w(α): without a budget the model is the exact one
    size = trainer.terms.size
    f = (
        reference.Kernel(
            t.kernel.name,
            float(getattr(t.kernel, "gamma", 1.0)),
            float(getattr(t.kernel, "coef0", 0.0)),
            int(getattr(t.kernel, "degree", 1)),
        )(t.X, trainer.terms.points())
        @ trainer.terms.coef[:size]
    )
    np.testing.assert_allclose(f, t.K @ (t.y * alpha), rtol=0, atol=1e-8 * abs(f).max())


@pytest.mark.parametrize("name", TASKS)
def test_the_dual_rises_from_epoch_to_epoch(name: str) -> None:
    values = [task(name).dual(train(name, BSCA(), epochs).alpha) for epochs in (1, 2, 4, 8, 16)]
    assert (np.diff(values) > 0).all()
    assert values[-1] < optimum(name)


@pytest.mark.parametrize("name", TASKS)
def test_pegasos_approaches_the_optimum(name: str) -> None:
    """Its error falls like log(t) / t, with ups and downs: five times the epochs, clearly less."""
    t, best = task(name), optimum(name)
    gaps = []
    for epochs in (4, 40, 400):
        alpha = train(name, BSGD(), epochs).alpha
        gaps.append(t.primal(t.y * alpha) / best - 1)
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 0.05


def test_agreement_with_scikit_learn() -> None:
    """SVC has a bias. Points mirrored at the origin with the opposite label make it zero.

    With k(x, z) − k(x, −z) in mind: f is then odd, for SVC as for the model without a bias.
    """
    X, y = blobs(120, 2, 5, distance=1.5)
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    exact = SVC(C=1.5, gamma=0.7, tol=1e-8).fit(X, y)
    assert abs(exact.intercept_[0]) < 1e-5
    model = BudgetSVC(
        C=1.5, gamma=0.7, budget=None, epochs=800, precision="double", random_state=0
    ).fit(X, y)
    f = model.decision_function(X)
    np.testing.assert_allclose(f, exact.decision_function(X), rtol=0, atol=2e-3)
    np.testing.assert_array_equal(model.predict(X)[abs(f) > 0.01], exact.predict(X)[abs(f) > 0.01])
    assert abs(len(model.support_vectors_) - exact.n_support_.sum()) <= 4


def test_sample_weights_are_bounds() -> None:
    """Weight 2 is C twice as large, and as good as having the row twice."""
    t = task("blobs")
    doubled = np.arange(len(t.y)) < 30
    options: dict[str, Any] = {
        "C": 1.0,
        "gamma": 0.5,
        "budget": None,
        "epochs": 600,
        "precision": "double",
        "random_state": 0,
    }
    a = BudgetSVC(**options).fit(t.X, t.y, sample_weight=np.where(doubled, 2.0, 1.0))
    b = BudgetSVC(**options).fit(np.vstack([t.X, t.X[doubled]]), np.append(t.y, t.y[doubled]))
    np.testing.assert_allclose(
        a.decision_function(t.X), b.decision_function(t.X), rtol=0, atol=2e-3
    )


def test_a_budget_that_does_not_bind() -> None:
    """budget >= n with merging: a point visited again is merged with its own term, at no cost."""
    X, y = moons(150, 6, noise=0.2)
    options: dict[str, Any] = {"C": 2.0, "gamma": 1.5, "epochs": 40, "polish": False}
    options["random_state"] = 0
    exact = BudgetSVC(budget=None, precision="double", **options).fit(X, y)
    model = BudgetSVC(budget=300, precision="double", **options).fit(X, y)
    assert len(model.support_vectors_) <= 300
    f = exact.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), f, rtol=0, atol=0.02)
    total = sum(record["degradation"] for record in model.history_)
    assert total < 1e-6

"""Both phases with every loss, with and without a bias, against scipy and scikit-learn."""

import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracles import judge, reference
from oracles.problems import noisy_xor, weights
from polish.spans import solve_in_span
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVR, LinearSVC
from tools.trainers import new_trainer

from budgetsvm import BudgetSVC, BudgetSVR, kernels
from budgetsvm._common.limits import Limits
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.result import Polished
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredHinge
from budgetsvm.maintenance import Remove
from budgetsvm.solvers import BSCA, BSGD, Solver

LOSSES: dict[str, Loss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "insensitive": EpsilonInsensitive(0.1),
    "absolute": EpsilonInsensitive(0.0),
}
GAMMA = 0.8
PLAIN = reference.Kernel("rbf", GAMMA)


@cache
def data(name: str, n: int, C: float) -> tuple[Any, SingleTarget]:
    """Rows with noise, and what they ask for; all have weights of their own."""
    X, y = noisy_xor(n, 3, flips=0.1)
    loss, box = LOSSES[name], C * weights(n, 5)
    if isinstance(loss, EpsilonInsensitive):
        target = (
            np.tanh(X[:, 0] * X[:, 1]) + 0.7 + 0.2 * np.random.default_rng(1).standard_normal(n)
        )
        return X, SingleTarget(box, loss, np.ones(n), target)
    return X, SingleTarget.of_labels(y, box, loss)


def machine_of(targets: SingleTarget, G: Any) -> judge.Machine:
    loss = targets.loss
    return judge.Machine(loss.name, G, targets.y, targets.target, targets.box, loss.core()[1])


# ---- phase 1 ----


def train(
    name: str, solver: Solver, *, C: float, epochs: int, bias: bool
) -> tuple[OutputTrainer, judge.Machine]:
    X, targets = data(name, 60, C)
    settings = Settings(kernels.Gaussian(GAMMA), solver, Remove(), None, bias)
    problem = Problem(Rows(X, np.float64, None), targets)
    trainer = new_trainer(OutputTrainer, settings, problem, np.random.default_rng(4))
    trainer.run(Plan(epochs * 60))
    return trainer, machine_of(targets, judge.features(PLAIN(X, X) + bias))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("name", LOSSES)
def test_coordinate_ascent_reaches_the_optimum(name: str, C: float, bias: bool) -> None:
    """A bias is the kernel k + 1. Short logistic steps are left out, and without ε it takes its time."""
    trainer, machine = train(name, BSCA(), C=C, epochs=1500, bias=bias)
    w = machine.G.T @ (machine.y * trainer.alpha)
    tolerance = {"logistic": 1e-3, "absolute": 1e-3}.get(name, 1e-5)
    machine.check(trainer.alpha, w, tolerance)
    signed = machine.y * trainer.alpha
    used = trainer.slots >= 0
    np.testing.assert_allclose(trainer.terms.coef[trainer.slots[used]], signed[used], atol=1e-9)
    assert (signed[~used] == 0).all()
    np.testing.assert_allclose(trainer.bias, [signed.sum()] if bias else [], atol=1e-9)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_gradient_descent_comes_near_the_optimum(name: str, bias: bool) -> None:
    trainer, machine = train(name, BSGD(), C=0.1, epochs=300, bias=bias)
    w = machine.G.T @ (machine.y * trainer.alpha)
    lower, _ = machine.optimum()
    assert lower * (1 - 1e-9) <= machine.primal(w) <= 1.05 * lower
    np.testing.assert_allclose(trainer.bias, [machine.y @ trainer.alpha] if bias else [], atol=1e-9)


@pytest.mark.parametrize("solver", [BSCA(), BSGD()])
def test_a_bias_under_a_budget(solver: Solver) -> None:
    """The bias is the sum of all that was ever inserted, whatever became of the terms."""
    X, targets = data("insensitive", 200, 0.1)
    settings = Settings(kernels.Gaussian(GAMMA), solver, Remove(), 7, intercept=True)
    problem = Problem(Rows(X, np.float64, None), targets)
    trainer = new_trainer(OutputTrainer, settings, problem, np.random.default_rng(4))
    trainer.run(Plan(300))
    assert trainer.history[-1]["merges"] > 0
    assert trainer.bias[0] == pytest.approx(targets.y @ trainer.alpha, rel=1e-9)
    assert trainer.bias[0] > 0.1


# ---- phase 2 ----


def solve(
    name: str,
    *,
    n: int,
    C: float,
    tol: float,
    constant: bool,
    free: bool = False,
    memory: float = 1e9,
) -> tuple[Polished, judge.Machine, Any]:
    """Polish on twenty terms; returns the problem in features of plain NumPy and w in them, too."""
    X, targets = data(name, n, C)
    basis = Basis.of(X[:20].copy(), kernels.Gaussian(GAMMA), constant=constant, free=free)
    problem = Problem(Rows(X, np.float64, None), targets)
    limits = Limits(tol, 500, np.inf, memory, 1)
    found = solve_in_span(problem, basis, limits)
    lower = np.linalg.cholesky(PLAIN(basis.points, basis.points))
    G = np.linalg.solve(lower, PLAIN(X, basis.points).T).T
    w = lower.T @ found.coef[0]
    if constant:
        G, w = np.column_stack([G, np.ones(n)]), np.append(w, found.bias[0])
    return found, replace(machine_of(targets, G), free=free), w


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("constant", "free"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", LOSSES)
def test_the_certificate_holds(name: str, C: float, constant: bool, free: bool) -> None:
    """D ≤ P, the gap is at most tol, and the optimum that scipy finds lies in between."""
    tol = 1e-4 if LOSSES[name].has_kinks else 1e-6
    found, machine, w = solve(name, n=150, C=C, tol=tol, constant=constant, free=free)
    assert found.converged
    assert found.gap <= tol
    assert found.alpha is not None
    assert machine.primal(w) == pytest.approx(found.primal, rel=1e-9)
    assert machine.dual(found.alpha) == pytest.approx(found.dual, rel=1e-9)
    machine.check(found.alpha, w, tol)
    assert constant == bool(found.bias[0])


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("memory", [1e9, 2e4])
@pytest.mark.parametrize("name", LOSSES)
def test_samples_parts_and_little_memory(name: str, memory: float, free: bool) -> None:
    """Enough rows for Newton's method on samples and on parts of the rows."""
    tol = 1e-3 if LOSSES[name].has_kinks else 1e-6
    options: dict[str, Any] = {"constant": True, "free": free, "memory": memory}
    found, machine, w = solve(name, n=3000, C=1.0, tol=tol, **options)
    assert found.converged
    assert found.alpha is not None
    primal, dual = machine.primal(w), machine.dual(found.alpha)
    assert (1 - tol) * primal <= dual * (1 + 1e-12)
    assert dual <= primal
    assert primal == pytest.approx(found.primal, rel=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_a_weight_of_two_is_a_row_twice(name: str) -> None:
    X, targets = data(name, 120, 1.0)
    counts = np.random.default_rng(0).integers(1, 4, 120)
    basis = Basis.of(X[:10].copy(), kernels.Gaussian(GAMMA), constant=True)
    limits = Limits(1e-5, 500, np.inf, 1e9, 1)
    results = []
    for chosen, box in (
        (np.arange(120), counts * 0.7),
        (np.repeat(np.arange(120), counts), np.full(counts.sum(), 0.7)),
    ):
        own = SingleTarget(box, targets.loss, targets.y[chosen], targets.target[chosen])
        problem = Problem(Rows(X[chosen], np.float64, None), own)
        results.append(solve_in_span(problem, basis, limits))
    assert results[0].primal == pytest.approx(results[1].primal, rel=3e-5)
    assert results[0].bias[0] == pytest.approx(results[1].bias[0], abs=0.03)


def explicit(model: Any, X: Any) -> Any:
    """Features of the rows in the span of a fitted model's terms."""
    Z = model.support_vectors_
    return np.linalg.solve(np.linalg.cholesky(PLAIN(Z, Z)), PLAIN(X, Z).T).T


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_agreement_with_logistic_regression(C: float, intercept: bool) -> None:
    X, targets = data("logistic", 300, 1.0)
    model = BudgetSVC(
        C, loss="logistic", gamma=GAMMA, basis=X[:20], budget=20, tol=1e-8, precision="double"
    )
    model.set_params(fit_intercept=intercept).fit(X, targets.y)
    G = explicit(model, X)
    theirs = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-10, max_iter=5000)
    theirs.fit(G, targets.y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(G), rtol=0, atol=2e-4)


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_agreement_with_linear_svc(C: float) -> None:
    """The squared hinge; LIBLINEAR's intercept is the coefficient of a constant feature, here a large one."""
    X, targets = data("squared_hinge", 300, 1.0)
    model = BudgetSVC(
        C, loss="squared_hinge", gamma=GAMMA, basis=X[:20], budget=20, tol=1e-8, precision="double"
    )
    model.set_params(fit_intercept=True).fit(X, targets.y)
    G = explicit(model, X)
    theirs = LinearSVC(C=C, loss="squared_hinge", dual=False, tol=1e-12, max_iter=100_000)
    theirs.set_params(intercept_scaling=1e3)
    theirs.fit(G, targets.y)
    np.testing.assert_allclose(
        model.decision_function(X), theirs.decision_function(G), rtol=0, atol=2e-3
    )
    assert model.intercept_[0] == pytest.approx(theirs.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_agreement_with_svr(epsilon: float) -> None:
    X, targets = data("insensitive", 300, 1.0)
    model = BudgetSVR(
        2.0, epsilon=epsilon, gamma=GAMMA, basis=X[:20], budget=20, tol=1e-5, precision="double"
    )
    model.set_params(fit_intercept=True).fit(X, targets.target)
    G, target = explicit(model, X), (targets.target - model.target_mean_) / model.target_scale_
    theirs = SVR(kernel="linear", epsilon=epsilon, C=2.0, tol=1e-6).fit(G, target)
    w = np.append(theirs.coef_, theirs.intercept_)
    machine = judge.Machine(
        "epsilon_insensitive",
        np.column_stack([G, np.ones(300)]),
        np.ones(300),
        target,
        np.full(300, 2.0),
        epsilon,
        free=True,
    )
    assert machine.primal(w) == pytest.approx(model.objective_[0], rel=1e-4)
    assert machine.primal(w) >= model.objective_[1]
    np.testing.assert_allclose(
        (model.predict(X) - model.target_mean_) / model.target_scale_,
        theirs.predict(G),
        rtol=0,
        atol=0.03,
    )


# ---- extremes ----


def test_no_error_exceeds_epsilon() -> None:
    """Then phase 1 makes no step, and the model has no terms."""
    X = np.random.default_rng(0).standard_normal((50, 2))
    model = BudgetSVR(epsilon=10.0, budget=5, random_state=0).fit(X, X[:, 0])
    assert len(model.support_vectors_) == 0
    assert model.objective_ == (0, 0)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("C", [1e4, 1e6])
def test_logistic_loss_with_a_large_C_learns_terms(C: float) -> None:
    X, targets = data("logistic", 300, 1.0)
    model = BudgetSVC(C, loss="logistic", gamma=GAMMA, budget=15, random_state=0, tol=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, targets.y)
    assert len(model.support_vectors_) >= 10
    assert model.score(X, targets.y) > 0.8

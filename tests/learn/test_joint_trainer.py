"""Training several outputs with one set of terms; without a budget, each by itself."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles.problems import blobs
from tools.core.joint_problems import (
    GAMMA,
    SOLVERS,
    N,
    apart,
    make_trainer,
    outputs_of,
)

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._learn.learn import learn_terms
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets
from budgetsvm.losses import Hinge, Logistic
from budgetsvm.maintenance import Merge


def test_bad_arguments() -> None:
    trainer = make_trainer(outputs_of("classes", None, 1.0))
    targets = trainer.problem.targets
    assert isinstance(targets, ClassTargets)
    trainer.problem = replace(trainer.problem, targets=replace(targets, labels=targets.labels + 1))
    with pytest.raises(ValueError, match="label is out of range"):
        trainer.visit(np.arange(3))
    trainer = make_trainer(outputs_of("classes", None, 1.0), kernel=kernels.Laplacian(1.0))
    with pytest.raises(ValueError, match="Gaussian"):
        trainer.visit(np.arange(3))
    trainer = make_trainer(outputs_of("classes", None, 1.0))
    trainer.coef = trainer.coef[:, :4].copy()
    with pytest.raises(ValueError, match="differ in length"):
        trainer.visit(np.arange(3))
    trainer = make_trainer(outputs_of("regression", None, 1.0))
    arguments = (trainer.problem.rows.source(np.arange(2)), np.arange(2), np.ones(2))
    values = trainer.problem.targets.values  # type: ignore[attr-defined]
    wanted = (("hinge", 0.0), True, np.empty(0, np.int32), values, np.ones(N), trainer.alpha)
    with pytest.raises(ValueError, match="coupled"):
        _core.joint(
            *arguments,
            wanted,
            trainer.terms.arrays,
            0,
            trainer.coef,
            trainer.bias,
            12,
            kernels.Gaussian(1.0).core(),
            Merge().core(),
            0,
            0.0,
        )


@pytest.mark.parametrize("solver", SOLVERS)
def test_training_goes_on_from_a_model(solver: str) -> None:
    """Two runs are one, with the coefficients of a model in between."""
    X, labels = blobs(N, 4, 3)[0], outputs_of("classes", None, 0.5)
    kernel = kernels.Gaussian(GAMMA)
    settings = Settings(kernel, SOLVERS[solver], Merge(), 10, intercept=True)
    problem = Problem(Rows(X, np.float64, None), labels)
    empty = KernelExpansion(kernel, np.zeros((0, 4)), np.zeros((5, 0)), np.zeros(5), None)
    rng = np.random.default_rng
    first = learn_terms(empty, problem, settings, Plan(50), rng(0))
    again = learn_terms(first.model, problem, settings, Plan(30, done=50), rng(1))
    assert again.visits == 80
    trainer = make_trainer(labels, X=X, solver=solver, bias=True, budget=10)
    orders = [np.random.default_rng(k).permutation(N)[:m] for k, m in ((0, 50), (1, 30))]
    trainer.visit(orders[0])
    trainer.alpha[:] = 0
    trainer.visit(orders[1])
    scale = 1 / trainer.t if solver == "bsgd" else 1.0
    np.testing.assert_allclose(again.model.bias, scale * trainer.bias, rtol=1e-9)
    rows = scale * trainer.coef[: trainer.terms.size]
    assert apart(again.model.coef.T, again.model.points, rows, trainer.terms.points()) < 1e-9


def test_terms_are_learned_from_the_joint_problem() -> None:
    targets = outputs_of("classes", Logistic(), 4.0)
    trainer = make_trainer(targets)
    trainer.learn(Plan(2 * N, adapt=True))
    joint = trainer.problem.targets
    assert isinstance(joint, ClassTargets)
    assert joint.coupled
    assert joint.loss == Hinge()
    assert np.median(joint.box) == pytest.approx(0.4)
    rows = trainer.coef[: trainer.terms.size]
    np.testing.assert_allclose(rows.sum(axis=1), 0, atol=1e-6)  # what one class gains others lose


# ---- without a budget ----


@pytest.mark.parametrize("intercept", [False, True])
def test_without_a_budget_every_class_is_trained_by_itself(intercept: bool) -> None:
    X = blobs(N, 4, 3)[0]
    labels = np.random.default_rng(2).integers(3, size=N)
    options: dict[str, Any] = {"budget": None, "gamma": GAMMA, "precision": "double", "C": 0.5}
    options |= {"epochs": 400, "fit_intercept": intercept, "random_state": 0, "multi_class": "ovr"}
    model = BudgetSVC(**options).fit(X, labels)
    assert model.dual_coef_.shape[0] == 3
    for c in range(3):
        alone = BudgetSVC(**options).fit(X, labels == c)
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], alone.decision_function(X), atol=1e-3
        )
        assert model.intercept_[c] == pytest.approx(alone.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_first_step_without_a_budget(intercept: bool) -> None:
    """δ = 1 / k(x, x), with 1 more for a constant, however many outputs there are."""
    X = 100.0 * np.eye(4)
    options: dict[str, Any] = {"budget": None, "gamma": 1.0, "C": 10.0, "epochs": 0.25}
    model = BudgetSVC(**options, fit_intercept=intercept, random_state=0)
    model.fit(X, [0, 1, 2, 3])
    expected = 1 / (1 + intercept)
    np.testing.assert_allclose(abs(model.dual_coef_).max(axis=1), expected)
    np.testing.assert_allclose(abs(model.intercept_), intercept * expected)


@pytest.mark.parametrize("budget", [None, 200])
def test_partial_fit_keeps_what_it_has_learned(budget: int | None) -> None:
    """Also without a budget: far from new rows the values of the model stay."""
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((60, 2)), rng.integers(3, size=60)
    model = BudgetSVC(budget=budget, gamma=1.0, precision="double", random_state=0)
    model.partial_fit(X, labels)
    before = model.decision_function(X)
    model.partial_fit(X + 50.0, labels)
    assert abs(before).max() > 0.3
    np.testing.assert_allclose(model.decision_function(X), before, atol=1e-9)
    assert len(model.support_vectors_) > 60

"""The trial at the start of phase 1: what steps lose to the budget, and when to begin anew."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import moons
from tools.core.runs import iid, make_pair
from tools.trainers import new_trainer

from budgetsvm import BudgetSVC, kernels
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA, BSGD


@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
def test_lost_shares_of_steps(solver: str) -> None:
    """Degradations as shares of what the step before inserted."""
    X, y = moons(60, 3, noise=0.25)
    core, _ = make_pair(X, y, kernel="rbf", solver=solver, maintenance="merge", budget=8)
    shares = []
    for i in iid(60, 150):
        alpha = core.alpha_stored[i]
        _, _, _, merges, degradation, _ = core.visit(i)
        inserted = core.alpha_stored[i] - alpha
        scale = core.t if solver == "bsgd" else 1.0
        expected = degradation * scale**2 / inserted**2 if merges else 0.0
        assert core.lost == pytest.approx(expected, rel=1e-9)
        assert 0 <= core.lost <= 1 + 1e-9
        shares.append(core.lost)
    assert np.count_nonzero(shares) > 20


def restarts(solver: Any, gamma: float, C: float, n_terms: int = 2) -> bool:
    """Whether the trial found that the budget is overwhelmed."""
    X, y = moons(2000, 3)
    settings = Settings(kernels.Gaussian(gamma), solver, Merge(n_terms=n_terms), 20)
    problem = Problem(Rows(X, np.float64, None), SingleTarget.of_labels(y, np.full(2000, C)))
    trainer = new_trainer(OutputTrainer, settings, problem, np.random.default_rng(0))
    trainer.learn(Plan(2000, adapt=True))
    assert trainer.problem.targets.box[0] in (C, pytest.approx(0.3))
    return trainer.problem is not problem


@pytest.mark.parametrize("C", [1.0, 32.0, 1000.0])
@pytest.mark.parametrize("solver", [BSCA(), BSGD()])
def test_the_trial_restarts_where_the_budget_is_overwhelmed(solver: Any, C: float) -> None:
    """Whatever the C and the solver: steps of BSGD are n C / t long, those of BSCA about 1."""
    assert not restarts(solver, 1.0, C)
    assert restarts(solver, 500.0, C)


def test_the_trial_with_multimerge() -> None:
    assert not restarts(BSGD(), 1.0, 32.0, n_terms=3)
    assert restarts(BSGD(), 500.0, 32.0, n_terms=3)


def test_the_trial_of_gradient_descent_has_no_reason_to_begin_anew() -> None:
    """Where terms suffice for C, beginning anew with a smaller C makes P larger: it is not to happen."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (6000, 4))
    noise = 0.1 * rng.standard_normal(6000)
    y = np.sin(3 * X[:, 0]) + np.sin(3 * X[:, 1]) * X[:, 2] + noise > 0.6
    model = BudgetSVC(C=32.0, gamma=2.0, budget=200, solver="bsgd", n_jobs=1)
    adapted, plain = (
        np.mean(
            [model.set_params(epochs=e, random_state=s).fit(X, y).objective_[0] for s in range(3)]
        )
        for e in ("auto", 2)
    )
    assert adapted < 1.02 * plain

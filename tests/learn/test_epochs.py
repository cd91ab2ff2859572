"""The trainer of one output: which points an epoch visits, what its record counts, when it is the last."""

from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import moons, weights
from tools.core.runs import MAINTENANCE, CoreRun
from tools.trainers import new_trainer

from budgetsvm import BudgetSVC, kernels
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.maintenance import Maintenance, Merge
from budgetsvm.solvers import BSCA, BSGD


def make_trainer(
    solver: Any, maintenance: Maintenance, budget: int | None, n: int = 200
) -> OutputTrainer:
    X, y = moons(n, 3, noise=0.25)
    settings = Settings(kernels.Gaussian(1.5), solver, maintenance, budget)
    problem = Problem(Rows(X, np.float64, None), SingleTarget.of_labels(y, 3.0 * weights(n, 2)))
    return new_trainer(OutputTrainer, settings, problem, np.random.default_rng(11))


@pytest.mark.parametrize(
    ("maintenance", "order"),
    [
        ("golden", "permutation"),  # uniform: three terms on one point are a tie
        ("project", "permutation"),
        ("project", "uniform"),
        ("remove", "permutation"),
        ("remove", "uniform"),
    ],
)
@pytest.mark.parametrize("solver", [BSCA, BSGD])
def test_history_counts_what_happened(solver: Any, maintenance: str, order: Any) -> None:
    """The records of two epochs against the reference's count over the same visits."""
    ours, theirs = MAINTENANCE[maintenance]
    trainer = make_trainer(solver(order=order), ours, 15)
    trainer.run(Plan(2 * len(trainer.problem.targets.y)))
    problem, n = trainer.problem, len(trainer.problem.targets.y)
    plain_class = reference.BSGD if solver is BSGD else reference.BSCA
    plain = plain_class(
        reference.Kernel("rbf", 1.5),
        problem.rows.X,
        problem.targets.y,
        problem.targets.box,
        15,
        theirs,
    )
    rng = np.random.default_rng(11)
    assert len(trainer.history) == 2
    for record in trainer.history:
        margins, merges, steps, degradation = [], 0, 0, 0.0
        for i in solver(order=order).visiting_order(n, rng):
            margins.append(plain.margin(i))
            full = len(plain.model) == 15
            stepped = plain.visit(i)
            steps += stepped
            merges += stepped and full
            degradation += plain.degradation
        margin = np.array(margins)
        luck = np.sum(abs(margin - 1) < 1e-7)  # points seen again before the model has changed
        assert luck <= (5 if order == "uniform" else 0)
        assert record["visits"] == n
        assert abs(record["steps"] - steps) <= luck
        assert abs(record["violations"] - np.sum(margin < 1)) <= luck
        assert record["mistakes"] == np.sum(margin <= 0)
        assert abs(record["merges"] - merges) <= luck
        assert record["size"] == len(plain.model)
        assert record["degradation"] == pytest.approx(degradation, rel=1e-3)
        assert record["loss"] == pytest.approx(np.mean(np.maximum(0, 1 - margin)), rel=1e-3)
        assert record["seconds"] >= 0
    assert trainer.t == 2 * n


def test_steps_and_violations_are_different_counts() -> None:
    """BSCA steps without a violation (δ < 0) and violations without a step (α_i = C_i)."""
    trainer = make_trainer(BSCA(), Merge(), 30)
    trainer.run(Plan(4 * len(trainer.problem.targets.y)))
    last = trainer.history[-1]
    assert last["steps"] != last["violations"]
    X, y = np.zeros((1, 2)), np.ones(1)
    core = CoreRun(
        X, y, [0.25], kernel=kernels.Gaussian(1.0), solver=BSCA(), maintenance=Merge(), budget=5
    )
    first, second = core.visit(0), core.visit(0)
    assert first[:4] == (1, 1, 1, 0)  # step, violation, mistake (f = 0), merge
    assert second[:4] == (0, 1, 0, 0)  # α = C already: a violation, no step
    core.terms.coef[0] = 3.0
    assert core.visit(0)[:4] == (1, 0, 0, 0)  # margin 3 > 1: a step back, no violation
    assert core.alpha[0] == 0


@pytest.mark.parametrize("order", ["permutation", "uniform"])
def test_visiting_order(order: Any) -> None:
    drawn = BSCA(order=order).visiting_order(500, np.random.default_rng(0))
    again = BSCA(order=order).visiting_order(500, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, again)
    assert len(drawn) == 500
    distinct = len(np.unique(drawn))
    assert distinct == 500 if order == "permutation" else 250 < distinct < 375


def test_training_stops_when_an_epoch_changes_nothing() -> None:
    """One point per class, far apart: after the first epoch all is done."""
    X = np.array([[0.0], [100.0]])
    model = BudgetSVC(C=10, gamma=1.0, epochs=50, polish=False, random_state=0).fit(X, [0, 1])
    assert [record["steps"] for record in model.history_] == [2, 0]
    assert model.n_iter_ == 2

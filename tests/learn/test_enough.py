"""How many visits phase 1 makes by itself: more for larger budgets, as long as the loss falls."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import moons
from tools.trainers import new_trainer

from budgetsvm import kernels
from budgetsvm._learn.learn import visits_of_epochs
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA, BSGD

N = 1000


def make_trainer(gamma: float, noise: float, solver: Any = None, budget: int = 20) -> OutputTrainer:
    X, y = moons(N, 3, noise=noise)
    settings = Settings(kernels.Gaussian(gamma), solver or BSCA(), Merge(), budget)
    problem = Problem(Rows(X, np.float64, None), SingleTarget.of_labels(y, np.full(N, 1.0)))
    return new_trainer(OutputTrainer, settings, problem, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("n", "budget", "expected"),
    [
        (50_000, 200, (100_000, None)),
        (50_000, 1000, (100_000, None)),
        (50_000, 2500, (250_000, 100_000)),
        (3_000_000, 1000, (1_000_000, None)),
        (3_000_000, 4000, (4_000_000, 1_000_000)),
        (1000, 500, (10_000, None)),
        (1000, 2000, (80_000, 40_000)),
    ],
)
def test_visits(n: int, budget: int, expected: tuple[int, int | None]) -> None:
    assert visits_of_epochs("auto", n, budget, polish=True) == expected


def test_visits_that_somebody_asks_for() -> None:
    assert visits_of_epochs(2.5, 1000, 4000, polish=True) == (2500, None)
    assert visits_of_epochs("auto", 1000, 4000, polish=False) == (5000, None)


@pytest.mark.parametrize("solver", [BSCA(), BSGD()])
@pytest.mark.parametrize(("gamma", "noise"), [(1.0, 0.1), (1.0, 0.5), (30.0, 0.2)])
def test_the_last_epoch_is_the_first_that_learns_little(
    gamma: float, noise: float, solver: Any
) -> None:
    trainer = make_trainer(gamma, noise, solver)
    trainer.run(Plan(40 * N, enough=2 * N))
    losses = np.array([record["loss"] for record in trainer.history])
    assert 2 <= len(losses) < 40
    gains, wanted = 1 - losses[1:] / losses[:-1], np.full(len(losses) - 1, 0.01)
    wanted[0] = 0.05
    assert (gains[:-1] >= wanted[:-1]).all()
    assert gains[-1] < wanted[-1]


def test_not_before_there_were_enough() -> None:
    trainer = make_trainer(1.0, 0.5)
    trainer.run(Plan(40 * N, enough=30 * N))
    assert 30 <= len(trainer.history) < 40


def test_epochs_that_somebody_asked_for_are_all_made() -> None:
    trainer = make_trainer(1.0, 0.5)
    trainer.run(Plan(12 * N))
    assert len(trainer.history) == 12


@pytest.mark.parametrize("enough", [None, 2 * N])
def test_only_short_training_is_cautious(enough: int | None) -> None:
    trainer = make_trainer(500.0, 0.2)
    trainer.learn(Plan(3 * N, adapt=True, enough=enough))
    assert (trainer.problem.targets.box[0] < 1) == (enough is None)

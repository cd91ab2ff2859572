"""Problems with several outputs, and trainers for them."""

from typing import Any

import numpy as np
from oracles.problems import blobs, weights
from scipy.optimize import linear_sum_assignment
from tools.trainers import new_trainer

from budgetsvm import kernels
from budgetsvm._learn.joint_trainer import JointTrainer
from budgetsvm._learn.settings import Settings
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets, ManyTargets, Targets
from budgetsvm.losses import EpsilonInsensitive, Hinge, Loss
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD, Solver

MAINTENANCE: dict[str, Maintenance] = {"merge": Merge(), "project": Project(), "remove": Remove()}
SOLVERS: dict[str, Solver] = {"bsca": BSCA(), "bsgd": BSGD()}
GAMMA = 0.15
N = 80


def outputs_of(kind: str, loss: Loss | None, scale: float) -> Targets:
    """Five classes or three targets, for eighty points."""
    rng, box = np.random.default_rng(2), scale * weights(N, 1)
    if kind == "regression":
        return ManyTargets(box, loss or EpsilonInsensitive(0.2), rng.standard_normal((N, 3)))
    labels = rng.integers(5, size=N).astype(np.int32)
    return ClassTargets(box, loss or Hinge(), labels, 5, kind == "coupled")


def make_trainer(
    targets: Targets,
    *,
    X: Any = None,
    solver: str = "bsca",
    maintenance: str = "merge",
    budget: int = 12,
    bias: bool = False,
    dtype: Any = np.float64,
    kernel: kernels.Kernel | None = None,
) -> JointTrainer:
    X = blobs(N, 4, 3, 0.6)[0] if X is None else X
    kernel = kernel or kernels.Gaussian(GAMMA)
    settings = Settings(kernel, SOLVERS[solver], MAINTENANCE[maintenance], budget, bias)
    problem = Problem(Rows(X, dtype, None), targets)
    return new_trainer(JointTrainer, settings, problem, np.random.default_rng(0))


def apart(rows: Any, points: Any, other_rows: Any, other_points: Any) -> float:
    """How far two sets of terms are apart, whatever their order; light terms count less."""
    if len(rows) != len(other_rows):
        return np.inf
    scale = max(float(np.linalg.norm(other_rows, axis=1).max(initial=0)), 1e-300)
    light = np.minimum(1, np.linalg.norm(rows, axis=1) / scale)[:, np.newaxis]
    distance = light * abs(points[:, np.newaxis] - other_points).max(axis=2)
    distance = np.maximum(distance, abs(rows[:, np.newaxis] - other_rows).max(axis=2) / scale)
    return float(distance[linear_sum_assignment(distance)].max(initial=0))

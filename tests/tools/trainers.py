"""Trainers of phase 1 that begin without terms."""

from typing import TypeVar

import numpy as np

from budgetsvm._learn.settings import Settings
from budgetsvm._learn.trainer import VisitingTrainer
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.problem import Problem

_Trainer = TypeVar("_Trainer", bound=VisitingTrainer)


def new_trainer(
    kind: type[_Trainer], settings: Settings, problem: Problem, rng: np.random.Generator
) -> _Trainer:
    """Return a trainer of this kind."""
    rows, count = problem.rows, problem.targets.count
    empty = KernelExpansion.empty(settings.kernel, rows.X.shape[1], count, rows.dtype, rows.centre)
    return kind(empty, problem, settings, rng)

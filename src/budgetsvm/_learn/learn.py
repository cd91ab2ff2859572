"""Phase 1: from a model to a model with other terms."""

from dataclasses import replace

import numpy as np

from budgetsvm._learn.early_stopping import EarlyStopping
from budgetsvm._learn.joint_trainer import JointTrainer
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.separate_outputs import SeparateOutputs
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.learned import Learned
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._observer import NOBODY, Observers


def learn_terms(
    model: KernelExpansion,
    problem: Problem,
    settings: Settings,
    plan: Plan,
    rng: np.random.Generator,
    *,
    observers: Observers = NOBODY,
    stopping: EarlyStopping | None = None,
) -> Learned:
    """Train a model further, by the visits of a plan or until it is stopped."""
    kind = _trainer(problem, settings)
    if stopping is not None:
        if kind is SeparateOutputs:
            message = "early_stopping of more than two classes, or several targets, needs a budget, not None"
            raise ValueError(message)
        observers = observers.joined_by(stopping)
    trainer = kind(model, problem, settings, rng, observers, done=plan.done)
    trainer.learn(plan)
    moment = trainer.moment()
    assert moment.learned is not None
    learned = moment.learned()
    if stopping is not None and stopping.best is not None:
        learned = replace(learned, model=stopping.best)
    observers.end_learning(replace(moment, learned=lambda: learned))
    return learned


def _trainer(
    problem: Problem, settings: Settings
) -> type[OutputTrainer] | type[JointTrainer] | type[SeparateOutputs]:
    if problem.outputs.count == 1:
        return OutputTrainer
    return SeparateOutputs if settings.budget is None else JointTrainer

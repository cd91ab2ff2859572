"""Phase 1 for an estimator: from a model to a model with other terms."""

from dataclasses import dataclass, replace

import numpy as np

from budgetsvm._early_stopping import EarlyStopping
from budgetsvm._expansion import KernelExpansion
from budgetsvm._joint import JointTrainer, train_without_budget
from budgetsvm._landmarks import dense_points
from budgetsvm._progress import Progress
from budgetsvm._terms import TermStore
from budgetsvm._training import EpochRecord, Problem, Settings, Trainer


@dataclass(frozen=True, eq=False)
class Learned:
    """What phase 1 led to."""

    model: KernelExpansion
    visits: int
    epochs: int
    history: list[EpochRecord]


def learn_terms(
    model: KernelExpansion,
    problem: Problem,
    settings: Settings,
    visits: int,
    rng: np.random.Generator,
    *,
    done: int,
    n_threads: int,
    intercept: bool,
    adapt: bool,
    stopping: EarlyStopping | None,
    verbose: bool,
) -> Learned:
    """Make so many visits, `done` earlier ones not counted; see `Trainer.learn_basis` for `adapt`."""
    settings = _settings_for(model, problem, settings, visits, stopping)
    several = problem.outputs.count > 1
    trainer = _trainer(model, problem, settings, rng, (done, n_threads), intercept=intercept)
    total = visits * problem.outputs.count if several and settings.budget is None else visits
    with Progress("training", total, shown=verbose) as progress:
        if several and settings.budget is None:
            coef, bias = train_without_budget(trainer, visits, progress)
            used = np.flatnonzero(coef.any(axis=0))
            points = dense_points(problem.rows, used)
            constants = bias[:, 0] if intercept else np.zeros(len(bias))
            learned = replace(model, points=points, coef=coef[:, used], bias=constants)
            epochs = -(-len(trainer.history) // problem.outputs.count)
            return Learned(learned, done + visits, epochs, trainer.history)
        if stopping is not None:
            trainer.after_epoch = lambda: stopping.after_epoch(_model_of(trainer, model))
        (trainer.learn_basis if adapt else trainer.run)(visits, progress)
    learned = _model_of(trainer, model)
    if stopping is not None and stopping.best is not None:
        learned = stopping.best
    return Learned(learned, trainer.t, len(trainer.history), trainer.history)


def _settings_for(
    model: KernelExpansion,
    problem: Problem,
    settings: Settings,
    visits: int,
    stopping: EarlyStopping | None,
) -> Settings:
    """Return settings that can go on with the model."""
    if problem.outputs.count == 1 or settings.budget is not None:
        return settings
    if len(model):  # terms that all outputs share: go on with a budget that is never exceeded
        return replace(settings, budget=len(model) + visits)
    if stopping is not None:
        message = (
            "early_stopping of more than two classes, or several targets, needs a budget, not None"
        )
        raise ValueError(message)
    return settings


def _trainer(
    model: KernelExpansion,
    problem: Problem,
    settings: Settings,
    rng: np.random.Generator,
    counts: tuple[int, int],
    *,
    intercept: bool,
) -> Trainer:
    """Return what continues to train a model."""
    several = problem.outputs.count > 1 and settings.budget is not None
    # The norms of rows of coefficients are what the core goes by where there are several outputs.
    sizes = np.linalg.norm(model.coef, axis=0) if several else model.coef[0]
    terms = TermStore.of(model.points, sizes, model.kernel, settings.budget or 0)
    bias = model.bias.copy() if intercept else np.empty(0)
    common = (settings, problem, terms, rng, *counts, bias)
    return JointTrainer(*common, coef=model.coef.T) if several else Trainer(*common)


def _model_of(trainer: Trainer, before: KernelExpansion) -> KernelExpansion:
    """Return the trained model, without terms of no weight."""
    size = trainer.terms.size
    own = (
        trainer.coef[:size].T
        if isinstance(trainer, JointTrainer)
        else trainer.terms.coef[np.newaxis, :size]
    )
    used = own.any(axis=0)
    coef = np.ascontiguousarray(own[:, used]) * trainer.scale
    bias = trainer.bias * trainer.scale if len(trainer.bias) else np.zeros(len(coef))
    return replace(before, points=trainer.terms.points()[used], coef=coef, bias=bias)

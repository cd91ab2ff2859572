"""Phase 1 for an estimator: from a model to a model with other terms."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from budgetsvm._common.progress import Progress
from budgetsvm._learn.early_stopping import EarlyStopping
from budgetsvm._learn.joint_trainer import JointTrainer, train_without_budget
from budgetsvm._learn.settings import Settings
from budgetsvm._learn.trainer import EpochRecord, Trainer, trial_visits
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import dense_points
from budgetsvm._problem.targets import Outputs
from budgetsvm.monitoring._sklearn_callbacks import EpochHooks
from budgetsvm.monitoring._watcher import Watcher


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
    epochs: EpochHooks | None = None,
    watcher: Watcher | None = None,
    until: float = np.inf,
) -> Learned:
    """Make so many visits, `done` earlier ones not counted; see `Trainer.learn_basis` for `adapt`."""
    several = problem.outputs.count > 1
    if several and settings.budget is None and stopping is not None:
        message = (
            "early_stopping of more than two classes, or several targets, needs a budget, not None"
        )
        raise ValueError(message)
    trainer = _trainer(model, problem, settings, rng, (done, n_threads), intercept=intercept)
    trainer.until = until
    total = visits * problem.outputs.count if several and settings.budget is None else visits
    with Progress("training", total, shown=verbose) as progress:
        if several and settings.budget is None:
            _watch(trainer, None, None, epochs)  # there is no model before the last output
            coef, bias = train_without_budget(trainer, model, visits, progress)
            used = np.asarray(coef.any(axis=0))
            rows = np.flatnonzero(used[len(model) :])
            old, new = model.points[used[: len(model)]], dense_points(problem.rows, rows)
            constants = bias[:, 0] if intercept else np.zeros(len(bias))
            trained = replace(
                model, points=np.concatenate([old, new]), coef=coef[:, used], bias=constants
            )
            rounds = -(-len(trainer.history) // problem.outputs.count)
            if watcher is not None:
                watcher.look(lambda: (trained, None))
            return Learned(trained, done + visits, rounds, trainer.history)
        trainer.watcher = watcher
        trainer.state = lambda: (_learned(trainer, model).model, trainer.alpha * trainer.scale)
        _watch(trainer, lambda: _learned(trainer, model), stopping, epochs)
        (trainer.learn_basis if adapt else trainer.run)(visits, progress)
    # These know the trainer: a cycle that would keep its data until the garbage collector comes.
    trainer.state = trainer.before_epoch = trainer.after_epoch = None
    learned = _learned(trainer, model)
    if stopping is not None and stopping.best is not None:
        learned = replace(learned, model=stopping.best)
    if watcher is not None:
        watcher.look(lambda: (learned.model, trainer.alpha.copy()))
    return learned


def most_epochs(outputs: Outputs, visits: int, budget: int | None, *, adapt: bool) -> int:
    """Return how many epochs `learn_terms` needs at most for so many visits."""
    n, several = len(outputs), outputs.count > 1
    trial = trial_visits(visits, budget) if adapt and not several else visits
    epochs = -(-trial // n) - (-(visits - trial) // n)
    return epochs * outputs.count if budget is None else epochs


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


def _watch(
    trainer: Trainer,
    learned: Callable[[], Learned] | None,
    stopping: EarlyStopping | None,
    epochs: EpochHooks | None,
) -> None:
    """Have early stopping and callbacks look at every epoch, and at what is `learned` by then."""

    def after_epoch() -> bool:
        done = (
            stopping is not None and learned is not None and stopping.after_epoch(learned().model)
        )
        return (epochs is not None and epochs.end(learned)) or done

    if epochs is not None:
        trainer.before_epoch = lambda: epochs.begin(learned if trainer.terms.size else None)
    if not (epochs is None and stopping is None):
        trainer.after_epoch = after_epoch


def _learned(trainer: Trainer, before: KernelExpansion) -> Learned:
    """Return the state of training, with a model without terms of no weight."""
    size = trainer.terms.size
    own = (
        trainer.coef[:size].T
        if isinstance(trainer, JointTrainer)
        else trainer.terms.coef[np.newaxis, :size]
    )
    used = own.any(axis=0)
    coef = np.ascontiguousarray(own[:, used]) * trainer.scale
    bias = trainer.bias * trainer.scale if len(trainer.bias) else np.zeros(len(coef))
    model = replace(before, points=trainer.terms.points()[used], coef=coef, bias=bias)
    return Learned(model, trainer.t, len(trainer.history), trainer.history)

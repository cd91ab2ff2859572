"""Phase 1: from a model to a model with other terms, or with fewer."""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from budgetsvm import _core
from budgetsvm._common.records import Fields, Record
from budgetsvm._learn.early_stopping import EarlyStopping
from budgetsvm._learn.joint_trainer import JointTrainer
from budgetsvm._learn.keeper import NOTHING_KEPT, Keeper, PartKeeper
from budgetsvm._learn.output_trainer import OutputTrainer, trial_visits
from budgetsvm._learn.separate_outputs import SeparateOutputs
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._learn.trainer import Trainer
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import entry_room
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import SingleTarget, Targets
from budgetsvm.monitoring._observer import NOBODY, Learned, Observers, Phase

_PLAIN_EPOCHS = 5
_EPOCHS, _MOST_VISITS = 2, 1_000_000
_FEWEST_VISITS_PER_TERM = 20
_FEW_TERMS = 1000  # of which more are worth more visits, as the polish costs more, too


class Visits(NamedTuple):
    """How many visits phase 1 makes, as a `Plan` has it: so many at most, and when they may be enough."""

    most: int
    enough: int | None = None


def visits_of_epochs(
    epochs: float | Literal["auto"], n: int, budget: int, *, polish: bool
) -> Visits:
    """Return how many visits phase 1 makes.

    Before a polish, two epochs: more make better terms, but slowly (docs/theory.md has the figures).
    A few visits per term are needed in any case, and a million are enough for any number of rows. Of more than
    a thousand terms, the more the more there are, as long as they learn something.
    """
    if epochs != "auto":
        return Visits(max(1, round(epochs * n)))
    if not polish:
        return Visits(_PLAIN_EPOCHS * n)
    enough = max(min(_EPOCHS * n, _MOST_VISITS), _FEWEST_VISITS_PER_TERM * budget)
    most = enough * budget // _FEW_TERMS
    return Visits(most, enough) if most > enough else Visits(enough)


def phase_of(plan: Plan, targets: Targets, budget: int | None) -> Phase:
    """Return what observers are told of a plan: its visits, and how many epochs they take at most."""
    n, visits, several = len(targets), plan.visits, targets.count > 1
    trial = trial_visits(visits, budget) if plan.tries and not several else visits
    epochs = -(-trial // n) - (-(visits - trial) // n)
    labels = isinstance(targets, SingleTarget) and bool((targets.y < 0).any())
    classes = labels or targets.has_classes
    if budget is None:
        total = visits * targets.total_rows // n
        return Phase("learn", total, epochs * targets.count, classes)
    return Phase("learn", visits, epochs, classes)


def learn_terms(
    model: KernelExpansion,
    problem: Problem,
    settings: Settings,
    plan: Plan,
    rng: np.random.Generator,
    *,
    observers: Observers = NOBODY,
    stopping: EarlyStopping | None = None,
    keeper: Keeper = NOTHING_KEPT,
) -> Learned:
    """Train a model further, by the visits of a plan or until it is stopped; or go on from where it was broken off."""
    model = reduce_to_budget(model, settings)
    kind = _trainer(problem, settings)
    if stopping is not None:
        if kind is SeparateOutputs:
            message = "early_stopping of more than two classes, or several targets, needs a budget, not None"
            raise ValueError(message)
        observers = observers.joined_by(stopping)
    trainer = kind(model, problem, settings, rng, observers, done=plan.done)
    _go_on(trainer, plan, stopping, keeper)
    trainer.learn(plan)
    moment = trainer.moment()
    assert moment.learned is not None
    learned = moment.learned()
    if stopping is not None and stopping.best is not None:
        learned = replace(learned, model=stopping.best)
    observers.end_learning(replace(moment, learned=lambda: learned))
    return learned


def _go_on(trainer: Trainer, plan: Plan, stopping: EarlyStopping | None, keeper: Keeper) -> None:
    """Let a trainer, and what stops it, go on from where they were broken off, if they were; and have their state kept."""

    def surround(state: Record) -> Record:
        return {"trainer": state, "stopping": None if stopping is None else stopping.record()}

    def restore(fields: Fields) -> None:
        trainer.restore(fields.inside("trainer"), plan)
        if stopping is None:
            fields.optional(lambda name: fields.fail(name, "must be None"), "stopping")
        else:
            stopping.restore(fields.inside("stopping"), trainer.result().model)
        fields.end()

    trainer.keeper = PartKeeper(keeper, surround)
    keeper.resume(restore)


def _trainer(
    problem: Problem, settings: Settings
) -> type[OutputTrainer] | type[JointTrainer] | type[SeparateOutputs]:
    if problem.targets.count == 1:
        return OutputTrainer
    return SeparateOutputs if settings.budget is None else JointTrainer


def reduce_to_budget(model: KernelExpansion, settings: Settings) -> KernelExpansion:
    """Return the model with `budget` terms or, by multi-merge, a few less; as it is if it has no more."""
    budget = settings.budget
    if budget is None or len(model) <= budget:
        return model
    several = len(model.coef) > 1
    terms = model.stored(room=entry_room(model.points) if model.sparse_points else 0)
    rows = np.zeros((terms.capacity, len(model.coef)))
    rows[: len(model)] = model.coef.T
    how = (terms.core_kernel(model.kernel), settings.maintenance.core(), budget)
    while terms.size > budget:  # a bounded amount of work each time: Ctrl-C works in between
        if several:
            terms.size, _ = _core.joint_reduce(terms.arrays, terms.size, rows, *how)
        else:
            terms.size, _ = _core.reduce(terms.arrays, terms.size, *how)
    own = rows[: terms.size].T if several else terms.coef[np.newaxis, : terms.size]
    return replace(model, points=terms.points(), coef=np.ascontiguousarray(own))

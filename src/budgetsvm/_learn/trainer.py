"""Train a model by visiting training points one after the other: what all trainers have in common.

Python draws the visiting order and hands the core blocks of rows, each a bounded amount of work; in
between, Ctrl-C and all who follow the fit have their turn.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.records import Fields, Record
from budgetsvm._learn.keeper import NOTHING_KEPT, Keeper, Position, history_table, read_history
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import entry_room
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import kernel_diagonal
from budgetsvm.monitoring._observer import (
    NOBODY,
    Counts,
    EpochRecord,
    Learned,
    LearnMoment,
    Observers,
)

# Work of one call of the core, in multiply-adds: some 0.1 s at the very most.
_CALL_WORK = 1e9
_MOST_VISITS_PER_CALL = 65536
# What a kernel value costs beyond its dot product, in multiply-adds; and a row of them from Python.
_KERNEL_WORK, _PYTHON_WORK = 16, _CALL_WORK / 256

# Of the loss per visit, what a later epoch must take away for another one to follow. In the first one all begins with a
# loss of 1, so that the second is better in any case.
_FIRST_GAIN, _GAIN = 0.05, 0.01

# Points that the core evaluates at once. In larger batches more has changed when a point's turn comes,
# for smaller ones the terms are read more often; the result is the same up to rounding.
BATCH_SIZE = 32


class Trainer(ABC):
    """Trains a model on a problem; `result` is what it has learned so far."""

    keeper: Keeper = NOTHING_KEPT  #: of its state, between two calls of the core

    @abstractmethod
    def restore(self, fields: Fields, plan: Plan) -> None:
        """Take over the state that another trainer has kept; `learn` then goes on from there."""

    @abstractmethod
    def learn(self, plan: Plan) -> None:
        """Make the visits of a plan."""

    @abstractmethod
    def result(self) -> Learned:
        """Return the state of training, with a model without terms of no weight."""

    @abstractmethod
    def moment(self, visits: int = 0, counts: Counts | None = None) -> LearnMoment:
        """Return what observers get to see after so many visits."""


class VisitingTrainer(Trainer):
    """Trains all outputs of a model by the same visits, epoch by epoch."""

    alpha: NDArray[Any]  #: the dual variables, `scale` times
    shows_model: bool = True  #: to observers; not where it is but a part of one

    def __init__(
        self,
        model: KernelExpansion,
        problem: Problem,
        settings: Settings,
        rng: np.random.Generator,
        observers: Observers = NOBODY,
        *,
        done: int = 0,
        until: float = inf,
    ) -> None:
        self.model = model  #: what it began with
        self.problem = problem
        self.settings = settings
        self.rng = rng
        self.observers = observers
        self.until = until
        self.t = done  #: visits so far, earlier calls included
        self.scale = 1.0  #: of what the stored coefficients are, to what they stand for
        self.history: list[EpochRecord] = []
        self.stopped = False  #: because an observer, or the clock, said so
        self.bias = model.bias.copy() if settings.intercept else np.empty(0)
        room = entry_room(problem.rows.X) if model.sparse_points else 0
        self.terms = model.stored(settings.budget or 0, room)
        if settings.budget is not None:  # each visit of a small data set adds one at most
            self.terms.reserve(settings.budget + 1)
        self._lost = 0.0  # sum over the runs of maintenance, of the share of a step that they cost
        self._resumed: Position | None = None

    def learn(self, plan: Plan) -> None:
        """Make the visits of a plan."""
        self.until = plan.until
        (self.learn_basis if plan.adapt else self.run)(plan)

    @abstractmethod
    def learn_basis(self, plan: Plan) -> None:
        """Train for the sake of the terms; their coefficients will be found anew by the polish."""

    def run(self, plan: Plan) -> None:
        """Train; ends early if an epoch changed nothing, as then no later one will."""
        solver, at = self.settings.solver, self._take_up()
        if at is None:
            at = Position(plan.visits)
            self._multiply(solver.magnification(self.t))
        self._set_scale()
        try:
            while at.left > 0:
                self.observers.begin_epoch(self.moment())
                at = replace(at, random=at.random or self.rng.bit_generator.state)
                order = solver.visiting_order(len(self.problem.targets), self.rng)[: at.left]
                record = self._epoch(order, at)
                self.history.append(record)
                at = Position(at.left - len(order))
                idle = record["steps"] == 0 and solver.order == "permutation"
                wants_no_more = self.observers.end_epoch(self.moment())
                self.stopped = wants_no_more or self.observers.clock() >= self.until
                if self.stopped or idle or self._has_learned_enough(plan):
                    break
        finally:
            magnified = max(1, solver.magnification(self.t))
            self._multiply(1 / magnified)
            self.alpha /= magnified
            self.scale = 1.0

    def _has_learned_enough(self, plan: Plan) -> bool:
        """Whether there were visits enough, and the last epoch's loss was hardly less than that of the one before."""
        n, visits = len(self.problem.targets), sum(record["visits"] for record in self.history)
        whole = [record["loss"] for record in self.history if record["visits"] == n]
        if plan.enough is None or visits < plan.enough or len(whole) < 2:
            return False
        return whole[-1] > (1 - (_FIRST_GAIN if len(whole) == 2 else _GAIN)) * whole[-2]

    def visit(self, order: NDArray[np.int64]) -> Counts:
        """Visit these points by one call of the core."""
        self.terms.size, counts = self._call_core(order)
        self.t += len(order)
        self._lost += counts.lost
        return counts

    def state(self, at: Position) -> Record:
        """Return all it takes to go on from a position; arrays are not copied."""
        return {
            "position": at.record(),
            "t": self.t,
            "lost": self._lost,
            "history": history_table(self.history),
            "terms": self.terms.record(),
            "bias": self.bias,
            "alpha": self.alpha,
        }

    def restore(self, fields: Fields, plan: Plan) -> None:
        """Take over the state that another trainer has kept; `learn` then goes on from there."""
        n = len(self.problem.targets)
        most = self.settings.budget or len(self.model) + n
        self._resumed = Position.of_record(fields.inside("position"), plan.visits, n, self.rng)
        self.t = int(fields.count("t"))
        self._lost = float(fields.number("lost"))
        self.history[:] = read_history(fields, "history")
        self.terms.restore(fields.inside("terms"), most)
        for name, own in (("bias", self.bias), ("alpha", self.alpha)):
            own[:] = fields.weights(name, own.shape, own.dtype)

    def _take_up(self) -> Position | None:
        """Return where to go on, with the generator as it was when that epoch began; once."""
        at, self._resumed = self._resumed, None
        if at is not None and at.random is not None:
            self.rng.bit_generator.state = at.random
            before = sum(record["visits"] for record in self.history)
            if before:  # of which observers have heard nothing
                self.observers.after_visits(self.moment(before))
        return at

    def result(self) -> Learned:
        """Return the state of training, with a model without terms of no weight."""
        own = self._coefficients()
        used = own.any(axis=0)
        coef = np.ascontiguousarray(own[:, used]) * self.scale
        bias = self.bias * self.scale if len(self.bias) else np.zeros(len(coef))
        model = replace(self.model, points=self.terms.points()[used], coef=coef, bias=bias)
        return Learned(model, self.t, len(self.history), self.history)

    def moment(self, visits: int = 0, counts: Counts | None = None) -> LearnMoment:
        """Return what observers get to see after so many visits."""
        learned = self.result if self.shows_model else None
        alpha = (lambda: self.alpha * self.scale) if self.shows_model else None
        return LearnMoment(visits, counts or Counts(), self.terms.size, learned, alpha)

    @abstractmethod
    def _coefficients(self) -> NDArray[np.float64]:
        """Return those of the terms in use, as they are stored: (outputs, terms)."""

    @abstractmethod
    def _call_core(self, order: NDArray[np.int64]) -> tuple[int, Counts]:
        """Visit these points; returns how many terms there are now, and what was counted."""

    def _multiply(self, factor: float) -> None:
        """Multiply the model."""
        self.terms.coef *= factor
        self.bias *= factor

    def _set_scale(self) -> None:
        self.scale = 1 / max(1, self.settings.solver.magnification(self.t))

    def _epoch(self, order: NDArray[np.int64], at: Position) -> EpochRecord:
        clock = self.observers.clock
        start, visited, totals = clock() - at.seconds, at.visited, at.totals
        if visited:
            self.observers.after_visits(self.moment(visited, totals))
        while visited < len(order) and (visited == 0 or clock() < self.until):
            part = order[visited : visited + self._visits_per_call()]
            counts = self.visit(part)
            totals = totals.plus(counts)
            visited += len(part)
            self._set_scale()
            self.observers.after_visits(self.moment(len(part), counts))
            if self.keeper.due():
                seconds = clock() - start
                now = replace(at, visited=visited, totals=totals, seconds=seconds)
                self.keeper.keep(self.state(now))
        return {
            "visits": visited,
            "steps": int(totals.steps),
            "violations": int(totals.violations),
            "mistakes": int(totals.mistakes),
            "merges": int(totals.merges),
            "degradation": totals.degradation,
            "loss": totals.loss / visited,
            "size": self.terms.size,
            "seconds": clock() - start,
        }

    @property
    def _n_total(self) -> float:
        """The n of BSGD's learning rate."""
        return float(self.problem.n_total or len(self.problem.targets))

    def _diagonal(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return k(x, x) of the rows to visit; a constant feature, for a bias, adds 1."""
        diagonal = kernel_diagonal(self.problem.rows, self.settings.kernel, order)
        return diagonal + (len(self.bias) > 0)

    def _visits_per_call(self) -> int:
        """How many visits are a bounded amount of work."""
        settings, n_outputs = self.settings, self.problem.targets.count
        size = max(self.terms.size, settings.budget or 0, 64)
        work = size * (self.problem.rows.row_cost + _KERNEL_WORK + n_outputs)
        work += settings.maintenance.work(size, n_outputs)
        if settings.kernel.in_python:
            work = _PYTHON_WORK
        # Without a budget each visit needs room for a term.
        most = _MOST_VISITS_PER_CALL if settings.budget else _MOST_VISITS_PER_CALL // 8
        batch = self._batch_size
        # Whole batches: then it does not matter for the result where calls end.
        visits = max(batch, int(min(_CALL_WORK / work, most)) // batch * batch)
        return min(visits, self.observers.visits_until_look(batch)) if self.shows_model else visits

    @property
    def _batch_size(self) -> int:
        return BATCH_SIZE

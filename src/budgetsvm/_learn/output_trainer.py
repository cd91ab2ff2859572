"""Phase 1 for one output: two classes, a single target, or a density."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.records import Fields, Record
from budgetsvm._learn.keeper import Position
from budgetsvm._learn.settings import Plan
from budgetsvm._learn.trainer import BATCH_SIZE, VisitingTrainer
from budgetsvm.monitoring._observer import Counts
from budgetsvm.solvers import Upkeep

# With a budget that suffices, the loss per visit is 0.04 or less on all data that we know; where it
# exceeds what a solver bears (solvers.py), this C gives the best terms (docs/theory.md).
_CAUTIOUS_C = 0.3

_CORE: dict[str, Callable[..., tuple[Any, ...]]] = {"bsca": _core.bsca, "bsgd": _core.bsgd}


_TRIAL_VISITS_PER_TERM = 40


def trial_visits(visits: int, budget: int | None) -> int:
    """Return how many of these visits `OutputTrainer.learn_basis` makes before it decides."""
    return min(visits, _TRIAL_VISITS_PER_TERM * budget) if budget else visits


class CoreProblem(NamedTuple):
    """What the core calls a *problem*: rows to visit, and what belongs to all rows."""

    loss: tuple[str, float]
    order: NDArray[np.int64]
    diagonal: NDArray[np.float64]
    y: NDArray[np.float64]
    targets: NDArray[np.float64]
    box: NDArray[np.float64]
    alpha: NDArray[np.float64]
    slots: NDArray[np.int32]
    bias: NDArray[np.float64]


class OutputTrainer(VisitingTrainer):
    """Trains a model with one output."""

    def __init__(self, *args: Any, batch_size: int = BATCH_SIZE, **named: Any) -> None:
        super().__init__(*args, **named)
        self.batch_size = batch_size
        n = len(self.problem.targets)
        self.alpha = np.zeros(n)
        #: without a budget, the term of each row, or -1
        self.slots = np.full(n if self.settings.budget is None else 0, -1, np.int32)
        self._tried = False  # whether the trial is over
        self._cautious = False  # whether it has led to a smaller C

    def learn_basis(self, plan: Plan) -> None:
        """Train for the sake of the terms; their coefficients will be found anew by the polish.

        Where the kernel is so narrow, or the budget so small, that maintenance destroys most of what
        the steps insert, terms come and go at random. Then smaller steps are better: with a small C a
        term must be confirmed by several points before it weighs much. A short trial decides.
        """
        if not plan.tries:
            self.run(plan)
            return
        trial = trial_visits(plan.visits, self.settings.budget)
        if not self._tried:
            self.run(replace(plan, visits=trial))
            if self.stopped:
                return
            self._tried = True
            if trial < plan.visits and self._overwhelmed():
                self._be_cautious()
                self.alpha[:] = 0
                self.bias[:] = 0
                self.terms.size = self.t = 0
        self.run(replace(plan, visits=plan.visits - trial))

    def _be_cautious(self) -> None:
        """Go over to a smaller C."""
        targets, self._cautious = self.problem.targets, True
        scale = min(1.0, _CAUTIOUS_C / float(np.median(targets.box)))
        self.problem = replace(self.problem, targets=targets.scaled(scale))

    def state(self, at: Position) -> Record:
        """Return all it takes to go on from a position."""
        own = {"slots": self.slots, "tried": self._tried, "cautious": self._cautious}
        return super().state(at) | own

    def restore(self, fields: Fields, plan: Plan) -> None:
        """Take over the state that another trainer has kept."""
        super().restore(fields, plan)
        slots = fields.array("slots", (np.int32,), self.slots.shape, finite=True)
        if slots.min(initial=-1) < -1 or slots.max(initial=-1) >= self.terms.size:
            fields.fail("slots", "must have numbers of terms")
        self.slots[:] = slots
        self._tried = bool(fields.truth("tried"))
        if fields.truth("cautious"):
            self._be_cautious()
        fields.end()

    def _overwhelmed(self) -> bool:
        """Return whether maintenance destroys much of what the steps insert, once the budget is full."""
        maintenance = self.settings.maintenance
        if not maintenance.makes_new_terms:
            return False
        full = [record for record in self.history if record["merges"]]
        upkeep = Upkeep(
            visits=sum(record["visits"] for record in full),
            steps=sum(record["merges"] for record in full) * maintenance.steps_per_run,
            degradation=sum(record["degradation"] for record in full),
            lost=self._lost,
        )
        return self.settings.solver.is_overwhelmed(upkeep)

    def _coefficients(self) -> NDArray[np.float64]:
        return self.terms.coef[np.newaxis, : self.terms.size]

    def _call_core(self, order: NDArray[np.int64]) -> tuple[int, Counts]:
        problem, settings, terms = self.problem, self.settings, self.terms
        if settings.budget is None:
            terms.reserve(terms.size + len(order))
        size, *counts = _CORE[settings.solver.name](
            problem.rows.source(order),
            self._core_problem(order),
            terms.arrays,
            terms.size,
            settings.budget or 0,
            terms.core_kernel(settings.kernel),
            settings.maintenance.core(),
            (self.batch_size, settings.n_threads),
            *settings.solver.clock(self.t, self._n_total),
        )
        return size, Counts(*counts)

    def _core_problem(self, order: NDArray[np.int64]) -> CoreProblem:
        targets = self.problem.targets.of_output(0)
        # One target for all need not be repeated.
        target = targets.target if targets.target.strides[0] else targets.target[:1].copy()
        loss, diagonal = targets.loss.core(), self._diagonal(order)
        own = (targets.y, target, targets.box, self.alpha)
        return CoreProblem(loss, order, diagonal, *own, self.slots, self.bias)

    @property
    def _batch_size(self) -> int:
        return self.batch_size

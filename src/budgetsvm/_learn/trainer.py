"""Phase 1: train the terms of a model by visiting training points one after the other.

Python draws the visiting order and hands the core blocks of rows, each a bounded amount of work; in
between, Ctrl-C, progress and bookkeeping have their turn.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.progress import Progress
from budgetsvm._learn.settings import Settings
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import dense_block, squared_norms
from budgetsvm.kernels import Callback
from budgetsvm.maintenance import Merge, Project
from budgetsvm.monitoring._watcher import State, Watcher
from budgetsvm.solvers import BSGD

_PLAIN_EPOCHS = 5
_FEWEST_VISITS_PER_TERM, _MOST_VISITS = 20, 1_000_000

# The trial of learn_basis. With a budget that suffices, the loss per visit is 0.04 or less on all data
# that we know; where it exceeds the limit, C = 0.3 gives the best terms (docs/theory.md). BSGD loses a
# tenth of a step at most there, and a third or more where the smaller C helps.
_TRIAL_VISITS_PER_TERM = 40
_OVERWHELMED, _STEPS_OVERWHELMED, _CAUTIOUS_C = 0.15, 0.2, 0.3

# Points that the core evaluates at once. In larger batches more has changed when a point's turn comes,
# for smaller ones the terms are read more often; the result is the same up to rounding.
_BATCH_SIZE = 32

# Work of one call of the core, in multiply-adds: some 0.1 s at the very most.
_CALL_WORK = 1e9
_MOST_VISITS_PER_CALL = 65536
# What a kernel value costs beyond its dot product, in multiply-adds.
_KERNEL_WORK = 16
# What a golden section search costs, of one output and of several, and projection per pair of terms.
_GOLDEN_WORK, _JOINT_GOLDEN_WORK, _PROJECT_WORK = 5000, 25000, 10


_Vector: TypeAlias = NDArray[np.float64]
CoreProblem: TypeAlias = tuple[
    tuple[str, float],
    NDArray[np.int64],
    _Vector,
    _Vector,
    _Vector,
    _Vector,
    _Vector,
    NDArray[np.int32],
    _Vector,
]


class EpochRecord(TypedDict):
    """What happened in one epoch."""

    visits: int  #: training points looked at
    steps: int  #: visits that changed the model
    violations: int  #: visits with a loss, e.g. with a margin below 1
    mistakes: int  #: visits with the wrong sign, before the step: the error so far
    merges: int  #: runs of budget maintenance
    degradation: float  #: sum of the ‖Δw‖² that maintenance caused
    loss: float  #: mean loss at the visits, before the step
    size: int  #: terms at the end
    seconds: float


def phase_one_visits(epochs: float | Literal["auto"], n: int, budget: int, *, polish: bool) -> int:
    """Return how many visits phase 1 makes.

    Before a polish, two epochs: more make better terms, but slowly (docs/theory.md has the figures).
    A few visits per term are needed in any case, and a million are enough for any number of rows.
    """
    if epochs != "auto":
        return max(1, round(epochs * n))
    if not polish:
        return _PLAIN_EPOCHS * n
    fewest = _FEWEST_VISITS_PER_TERM * budget
    return min(max(2 * n, fewest), max(_MOST_VISITS, fewest))


def trial_visits(visits: int, budget: int | None) -> int:
    """Return how many of these visits `Trainer.learn_basis` makes before it decides."""
    return min(visits, _TRIAL_VISITS_PER_TERM * budget) if budget else visits


@dataclass
class Trainer:
    """Trains `terms` on a problem with one output, epoch by epoch."""

    settings: Settings
    problem: Problem
    terms: TermStore
    rng: np.random.Generator
    t: int = 0  #: visits before, for the step size of BSGD
    n_threads: int = 1
    bias: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  #: one number or none
    batch_size: int = _BATCH_SIZE
    alpha: NDArray[Any] = field(init=False)
    history: list[EpochRecord] = field(default_factory=list)
    before_epoch: Callable[[], None] | None = None
    after_epoch: Callable[[], bool] | None = None  #: says whether to stop
    stopped: bool = False  #: because it said so
    scale: float = 1.0  #: of what the stored coefficients are, to what they stand for
    watcher: Watcher | None = None
    state: State | None = None  #: what the watcher gets to see
    until: float = np.inf  #: a value of the clock at which to stop

    def __post_init__(self) -> None:
        n = len(self.problem.outputs)
        self.alpha = np.zeros(n)
        self._lost = 0.0  # sum over the runs of maintenance, of the share of a step that they cost
        unlimited = self.settings.budget is None
        self._slots = np.full(n if unlimited else 0, -1, np.int32)
        if self.settings.budget is not None:  # each visit of a small data set adds one at most
            self.terms.reserve(self.settings.budget + 1)

    def learn_basis(self, visits: int, progress: Progress) -> None:
        """Train for the sake of the terms; their coefficients will be found anew by the polish.

        Where the kernel is so narrow, or the budget so small, that maintenance destroys most of what
        the steps insert, terms come and go at random. Then smaller steps are better: with a small C a
        term must be confirmed by several points before it weighs much. A short trial decides.
        """
        trial = trial_visits(visits, self.settings.budget)
        self.run(trial, progress)
        if self.stopped:
            return
        if trial < visits and self._overwhelmed():
            outputs = self.problem.outputs
            scale = min(1.0, _CAUTIOUS_C / float(np.median(outputs.box)))
            self.problem = replace(self.problem, outputs=outputs.scaled(scale))
            self.alpha[:] = 0
            self.bias[:] = 0
            self.terms.size = self.t = 0
        self.run(visits - trial, progress)

    def _overwhelmed(self) -> bool:
        """Return whether maintenance destroys much of what the steps insert, once the budget is full."""
        maintenance = self.settings.maintenance
        if not isinstance(maintenance, Merge):
            return False
        full = [record for record in self.history if record["merges"]]
        if isinstance(self.settings.solver, BSGD):
            # Steps shrink as 1 / t: what counts is the share of each. One run serves n_terms - 1 of them.
            steps = sum(record["merges"] for record in full) * (maintenance.n_terms - 1)
            return self._lost > _STEPS_OVERWHELMED * steps
        visits = sum(record["visits"] for record in full)  # a step inserts about 1 at most
        return sum(record["degradation"] for record in full) > _OVERWHELMED * visits

    def run(self, visits: int, progress: Progress) -> None:
        """Train; ends early if an epoch changed nothing, as then no later one will."""
        if isinstance(self.settings.solver, BSGD):
            self._rescale(self.t)  # see bsgd.hpp: stored as t times their value
            self.scale = 1 / max(1, self.t)
        try:
            while visits > 0:
                if self.before_epoch is not None:
                    self.before_epoch()
                n = len(self.problem.outputs)
                order = self.settings.solver.visiting_order(n, self.rng)[:visits]
                record = self._epoch(order, progress)
                self.history.append(record)
                visits -= len(order)
                idle = record["steps"] == 0 and self.settings.solver.order == "permutation"
                wants_no_more = self.after_epoch is not None and self.after_epoch()
                self.stopped = wants_no_more or self._clock() >= self.until
                if self.stopped or idle:
                    break
        finally:
            if isinstance(self.settings.solver, BSGD):
                self._rescale(1 / max(1, self.t))
                self.scale = 1.0
                self.alpha /= max(1, self.t)

    def _rescale(self, factor: float) -> None:
        """Multiply the model."""
        self.terms.coef *= factor
        self.bias *= factor

    def _epoch(self, order: NDArray[np.int64], progress: Progress) -> EpochRecord:
        start = self._clock()
        totals = np.zeros(6)
        visited = 0
        while visited < len(order) and (visited == 0 or self._clock() < self.until):
            part = order[visited : visited + self._visits_per_call()]
            counts = self._visit(part)
            totals += counts
            visited += len(part)
            if isinstance(self.settings.solver, BSGD):
                self.scale = 1 / self.t
            if self.watcher is not None and self.state is not None:
                self.watcher.after_visits(len(part), counts, self.state)
            error = 100 * totals[2] / visited
            progress.advance(len(part), size=str(self.terms.size), error=f"{error:.2f}%")
        return {
            "visits": visited,
            "steps": int(totals[0]),
            "violations": int(totals[1]),
            "mistakes": int(totals[2]),
            "merges": int(totals[3]),
            "degradation": float(totals[4]),
            "loss": float(totals[5]) / visited,
            "size": self.terms.size,
            "seconds": self._clock() - start,
        }

    def _clock(self) -> float:
        return perf_counter() if self.watcher is None else self.watcher.clock()

    def _visit(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """One call of the core. Returns what it counted."""
        problem, settings, terms = self.problem, self.settings, self.terms
        if settings.budget is None:
            terms.reserve(terms.size + len(order))
        arguments = (
            problem.rows.source(order),
            self._core_problem(order),
            terms.arrays,
            terms.size,
            settings.budget or 0,
            terms.core_kernel(settings.kernel),
            settings.maintenance.core(),
            (self.batch_size, self.n_threads),
        )
        if isinstance(settings.solver, BSGD):
            terms.size, *counts, lost = _core.bsgd(*arguments, self.t, self._n_total)
        else:
            terms.size, *counts, lost = _core.bsca(*arguments)
        self._lost += lost
        self.t += len(order)
        return np.array(counts, dtype=np.float64)

    @property
    def _n_total(self) -> float:
        """The n of BSGD's learning rate."""
        return float(self.problem.n_total or len(self.problem.outputs))

    def _core_problem(self, order: NDArray[np.int64]) -> CoreProblem:
        """Return what the core calls a *problem*."""
        targets = self.problem.outputs.of_output(0)
        # A constant feature adds 1 to k(x, x); one target for all need not be repeated.
        diagonal = self._diagonal(order) + len(self.bias)
        target = targets.target if targets.target.strides[0] else targets.target[:1].copy()
        own = (targets.y, target, targets.box, self.alpha)
        return (targets.loss.core(), order, diagonal, *own, self._slots, self.bias)

    def _diagonal(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return k(x, x) of the rows to visit."""
        kernel = self.settings.kernel
        if kernel.translation_invariant:
            return np.ones(len(order))
        block = self.problem.rows.block(order)
        if not isinstance(kernel, Callback):
            return kernel.diagonal(squared_norms(block))
        block = dense_block(block, self.terms.panels.shape[1])
        return np.array([kernel.row(x, x[np.newaxis])[0] for x in block])

    def _visits_per_call(self) -> int:
        """How many visits are a bounded amount of work."""
        size = max(self.terms.size, self.settings.budget or 0, 64)
        work = size * (self.problem.rows.row_cost + _KERNEL_WORK + self.problem.outputs.count)
        match self.settings.maintenance:
            case Project():
                work += _PROJECT_WORK * size * size
            case Merge(search="golden"):
                several = self.problem.outputs.count > 1
                work += size * (_JOINT_GOLDEN_WORK if several else _GOLDEN_WORK)
        if isinstance(self.settings.kernel, Callback):
            work = _CALL_WORK / 256
        # Without a budget each visit needs room for a term.
        most = _MOST_VISITS_PER_CALL if self.settings.budget else _MOST_VISITS_PER_CALL // 8
        fewest = self.batch_size
        # Whole batches: then it does not matter for the result where calls end.
        visits = max(fewest, int(min(_CALL_WORK / work, most)) // fewest * fewest)
        return visits if self.watcher is None else min(visits, self.watcher.until_next(fewest))

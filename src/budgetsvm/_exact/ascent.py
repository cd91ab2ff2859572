"""The dual problems of all outputs, on common kernel values: how far to climb, and when to give up."""

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._exact.dual import Certificate, OutputDual, set_size
from budgetsvm._exact.fewer_terms import Expansion, has_low_rank, is_rough, whole
from budgetsvm._exact.kernel_rows import KernelRows
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.polish import Polishing
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import dense_points, kernel_diagonal
from budgetsvm.kernels import Kernel
from budgetsvm.monitoring._observer import PolishMoment

_Vector = NDArray[np.float64]

# Multiplications: what both phases would take, roughly, in passes over B columns and factorisations of B³.
_PASSES, _FACTORISATIONS, _LEAST_WORK = 100, 0.5, 2e8
_SOME_PASSES = 3
_UNFORESEEN = 0.2  # of the time in doubt
_TOO_MANY = 1.05  # times the budget: support vectors, before that is looked at
#: Of the memory limit, for kernel values; the rest is for the points.
HELD_SHARE = 0.75


class Ascent:
    """Solves the duals of all outputs, one after the other."""

    def __init__(self, kernel: Kernel, problem: Problem, how: Polishing, budget: int) -> None:
        rows, limits = problem.rows, how.limits
        n, size = len(rows), np.dtype(rows.dtype).itemsize
        self.kernel, self.problem, self.how, self.budget = kernel, problem, how, budget
        self.diagonal = kernel_diagonal(rows, kernel, np.arange(n))
        # What the machine has no room for, though it may be used, is computed again.
        room = int(HELD_SHARE * min(limits.memory, limits.room) / (n * size))
        self._values = KernelRows(rows, kernel, limits, max(room, set_size(n), budget))
        self.duals: list[OutputDual] = []
        outputs = problem.targets.count
        work = _PASSES * n * budget + _FACTORISATIONS * float(budget) ** 3
        self._most_work = max(_LEAST_WORK, outputs * work)
        self._probed, self._ranked = n <= budget, False
        self._past: list[tuple[float, float]] = []  # moments, and gaps of an output

    def begin(self, alpha: _Vector | None) -> None:
        """Begin at α, as far as it is feasible, or at 0."""
        targets = self.problem.targets
        for c in range(targets.count):
            single, start = targets.of_output(c), np.zeros(len(targets))
            if alpha is not None and targets.count == 1:
                start = single.loss.feasible(alpha / single.box) * single.box
            intercept = self.how.intercept
            self.duals.append(OutputDual(self._values, single, start, constant=intercept))

    def expansion(self) -> Expansion:
        """Return the model of all outputs."""
        return whole(self.duals)

    def climb_to(self, gap: float) -> bool:
        """Climb until every output has this gap, or the limits are reached; returns False to give up."""
        return all(self._climb(dual, gap) for dual in self.duals)

    def _climb(self, dual: OutputDual, gap: float) -> bool:
        limits, self._past = self.how.limits, []
        while True:
            limits.tick()
            found = dual.certificate()
            self._show(dual, found)
            if found.gap <= gap or dual.passes >= limits.max_passes:
                return True
            self._look_ahead(found.gap, gap)
            if self._is_too_dear() or self._is_rough() or self._has_low_rank():
                return False
            if not dual.climb():
                return True

    def _look_ahead(self, gap: float, goal: float) -> None:
        """Raise OutOfTime where there is some doubt that the goal is reached in time, and no sign of it.

        The gap falls about as fast as it did in the later half of the time so far.
        """
        limits = self.how.limits
        now = limits.clock()
        self._past.append((now, gap))
        if now < limits.doubtful:
            return
        then, before = self._past[len(self._past) // 2]
        rate = np.log(before / gap) / (now - then) if now > then and gap > 0 else 0.0
        to_come = len(self.duals) * np.log(gap / goal) / rate if rate > 0 and goal > 0 else np.inf
        if now + to_come > limits.deadline - _UNFORESEEN * (limits.deadline - limits.doubtful):
            raise OutOfTime

    def _is_too_dear(self) -> bool:
        return self._work > self._most_work

    @property
    def _work(self) -> float:
        return sum(dual.work for dual in self.duals)

    def _has_low_rank(self) -> bool:
        """Whether both phases would be cheap; looked at when it is clear that the ascent takes its time."""
        if self._ranked or self._work < _SOME_PASSES * len(self.diagonal) ** 2:
            return False
        self._ranked = True
        return has_low_rank(self.duals, self.diagonal)

    def _is_rough(self) -> bool:
        """Whether there are too many support vectors, and none of them can be left out."""
        if self._probed or len(self.expansion().terms) <= _TOO_MANY * self.budget:
            return False
        self._probed = True
        return is_rough(self.duals, self.diagonal, self.how.limits.tol)

    def _show(self, dual: OutputDual, found: Certificate) -> None:
        """Let the observer look; of several outputs it sees the gap alone."""
        observer = self.how.observer
        if len(self.duals) > 1:
            observer.in_polish(PolishMoment(found.gap, dual.passes))
            return

        def state() -> tuple[KernelExpansion, _Vector]:
            return self.model(self.expansion()), dual.alpha

        objective = found.primal, found.dual
        observer.in_polish(PolishMoment(found.gap, dual.passes, objective, state))

    def model(self, expansion: Expansion) -> KernelExpansion:
        """Return an expansion as a model of its own."""
        rows = self.problem.rows
        points = dense_points(rows, expansion.terms)
        return KernelExpansion(self.kernel, points, expansion.coef, expansion.bias, rows.centre)

"""The dual problems of all outputs, on common kernel values: how far to climb, and when to give up."""

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._exact.dual import Certificate, OutputDual, set_size
from budgetsvm._exact.fewer_terms import Expansion, has_low_rank, is_rough, model_of, whole
from budgetsvm._exact.values.kernel_rows import KernelRows, SomeKernelRows
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.outlook import share_by_gap
from budgetsvm._polish.polish import Polishing
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import kernel_diagonal
from budgetsvm.kernels import Kernel
from budgetsvm.monitoring._observer import PolishMoment

_Vector = NDArray[np.float64]

#: Tasks: until the gap is small enough, and until it is smaller than that, before terms are left out.
CLIMB, CLIMB_ON, LEAVE_OUT, CERTIFY = "climb", "climb on", "leave out", "certify"
# Seconds, beside each other: of n² and n² times the features; of that, what comes after the climb.
_PAIR, _PAIR_FEATURE, _FEWER, _AFTER = 2e-8, 1e-10, 0.4, 0.2

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
        self.values = KernelRows(rows, kernel, limits, max(room, set_size(n), budget))
        self.duals: list[OutputDual] = []
        self._constant = float(self.diagonal.mean()) if how.intercept else 0.0
        work = _PASSES * n * budget + _FACTORISATIONS * float(budget) ** 3
        self._most_work = max(_LEAST_WORK, problem.targets.total_rows / n * work)
        self._work = 0
        self._uses = np.zeros(
            n, np.int64
        )  # of every row, in so many outputs it is a support vector
        self._probed, self._ranked = n <= budget, False
        self._task, self._goal = CLIMB, limits.tol
        how.observer.expect(tasks(problem, budget, limits.n_threads))
        self._past: list[tuple[float, float]] = []  # moments, and gaps of an output

    def begin(self, alpha: _Vector | None) -> None:
        """Begin at α, as far as it is feasible, or at 0."""
        targets = self.problem.targets
        for c in range(targets.count):
            single, rows = targets.of_output(c), targets.rows_of(c)
            start = np.zeros(len(single))
            if alpha is not None and targets.count == 1:
                start = single.loss.feasible(alpha / single.box) * single.box
            values = self.values if rows is None else SomeKernelRows(self.values, rows)
            dual = OutputDual(values, single, start, constant=self._constant, rows=rows)
            self.duals.append(dual)
            self._uses[dual.rows[dual.support]] += 1

    def expansion(self) -> Expansion:
        """Return the model of all outputs."""
        return whole(self.duals, len(self.diagonal))

    def climb_to(self, gap: float) -> bool:
        """Climb until every output has this gap, or the limits are reached; returns False to give up."""
        self._goal = gap
        self.how.observer.in_task(self._task)
        high_enough = all(self._climb(dual, gap) for dual in self.duals)
        self._task = CLIMB_ON
        return high_enough

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
            before, support = dual.work, dual.rows[dual.support]
            goes_on = dual.climb()
            self._work += dual.work - before
            self._uses[support] -= 1
            self._uses[dual.rows[dual.support]] += 1
            if not goes_on:
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

    def _has_low_rank(self) -> bool:
        """Whether both phases would be cheap; looked at when it is clear that the ascent takes its time."""
        if self._ranked or self._work < _SOME_PASSES * len(self.diagonal) ** 2:
            return False
        self._ranked = True
        return has_low_rank(self.values, self.duals, self.diagonal)

    def _is_rough(self) -> bool:
        """Whether there are too many support vectors, and none of them can be left out."""
        if self._probed or np.count_nonzero(self._uses) <= _TOO_MANY * self.budget:
            return False
        self._probed = True
        return is_rough(self.values, self.duals, self.diagonal, self.how.limits.tol)

    def _show(self, dual: OutputDual, found: Certificate) -> None:
        """Let the observer look; of several outputs it sees the gap alone."""
        observer, count = self.how.observer, len(self.duals)
        done = self.duals.index(dual) + share_by_gap(found.gap, self._goal)
        observer.in_task(self._task, done / count)
        if len(self.duals) > 1:
            observer.in_polish(PolishMoment(found.gap, dual.passes))
            return

        def state() -> tuple[KernelExpansion, _Vector]:
            return self.model(self.expansion()), dual.alpha

        objective = found.primal, found.dual
        observer.in_polish(PolishMoment(found.gap, dual.passes, objective, state))

    def model(self, expansion: Expansion) -> KernelExpansion:
        """Return an expansion as a model of its own."""
        return model_of(self.kernel, self.problem.rows, expansion)


def tasks(problem: Problem, budget: int, n_threads: int) -> dict[str, float]:
    """Return what is to come, with guesses of the seconds."""
    n, count = float(len(problem.rows)), problem.targets.count
    pairs = n * n * (_PAIR * count + _PAIR_FEATURE * problem.rows.row_cost) / n_threads
    fewer = {LEAVE_OUT: _FEWER * pairs} if n > budget else {}
    return {CLIMB: pairs, **fewer, CERTIFY: _AFTER * pairs}

"""The solvers of one output alone, and of several at once. All of them count for the same certificate.

One output: Newton's method on a smoothed loss comes first, on samples of the rows and then on all; it is
parallel, and it nearly always reaches the tolerance. Where it does not, as for a tolerance that asks for hardly
any smoothing, coordinate ascent on the rows near the margin takes over, which is slow far from the optimum and
precise close by; and so on in turns. If the matrix has no rows that can be visited, Newton's method starts again.

Several: Newton's method would have to factorise a matrix for each output. The orthonormal features of all rows
take as long to compute as one such factorisation takes on many rows, and serve all outputs; with them at
hand, coordinate ascent on working sets is fast, and outputs are solved in parallel threads.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import exp, log
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import Limits, OutOfTime
from budgetsvm._common.threads import map_in_order
from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.matrix.interface import Matrix, RowMatrix
from budgetsvm._polish.newton.approach import Approach
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.method import NewtonMethod
from budgetsvm._polish.outlook import (
    CHECK,
    OUTPUTS,
    STEPS,
    TURNS,
    NewtonOutlook,
    share_by_gap,
    solution_of,
)
from budgetsvm._polish.result import Solving, StartPoint
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.targets import SingleTarget, Targets
from budgetsvm.monitoring._observer import PolishMoment

_Settled = TypeVar("_Settled")
#: Says after every step whether it was the last.
_Finished: TypeAlias = Callable[[], bool]

# Where all kernel values are no more than these, the tolerance to aim at, and for how many passes.
_FEW_VALUES, _CLOSER, _EXTRA_PASSES = 1 << 17, 1e-3, 40
_WARM_WIDTH = 0.2  # of Newton's method after an earlier polish
_WIDTH = 4.0  # of Newton's method otherwise, to begin with
_FIRST_TOLERANCE = 1e-2  # of Newton's method where there is nothing else
_SAMPLE = 4  # rows per dimension of the first working set, unless these are most of all
_MARGIN = (
    0.98  # of the tolerance, where kernel values are left out: what may be lost when all are there
)
_RESERVE = 1.5  # times the seconds that all kernel values are expected to take
_PROGRESS, _PATIENCE = 0.9, 2  # of the gap is left, after so many turns of both methods


def solve_alone(
    matrix: Matrix,
    targets: SingleTarget,
    start: StartPoint | None,
    how: Solving,
    look: Callable[[SpanProblem], PolishMoment],
) -> SpanProblem:
    """Return the problem of one output with its solution, or what was found in time.

    `look` makes of it what the observer gets to see.
    """
    span, solver = SpanProblem(matrix, targets), HessianSolver(matrix.basis)
    outlook = NewtonOutlook(span, solver, how.limits.tol, how.observer)

    goal = _Goal(span, how.limits)

    def finished() -> bool:
        outlook.tell()
        how.observer.in_polish(look(span))
        return goal.reached()

    with suppress(OutOfTime):
        newton = _newton(span, solver, start, replace(how, limits=goal.limits), finished)
        outlook.begin(STEPS)
        newton.run(finished)
        if not finished() and targets.loss.has_kinks:  # it goes all the way where there are none
            outlook.begin(TURNS)
            _refine(span, newton, how.rng, finished)
    span.settle_bias()
    return span


def _refine(
    span: SpanProblem, newton: NewtonMethod, rng: np.random.Generator, finished: _Finished
) -> None:
    """Go on where Newton's method by itself does not, for the kinks of the loss."""
    if isinstance(span.matrix, RowMatrix):
        ascent = WorkingSetAscent(span, span.matrix, newton.alpha(), newton.f, rng, w=newton.w)
        take_turns(span, ascent, newton, finished)
    else:
        _approach(span, newton, finished)


class _Goal:
    """When the problem of one output is solved well enough.

    Where a pass takes no time, the solution is better than it has to be: decision values are less precise than P, and
    where a model is hardly better than none, labels depend on their last digits.
    """

    def __init__(self, span: SpanProblem, limits: Limits) -> None:
        small = span.matrix.n * span.matrix.basis.dimension <= _FEW_VALUES
        self.limits = replace(limits, tol=min(limits.tol, _CLOSER)) if small else limits
        self._span, self._enough, self._last = span, limits.tol, limits.max_passes

    def reached(self) -> bool:
        """Whether it is, or there is no time for more."""
        gap, passes = self._span.gap, self._span.passes
        if gap <= self._enough:
            self._last = min(self._last, passes + _EXTRA_PASSES)
            self._enough = -1.0  # the first time counts
        return self.limits.reached(gap, passes) or passes >= self._last


def solve_for_all_values(
    matrix: Matrix,
    targets: SingleTarget,
    start: StartPoint | None,
    how: Solving,
    look: Callable[[SpanProblem], PolishMoment],
) -> SpanProblem:
    """Return the problem of one output with its solution; the certificate is of the true kernel.

    A matrix that leaves out small kernel values leads to points that are as good for all of them, or nearly;
    P and D of these are computed anew. Where they are not good enough, the solution goes on with all values.
    """
    if matrix.exact_seconds is None:
        return solve_alone(matrix, targets, start, how, look)
    limits, now = how.limits, how.limits.clock()
    reserve = _RESERVE * matrix.exact_seconds
    deadline = max(limits.deadline - reserve, 0.5 * (now + limits.deadline))
    margin = replace(limits, tol=_MARGIN * limits.tol, deadline=deadline)
    whole, matrix.tick = matrix.tick, margin.tick  # a pass, too, ends in time
    span = solve_alone(matrix, targets, start, replace(how, limits=margin), look)
    matrix.tick = whole
    how.observer.in_task(CHECK)
    try:
        found = _restated(span)
    except OutOfTime:  # the model is what it is, but nothing is certified of it: D(0) = 0
        span.dual, span.alpha = 0.0, np.zeros_like(span.alpha)
        span.point_of_alpha = np.zeros_like(span.w)
        return span
    if found.gap <= limits.tol or not span.gap <= margin.tol:
        return found
    begin = StartPoint(found.w, found.alpha)
    how.observer.expect(solution_of(matrix.n, matrix.basis.dimension, limits.n_threads))
    better = solve_alone(matrix.exact(), targets, begin, how, look)
    better.passes += found.passes
    return better


def _restated(span: SpanProblem) -> SpanProblem:
    """Return the same problem, with the points that were found and their values of the true kernel."""
    f, point = span.matrix.exactly(span.w, span.alpha * span.targets.y)
    found = SpanProblem(span.matrix, span.targets, passes=span.passes + 2)
    found.offer_primal(span.w, f)
    found.offer_dual(span.alpha, point)
    found.settle_bias()
    return found


def _newton(
    span: SpanProblem,
    solver: HessianSolver,
    start: StartPoint | None,
    how: Solving,
    finished: _Finished,
) -> NewtonMethod:
    """Return Newton's method at a good point to begin with."""
    tol = how.limits.tol
    if start is None or start.rough:
        way = Approach(span, solver, how.rng, finished, tol)
        near = way.from_nothing() if start is None else way.from_guess(start.w)
        return NewtonMethod(span, solver, tol, *near)
    _take_over(span, start)
    return NewtonMethod(span, solver, tol, span.w, span.f, _WARM_WIDTH)


def _take_over(span: SpanProblem, start: StartPoint) -> None:
    """Begin with points of another problem: the best w up to this one, and α as far as it is feasible."""
    if np.isfinite(start.w).all():
        span.offer_primal(start.w, span.values(start.w))
    if start.alpha is not None:
        box = span.targets.box
        alpha = box * span.targets.loss.feasible(start.alpha / box)
        alpha = span.feasible(alpha, span.f)
        span.offer_dual(alpha, span.point(alpha))


def _approach(span: SpanProblem, newton: NewtonMethod, finished: _Finished) -> None:
    """Newton's method alone, towards ever smaller tolerances: a width that gets thin too soon leads nowhere."""
    goal, newton.tol, newton.width = newton.tol, _FIRST_TOLERANCE, _WIDTH
    while newton.tol > goal and not finished():
        newton.restart(span.w, span.f)
        newton.run(lambda: finished() or span.gap <= newton.tol)
        if span.gap > newton.tol:
            return
        newton.tol = max(goal, 0.1 * newton.tol)


def solve_together(
    matrix: RowMatrix,
    targets: Targets,
    how: Solving,
    settle: Callable[[SpanProblem, NDArray[np.int64] | None], _Settled],
) -> list[_Settled]:
    """Solve several outputs, each until it is finished.

    Returns what `settle` makes of each: to keep a number for every row is too much for many outputs.
    """
    seeds = how.rng.integers(2**31, size=targets.count)
    logs, limits = np.zeros(targets.count), how.limits  # of the gaps

    def solve(c: int) -> _Settled:
        rows = targets.rows_of(c)
        own = matrix if rows is None else matrix.only(rows)
        span = SpanProblem(own, targets.of_output(c))
        goal = _Goal(span, limits)

        def finished() -> bool:
            gap = span.gap
            logs[c] = log(min(max(gap, limits.tol), 1.0))
            mean = exp(logs.mean())  # an output that has not begun has a gap of 1
            how.observer.in_task(OUTPUTS, share_by_gap(mean, limits.tol))
            how.observer.in_polish(PolishMoment(mean, span.passes))
            return goal.reached()

        with suppress(OutOfTime):
            _ascend(span, own, np.random.default_rng(int(seeds[c])), finished, goal.limits.tol)
        span.settle_bias()
        return settle(span, rows)

    return map_in_order(solve, range(targets.count), limits.n_threads)


def _ascend(
    span: SpanProblem,
    matrix: RowMatrix,
    rng: np.random.Generator,
    finished: _Finished,
    tol: float,
) -> None:
    """Coordinate ascent, with Newton's method for where it is stuck."""
    nothing, n = np.zeros(len(span.targets)), matrix.n
    ascent = WorkingSetAscent(span, matrix, nothing.copy(), nothing, rng)
    sample = _SAMPLE * matrix.basis.dimension
    if sample < 0.5 * n:
        ascent.round(np.sort(rng.choice(n, sample, replace=False)))
    solver = HessianSolver(matrix.basis)
    newton = NewtonMethod(span, solver, tol, span.w, span.f, _WIDTH)
    take_turns(span, ascent, newton, finished)


def take_turns(
    span: SpanProblem, ascent: WorkingSetAscent, newton: NewtonMethod, finished: _Finished
) -> None:
    """Improve the best points of a problem until `finished`, or until neither method gets on any more.

    Where one is stuck, the other may get on.
    """
    before, idle = span.gap, 0
    while not finished():
        ascent.round()
        if not ascent.stuck or finished():
            continue
        idle = 0 if span.gap < _PROGRESS * before else idle + 1
        if idle > _PATIENCE:  # what is left of the gap are rounding errors
            return
        before = span.gap
        newton.restart(span.w, span.f)
        newton.run(finished)
        alpha, f, w = newton.alpha(), newton.f, newton.w
        if span.dual > 0:  # otherwise there is no good dual point yet
            alpha = span.alpha.copy()
            w = span.point_of_alpha + (span.w - span.matrix.basis.costly(span.w))
            f = span.values(w)
        ascent.restart(alpha, f, w)

"""Newton's method on ever narrower smoothings of the loss.

A wide smoothing makes the problem nearly quadratic; narrowing it step by step leads from least squares
to the SVM. Close to the solution (`approach.py` comes near it) only rows near the margin can change sides: most steps
need but a part of the rows, and the certificate, for which all are evaluated, is drawn up in between.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.smooth_problem import (
    NewtonStep,
    SmoothProblem,
    go_along,
    newton_direction,
    newton_step,
)
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.targets import SingleTarget

_THINNEST = 1e-6
NARROWING = 0.5, 0.9  # a width is at least and at most this share of the one before
ON_THE_WAY = 0.6  # predicted relative decrease below which a narrower width is due
_LONG_ENOUGH = 0.5  # of a step: a shorter one says that the width is narrow for where w is
# Where terms come in groups, which want steps of different lengths: how many shorter ones there may be.
_MOST_SHORT = 4
# Of the tolerance: what the smoothing may cost, and how precise w must be before all rows are evaluated.
EXCESS, _RESIDUAL = 0.6, 0.3
_GOOD = 0.3  # a gap below which the best dual point is worth smoothing the loss around it
_ANEW = 0.01  # a width at least, after another method has found a better dual point
_RISE = 2.0  # of the predicted decrease after a step: that one was far from Newton's
MOST_STEPS = 10  # at one width of a sample, or on one part of the rows
_PATIENCE = (
    25  # evaluations of all rows without a narrower width, a smaller P or gap, or less left to do
)
_NEARER = 0.5  # of the decrease that a step predicts, which is what is left to do at its width
# Of P, what is less than before: another method takes over where there are kinks, and none where there are not.
_PROGRESS, _ANY_PROGRESS = 0.9, 1 - 1e-6
# Parts: their least and largest share of all rows, and the share that may move too far. Larger ones are solved more
# precisely than is of use before all rows have been looked at.
_LEAST_PART, _LARGEST_PART, _STRAYED = 0.1, 0.15, 0.05
# Of the tolerance, what a step may promise for its dual point to be tried first; and the rows inside, of all.
_PROMISING, _INSIDERS = 2.0, 0.35
_QUANTILE, _SAMPLED = 0.95, 5000


@dataclass(eq=False)
class NewtonMethod:
    """Newton's method on all rows: its point w with values f, and its width."""

    span: SpanProblem
    solver: HessianSolver
    tol: float
    w: NDArray[np.float64]
    f: NDArray[np.float64]
    width: float
    caution: float = 2.0  #: how many times as far as before a row may move
    change: NDArray[np.float64] | None = None  #: of the values, as the last step wanted it
    short_steps: int = 0  #: one after the other
    decrease: float = np.inf  #: as predicted for that step
    #: Of the dual point around which the loss is smoothed.
    offsets: NDArray[np.float64] | None = None

    def run(self, finished: Callable[[], bool]) -> None:
        """Step until finished, or until it does not get on any more."""
        everything = self._everything()
        patience, best, nearest = _PATIENCE, self.span.primal, np.inf
        least = self.span.gap
        enough = _PROGRESS if self.span.targets.loss.has_kinks else _ANY_PROGRESS
        while True:
            self.w, self.f = self.span.centred(self.w, self.f, self.width, everything.targets)
            alpha = self.span.feasible(everything.alpha(self.f), self.f)
            point = self.span.point(alpha)
            self.span.offer_dual(alpha, point)
            self.span.offer_primal(self.w, self.f)
            if patience == 0 or self.width < _THINNEST:
                return
            if finished() and (self.w.any() or self.span.gap <= self.tol):
                return  # but a model that knows nothing yet gets its first step
            before = self.width
            if self.span.gap < _GOOD and self.span.targets.loss.has_kinks:
                everything.smooth_around(self.span.alpha, self.f)
                self.offsets = everything.offsets
            chosen = self._part(everything.targets)
            if chosen is None:
                if self._step(everything, alpha, point) and finished():
                    return
            else:
                self._steps_on_part(chosen, alpha, point, finished)
            everything.width = self.width
            nearer = self.decrease < _NEARER * nearest or self.span.gap < _PROGRESS * least
            progress = self.width < before or self.span.primal < enough * best or nearer
            patience = _PATIENCE if progress else patience - 1
            if progress:
                best, nearest, least = self.span.primal, self.decrease, self.span.gap

    def alpha(self) -> NDArray[np.float64]:
        """Return the dual point that belongs to its values."""
        return self._everything().alpha(self.f)

    def restart(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> None:
        """Go on from another point, at a width that says something: around a good dual point, any will do."""
        self.w, self.f, self.change = w, f, None
        self.width = max(self.width, _ANEW)

    def _everything(self) -> SmoothProblem:
        nothing = np.zeros(len(self.w))
        return SmoothProblem(self.span.matrix, self.span.targets, self.width, nothing, self.offsets)

    def _step(
        self, problem: SmoothProblem, alpha: NDArray[np.float64], point: NDArray[np.float64]
    ) -> bool:
        """One step on all rows; returns whether its dual point completes the certificate, so that it was the last."""
        gradient, excess = self.span.matrix.basis.costly(self.w) - point, problem.excess(self.f)
        direction = newton_direction(problem, self.f, gradient, self.solver)
        last = self._looks_ahead(problem, alpha, point, direction)
        step = go_along(problem, self.w, self.f, direction)
        self.w, self.f, self.change = step.w, step.f, step.change
        if last:  # P is good enough as it is, but decision values are better for one pass more
            self.span.offer_primal(self.w, self.f)
            return True
        if not problem.targets.loss.has_kinks and step.decrease > _RISE * self.decrease:
            self.solver.be_more_precise()
        self.decrease = step.decrease
        self.width = self._narrower(problem.width, step, excess)
        return False

    def _looks_ahead(
        self,
        problem: SmoothProblem,
        alpha: NDArray[np.float64],
        point: NDArray[np.float64],
        direction: tuple[NDArray[np.float64], float],
    ) -> bool:
        """Offer the dual point of a step before it is taken, which few rows are needed for; whether that is enough.

        Near the solution P is good long before D is: D wants w = w(α), which only the end of a step brings.
        """
        span, (step, decrease) = self.span, direction
        few = min(_INSIDERS * span.matrix.n, span.matrix.most_some)
        promising = decrease <= _PROMISING * self.tol * span.scale and span.matrix.at_hand
        if not promising or len(problem.inside(self.f).rows) > few:
            return False
        after = span.feasible(problem.alpha_after(alpha, self.f, step), self.f)
        change = span.matrix.transposed_times((after - alpha) * span.targets.y)
        span.offer_dual(after, point + change)
        return span.gap <= self.tol

    def _narrower(self, width: float, step: NewtonStep, excess: float) -> float:
        """Return the width after a step, which had this excess before it."""
        goal = EXCESS * self.tol * self.span.scale
        on_the_way = step.decrease >= ON_THE_WAY * self.span.scale
        if excess <= goal or on_the_way or self._is_short(step):
            return width
        self.short_steps = 0
        return width * float(np.clip(np.sqrt(goal / excess), *NARROWING))  # excess is as its square

    def _is_short(self, step: NewtonStep) -> bool:
        """Whether a step was too short for a narrower width; where terms come in groups, after few such ones."""
        self.short_steps = 0 if step.length >= _LONG_ENOUGH else self.short_steps + 1
        return (
            0 < self.short_steps <= (_MOST_SHORT if self.span.matrix.groups else self.short_steps)
        )

    def _part(self, targets: SingleTarget) -> NDArray[np.int64] | None:
        """Choose the rows that may come inside or leave, by how far the last step wanted to move.

        Where terms come in groups nearly all of a step's work is its linear system, which has the same rows then.
        """
        if self.change is None or self.span.matrix.groups:
            return None
        some = abs(self.change[:: max(1, len(self.change) // _SAMPLED)])
        place = int(_QUANTILE * (len(some) - 1))
        reach = self.width + self.caution * float(np.partition(some, place)[place])
        distance = targets.loss.distance(targets.slack(self.f))
        chosen = np.flatnonzero(distance < reach)
        least = max(1, int(_LEAST_PART * self.span.matrix.n))
        if len(chosen) < least:
            chosen = np.sort(np.argpartition(distance, least)[:least])
        most = min(_LARGEST_PART * self.span.matrix.n, self.span.matrix.most_some)
        return chosen if len(chosen) <= most else None

    def _steps_on_part(
        self,
        chosen: NDArray[np.int64],
        alpha: NDArray[np.float64],
        point: NDArray[np.float64],
        finished: Callable[[], bool],
    ) -> None:
        """Steps on some rows, while the others keep their α; as far as all rows agree."""
        span, width = self.span, self.width
        rows, targets = span.matrix.some(chosen), span.targets.some(chosen)
        fixed = point - rows.transposed_times(alpha[chosen] * targets.y)
        offsets = None if self.offsets is None else self.offsets[chosen]
        problem = SmoothProblem(rows, targets, width, fixed, offsets)
        w = self._descend(problem, self.f[chosen], finished)
        self.width = problem.width
        f, direction = self.f, (w - self.w, span.values(w) - self.f)
        length = self._everything().step_length(self.w, f, direction)
        self.w, self.f = self.w + length * direction[0], f + length * direction[1]
        self.change = direction[1]
        if length < 1:
            self.caution *= 2

    def _descend(
        self, problem: SmoothProblem, f: NDArray[np.float64], finished: Callable[[], bool]
    ) -> NDArray[np.float64]:
        """Minimise over the given rows, and narrow the width, until they are no longer the right ones."""
        w, start = self.w, f
        targets = problem.targets
        room = float(targets.loss.distance(targets.slack(f)).max()) - problem.width
        for _ in range(MOST_STEPS):
            gradient, excess = problem.gradient(w, f), problem.excess(f)
            precise = 0.5 * gradient @ gradient <= _RESIDUAL * self.tol * self.span.scale
            if precise and excess <= EXCESS * self.tol * self.span.scale:
                break
            step = newton_step(problem, w, f, gradient, self.solver)
            w, f = step.w, step.f
            if np.mean(abs(f - start) > room) > _STRAYED or finished():
                break
            problem.width = self._narrower(problem.width, step, excess)
        return w

"""The C of a one-class machine: that at which the dual variables make up the share ν of their bounds.

The share falls as C grows: it is 1 where C is small, and goes about as 1 / C where it is large. So it is looked
for by the secant method in (log C, log share), between points on both sides of ν once there are any. One
matrix of kernel values serves all solutions, and each starts from the one before.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.outlook import search_of
from budgetsvm._polish.result import Polished, Solving, Start
from budgetsvm._polish.solve import polish_in_span
from budgetsvm._problem.problem import Problem

# Where to stop: of the share, or of what is left of 1. A solution is not precise enough for that everywhere:
# what is near enough, of the share.
_PRECISION, _TOLERATED = 0.02, 0.05
_NARROW = 0.02  # of log C: the share cannot be told from that of ν any more
_MOST_SOLUTIONS, _SECANTS = 15, 6
_LONGEST_STEP = float(np.log(25.0))
_FLATTEST, _STEEPEST = -0.1, -2.0  # slopes of the secant
# From where the search begins: where it ends, and where there is nothing to be found any more.
_FARTHEST, _TOO_FAR = float(np.log(1e12)), float(np.log(1e8))


def share_of(polished: Polished, problem: Problem) -> float:
    """Return which share of their bounds the dual variables make up."""
    if polished.alpha is None or not len(polished.alpha):
        return np.nan
    return float(polished.alpha.sum() / problem.targets.box.sum())


def is_met(share: float, nu: float, factor: float) -> bool:
    """Whether a share is near what it should be, for a C that is not out of all proportion to the first."""
    return abs(share - nu) <= _TOLERATED * nu and abs(np.log(factor)) < _TOO_FAR


def solve_for_share(
    problem: Problem, matrix: Matrix, how: Solving, *, nu: float
) -> tuple[Polished, Problem]:
    """Solve problems of different C until the share is right; returns the last solution and its problem."""
    search, first, last = _Search(), problem.targets, None
    size = matrix.n, matrix.basis.dimension, how.limits.n_threads
    for number in range(_MOST_SOLUTIONS):
        how.observer.expect(search_of(*size, number))
        polished = polish_in_span(problem, matrix, how)
        if not polished.converged and last is not None:
            # The limits are reached: better a solution for another C than none.
            return replace(last[0], converged=False), last[1]
        last = polished, problem
        share = share_of(polished, problem)
        done = abs(share - nu) <= _PRECISION * min(nu, 1 - nu) or not polished.converged
        x = search.next(float(np.log(share / nu))) if share > 0 and not done else None
        if x is None:
            break
        before = problem.targets.box
        problem = replace(problem, targets=first.scaled(float(np.exp(x))))
        factor = float(problem.targets.box[0] / before[0])
        how = replace(how, start=_start_after(polished, matrix.basis, factor))
    return polished, problem


def _start_after(polished: Polished, basis: Basis, factor: float) -> Start:
    """Return where to begin after another solution, with so many times its C."""
    assert polished.alpha is not None
    coef = np.zeros((1, 1 + int(basis.kept.max(initial=0))))
    coef[:, basis.kept] = polished.coef
    return Start(coef, polished.bias, polished.alpha * min(1.0, factor))


@dataclass
class _Search:
    """Finds where a falling function of x is zero, beginning at x = 0."""

    x: float = 0.0
    seen: list[tuple[float, float]] = field(default_factory=list)

    def next(self, value: float) -> float | None:
        """Take the value at x; returns where to look next, None: there is nothing to be found."""
        self.seen.append((self.x, value))
        low = max((point for point in self.seen if point[1] > 0), default=None)
        high = min((point for point in self.seen if point[1] < 0), default=None)
        if low is None or high is None:
            self.x += float(np.sign(value)) * min(self._distance(), _LONGEST_STEP)
            return self.x if abs(self.x) <= _FARTHEST else None
        if high[0] - low[0] < _NARROW:
            return None
        # Not too near the ends, which are known; and after some trials, in the middle.
        share = low[1] / (low[1] - high[1]) if len(self.seen) <= _SECANTS else 0.5
        self.x = low[0] + float(np.clip(share, 0.1, 0.9)) * (high[0] - low[0])
        return self.x

    def _distance(self) -> float:
        """Estimate how far it is to the root, by the last secant."""
        x, value = self.seen[-1]
        if len(self.seen) == 1:
            return abs(value)  # as if the slope were -1
        before, there = self.seen[-2]
        slope = (value - there) / (x - before)
        if slope > _FLATTEST:  # then secants are of no use
            return max(2 * abs(x - before), abs(value / _FLATTEST))
        return abs(value / max(slope, _STEEPEST))

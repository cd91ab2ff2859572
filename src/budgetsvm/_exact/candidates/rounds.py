"""The full problem of one output, solved on rows that may be support vectors: far fewer than all, as a rule.

Who is no support vector has no part in the solution, though it takes as many kernel values as anybody else to find that out.
So a sample of the rows is solved first. Who then has a loss, in the sample or outside of it, is a candidate, and so is who
has an α; their problem is solved next, and so on (Vapnik's chunking, with all candidates at once). D never falls from one
round to the next, as all α are carried along; P is that of all rows, whose values take n kernel values for each support vector
and round. Four or five rounds come within a thousandth of the optimum.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import Limits
from budgetsvm._common.matrices.vectors import evenly_spread, nonzero_places
from budgetsvm._exact.blocks import solve_blocks
from budgetsvm._exact.candidates.elimination import margin
from budgetsvm._exact.dual import Certificate
from budgetsvm._exact.kept import Kept
from budgetsvm._exact.solved import SolvedDual
from budgetsvm._exact.values.anew import ValuesAnew
from budgetsvm._polish.lines.shift import best_shift
from budgetsvm._problem.problem import Problem
from budgetsvm.kernels import Kernel

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]
#: Is told of the solution so far, the certificate of all rows with it.
Show = Callable[[SolvedDual], None]

_SAMPLE = 2  # rows for each term of the budget, to begin with
_FEWEST, _MOST = 512, 2048
_LEAST_OF_SIDE = 16  # rows
_SMALLER = 4  # times, the sample before it, which tells how the number of support vectors grows
_SLOWER = 0.03  # of that power is lost whenever the rows double
# Of the gap is left, or of a larger D was there before, after so many rounds, where there is use in going on.
_PROGRESS, _PATIENCE = 0.9, 4
# How near a round comes to the solution of its candidates: at least, of the gap of all rows, and of the goal.
_ROUGH, _OF_GAP, _OF_GOAL = 0.05, 0.1, 0.5
_NEAR = 0.3  # of the width of the margin: who is as near to a loss remains a candidate


@dataclass(frozen=True)
class Bounds:
    """How far to go: up to a gap, with so many candidates, and support vectors, at most."""

    goal: float
    most_rows: int
    most_support: int
    most_expected: float  #: support vectors, by a look at a sample


class Candidates:
    """The dual of one output on all rows: β and f belong to each other, and β is feasible."""

    def __init__(
        self, kernel: Kernel, problem: Problem, limits: Limits, alpha: _Vector | None = None
    ) -> None:
        """Begin at α, as far as it is feasible, or at 0."""
        self._kernel, self._problem, self._limits = kernel, problem, limits
        self._targets = problem.targets.of_output(0)
        self._values = ValuesAnew(problem.rows, kernel, limits)
        self._every = np.arange(len(problem.rows))
        self._beta = np.zeros(len(problem.rows))
        if alpha is not None:
            box = self._targets.box
            self._beta = self._targets.loss.feasible(alpha / box) * box * self._targets.y
        self._work = 0.0  # rows that were gone through, in passes over the candidates

    def solve(self, bounds: Bounds, budget: int, show: Show) -> SolvedDual | None:
        """Solve the problem; None: it takes too many rows or terms. What a few rounds have not solved is returned as it is."""
        wanted = int(np.clip(_SAMPLE * budget, _FEWEST, _MOST))
        size = min(len(self._every), bounds.most_rows - 2 * _LEAST_OF_SIDE, wanted)
        asks = np.isfinite(bounds.most_expected) and not self._beta.any()
        if size < _SMALLER or (asks and not self._promises(size, bounds)):
            return None
        chosen, gap, found = self._sample(size), np.inf, None
        best, dual, since = np.inf, 0.0, 0
        while since < _PATIENCE:
            if len(chosen) > bounds.most_rows and found is not None:
                # A solution of too few rows makes losses for too many others.
                size *= _SMALLER
                chosen = self._sample(min(size, len(self._every)))
            if len(chosen) > bounds.most_rows:
                return None
            near = float(np.clip(_OF_GAP * gap, _OF_GOAL * bounds.goal, _ROUGH))
            found = self._round(chosen, near)
            if found is None or len(found.support) > bounds.most_support:
                return None
            show(found)
            gap = found.found.gap
            # Far from the solution, P may take its time, and the gap says nothing.
            progress = gap < _PROGRESS * best or _PROGRESS * found.found.dual > dual
            since = 0 if progress else since + 1
            best, dual = min(best, gap), max(dual, found.found.dual)
            if gap <= bounds.goal or found.passes >= self._limits.max_passes:
                break
            chosen = self._candidates(found, chosen, size)
        return found

    def _promises(self, size: int, bounds: Bounds) -> bool:
        """Whether all rows will have few enough support vectors, going by how their number grows from one sample to another.

        It is proportional to the rows where these are noisy, and grows more slowly where they are not.
        """
        counts: list[int] = []
        for some in (size // _SMALLER, size):
            chosen = self._sample(some)
            found = self._on(chosen, _ROUGH)
            if found is None:
                return False
            self._beta[:] = 0
            self._beta[chosen] = found.beta
            counts.append(max(1, len(found.support)))
        power = np.clip(np.log(counts[1] / counts[0]) / np.log(_SMALLER), 0.0, 1.0)
        doublings = np.log2(len(self._every) / size)
        expected = counts[1] * 2 ** (power * max(0.5, 1 - _SLOWER * doublings) * doublings)
        return bool(expected <= bounds.most_expected)

    def _sample(self, size: int) -> _Indices:
        """Return about so many rows, evenly spread on either side; they hold those of smaller samples, and all that have an α."""
        y, n = self._targets.y, len(self._every)
        parts = [nonzero_places(self._beta)]
        for side in (np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
            count = max(_LEAST_OF_SIDE, -(-size * len(side) // n))
            parts.append(evenly_spread(side, count))
        return np.unique(np.concatenate(parts))

    def _on(self, chosen: _Indices, goal: float) -> SolvedDual | None:
        """Solve the problem of some rows, from the β that they have."""
        rows = replace(self._problem.rows, X=self._problem.rows.given(chosen))
        targets = self._targets.some(chosen)
        start = self._beta[chosen] * targets.y if self._beta.any() else None
        some = Problem(rows, targets)
        # However far it comes: D is larger, and the next candidates may be easier.
        found = solve_blocks(
            self._kernel, some, self._limits, goal, lambda *_: None, start=start, kept=Kept()
        )
        if found is None:
            return None
        self._work += found.passes * len(chosen)
        return next(found.each(targets))

    def _round(self, chosen: _Indices, goal: float) -> SolvedDual | None:
        """Solve the problem of the candidates, and look what it is worth for all rows."""
        some = self._on(chosen, goal)
        if some is None:
            return None
        beta, f, outside = np.zeros_like(self._beta), np.empty_like(self._beta), self._every
        beta[chosen], f[chosen] = some.beta, some.f
        if len(chosen) < len(outside):
            outside = np.delete(outside, chosen)
            support = nonzero_places(beta)
            f[outside] = self._values.sums_at(outside, support, beta[support])
        self._beta, targets = beta, self._targets
        bias = best_shift(targets, 0.0, f)
        norm = float(some.beta @ some.f)
        primal = 0.5 * norm + targets.cost(targets.slack(f + bias))
        dual = targets.gain(beta * targets.y) - 0.5 * norm
        known = Certificate(primal, dual, targets.scale(primal, dual))
        passes = 1 + int(self._work / len(beta))
        return SolvedDual(self._every, targets, beta, f, bias, known, passes)

    def _candidates(self, found: SolvedDual, before: _Indices, fewest: int) -> _Indices:
        """Return who may be a support vector: who is one, who has a loss, and of those before, who nearly has one.

        Where that is hardly anybody, the next ones are those who are nearest to a loss, of all rows.
        """
        loss, slack = self._targets.loss, self._targets.slack(found.f + found.bias)
        may_be, distance = (found.beta != 0) | (loss.value(slack) > 0), loss.distance(slack)
        may_be[before[distance[before] < _NEAR * margin(self._targets)]] = True
        missing = min(fewest, len(slack)) - np.count_nonzero(may_be)
        if missing > 0:
            others = np.flatnonzero(~may_be)
            may_be[others[np.argpartition(distance[others], missing - 1)[:missing]]] = True
        return np.flatnonzero(may_be)

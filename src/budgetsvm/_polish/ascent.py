"""Dual coordinate ascent on a working set: precise, and fast from a good start.

Of the rows, only those near the margin have a dual variable strictly inside its box, and only those
need visits; the working set is small enough for the cache, so that hundreds of passes over it cost
as much as one over all rows. Every round ends with such a full pass, which checks the rest.
"""

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._polish.matrix.kernel_values import AllRows
from budgetsvm._polish.span_problem import SpanProblem

# Visits per round: about as much work as the full passes that end it, or as nothing at all.
_VISITS_PER_ROW, _FEWEST_VISITS = 4, 20_000
_FEWEST_PASSES, _MOST_PASSES = 10, 500
_MOST_PATIENCE = 512
_ROUNDING = 4  # errors of an inner product, at the very most
_LITTLE_PROGRESS = 0.6  # of the gap is left after a round


class WorkingSetAscent:
    """Improves a dual point, round by round."""

    def __init__(
        self,
        problem: SpanProblem,
        matrix: AllRows,
        alpha: NDArray[np.float64],
        f: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> None:
        self.problem = problem
        self.matrix = matrix
        self.rng = rng
        self.precision = 0.1  # of the sub-problem: KKT violation at which a round ends
        self.effort = 1.0  # grows where rounds bring little ...
        self.patience = 1.0
        self.restart(alpha, f)

    def restart(self, alpha: NDArray[np.float64], f: NDArray[np.float64]) -> None:
        """Go on from another dual point, whose w(α) has the values f, with more patience."""
        self.alpha = alpha
        self.f = f
        self.point = self.problem.point(alpha)
        self.patience = min(8 * self.patience, _MOST_PATIENCE)
        self.stuck = False  # ... and where all patience is of no use, this becomes true

    def round(self, chosen: NDArray[np.int64] | None = None) -> None:
        """Ascend on the chosen rows or the working set, then evaluate all and offer what was found."""
        problem = self.problem
        before = problem.gap
        self._ascend(self._working_set() if chosen is None else chosen)
        self.point = problem.point(self.alpha)
        self.f = problem.values(self.point)
        problem.offer_dual(self.alpha, self.point)
        problem.offer_primal(self.point, self.f)
        self.precision /= 2
        if problem.gap > _LITTLE_PROGRESS * before:
            self.stuck = self.effort >= self.patience
            self.effort = min(2 * self.effort, self.patience)

    def _working_set(self) -> NDArray[np.int64]:
        """Rows whose variable is inside its box, or should leave the bound that it is at."""
        targets = self.problem.targets
        slack = targets.slack(self.f)
        chosen = np.flatnonzero(targets.loss.unsettled(self.alpha, slack, targets.box))
        most = self.matrix.most_some
        if len(chosen) > most:
            nearest = np.argpartition(targets.loss.distance(slack[chosen]), most)[:most]
            chosen = np.sort(chosen[nearest])
        return chosen

    def _ascend(self, chosen: NDArray[np.int64]) -> None:
        """Passes over the chosen rows, with shrinking, until the sub-problem is solved well enough."""
        rows, everyone = self.matrix.feature_rows(chosen)
        everywhere = len(rows) == len(self.alpha)  # the block has all rows
        targets = self.problem.targets if everywhere else self.problem.targets.some(chosen)
        alpha = self.alpha if everywhere else self.alpha[chosen]
        arrays = (
            targets.loss.core(),
            rows,
            self.matrix.squared_norms(rows),
            targets.y,
            np.ascontiguousarray(targets.target),
            targets.box,
            alpha,
            self.point.astype(rows.dtype),
        )
        active, upper, lower = everyone, np.inf, -np.inf
        visits = max(_VISITS_PER_ROW * len(self.alpha), _FEWEST_VISITS)
        passes = np.clip(visits / max(1, len(chosen)), _FEWEST_PASSES, _MOST_PASSES)
        # A violation below the rounding errors of inner products would never be reached.
        rounding = (
            _ROUNDING * float(np.finfo(rows.dtype).eps) * (1 + float(np.linalg.norm(self.point)))
        )
        precision = max(self.precision, rounding)
        for _ in range(int(self.effort * passes)):
            self.matrix.tick()
            shrunk = len(active) < len(everyone)
            order = self.rng.permutation(active)
            kept, upper, lower = _core.ascend(*arrays, order, upper, lower)
            active = order[:kept]
            if upper - lower <= precision:
                if not shrunk:
                    break
                active, upper, lower = everyone, np.inf, -np.inf
            upper, lower = upper if upper > 0 else np.inf, lower if lower < 0 else -np.inf
        if not everywhere:
            self.alpha[chosen] = alpha

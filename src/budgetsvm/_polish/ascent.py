"""Dual coordinate ascent on a working set: precise, and fast from a good start.

Of the rows, only those near the margin have a dual variable strictly inside its box, and only those
need visits; the working set is small enough for the cache, so that hundreds of passes over it cost
as much as one over all rows. Every round ends with such a full pass, which checks the rest.

A bias that costs nothing asks for Σ_i α_i y_i = 0, which single coordinates cannot keep. So they climb on
D - m Σ_i α_i y_i - ½s² (Σ_i α_i y_i)², the Lagrangian, augmented, of that constraint (Hestenes 1969; Powell 1969):
as if there were a constant feature s whose coefficient is drawn to m, the bias so far. It moves on by what is
left of the sum after every round.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._polish.matrix.interface import Block, RowMatrix
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.targets import SingleTarget

# Visits per round: about as much work as the full passes that end it, or as nothing at all.
_VISITS_PER_ROW, _FEWEST_VISITS = 4, 20_000
_FEWEST_PASSES, _MOST_PASSES = 10, 500
_MOST_PATIENCE = 512
# Multiplications of a round beyond its first effort, at the most: so many passes over all rows, or a fraction of a
# second; and what a pass takes besides.
_MOST_FULL_PASSES, _FEW_WORK, _CALL = 1e4, 1e8, 2e4
_CALL_WORK = 5e7  # multiplications of a call of the core
_ROUNDING = 4  # errors of an inner product, at the very most
_LITTLE_PROGRESS = 0.6  # of the gap is left after a round


#: An upper and a lower projected gradient: a variable at a bound rests where its own is beyond them.
Beyond: TypeAlias = tuple[float, float]
NOBODY_RESTS: Beyond = (np.inf, -np.inf)


class Visits(NamedTuple):
    """What a pass led to: which rows do not rest, and the extreme projected gradients of these."""

    kept: int  #: so many, the first of the order
    upper: float
    lower: float

    @property
    def violation(self) -> float:
        """How far from optimal the variables were."""
        return self.upper - self.lower

    def beyond(self) -> Beyond:
        """Return who may rest in the next pass; without a gradient on one side, nobody on that side."""
        return self.upper if self.upper > 0 else np.inf, self.lower if self.lower < 0 else -np.inf


class LinearSVM(NamedTuple):
    """An SVM on rows of features, as the core wants it; α and w change in place."""

    loss: tuple[str, float]
    rows: NDArray[Any]
    squared_norms: NDArray[Any]
    y: NDArray[np.float64]
    target: NDArray[np.float64]
    box: NDArray[np.float64]
    alpha: NDArray[np.float64]
    w: NDArray[Any]

    def visit(self, order: NDArray[np.int64], beyond: Beyond) -> Visits:
        """One pass of dual coordinate ascent over rows in an order, which it changes."""
        return Visits(*_core.ascend(*self, order, *beyond))


class WorkingSetAscent:
    """Improves a dual point, round by round."""

    def __init__(
        self,
        problem: SpanProblem,
        matrix: RowMatrix,
        alpha: NDArray[np.float64],
        f: NDArray[np.float64],
        rng: np.random.Generator,
        *,
        w: NDArray[np.float64] | None = None,
    ) -> None:
        self.problem = problem
        self.matrix = matrix
        self.rng = rng
        self.precision = 0.02  # of the sub-problem: KKT violation at which a round ends
        self.effort = 1.0  # grows where rounds bring little ...
        self.patience = 1.0
        self.multiplier = 0.0  # m
        self.restart(alpha, f, w)

    def restart(
        self,
        alpha: NDArray[np.float64],
        f: NDArray[np.float64],
        w: NDArray[np.float64] | None = None,
    ) -> None:
        """Go on from another dual point, whose w(α) has the values f, with more patience.

        A bias that costs nothing is that of w; zero if there is none.
        """
        self.alpha = alpha
        self.f = f
        self.point = self.problem.point(alpha)
        if self.problem.matrix.basis.free:
            bias = 0.0 if w is None else float(w[-1])
            self.multiplier, self.point[-1] = bias - self.point[-1], bias
        self.patience = min(8 * self.patience, _MOST_PATIENCE)
        self.stuck = False  # ... and where all patience is of no use, this becomes true

    def round(self, chosen: NDArray[np.int64] | None = None) -> None:
        """Ascend on the chosen rows or the working set, then evaluate all and offer what was found."""
        problem = self.problem
        before = problem.gap
        self._ascend(self._working_set() if chosen is None else chosen)
        self._evaluate()
        self.precision /= 2
        if problem.gap > _LITTLE_PROGRESS * before:
            self.stuck = self.effort >= self.patience
            self.effort = min(2 * self.effort, self.patience)

    def _evaluate(self) -> None:
        """Evaluate all rows, and offer what was found."""
        problem, basis = self.problem, self.problem.matrix.basis
        self.point = problem.point(self.alpha)
        if not basis.free:
            self.f = problem.values(self.point)
            problem.offer_dual(self.alpha, self.point)
            problem.offer_primal(self.point, self.f)
            return
        self.multiplier += self.point[-1]
        self.point[-1] += self.multiplier
        self.f = problem.values(self.point)
        w, f = problem.centred(self.point, self.f)
        problem.offer_primal(w, f)
        alpha = problem.feasible(self.alpha, f)
        moved = problem.matrix.transposed_times((alpha - self.alpha) * problem.targets.y)
        problem.offer_dual(alpha, self.point + moved)

    def _working_set(self) -> NDArray[np.int64]:
        """Rows whose variable is inside its box, or should leave the bound that it is at."""
        targets = self.problem.targets
        slack = targets.slack(self.f)
        chosen = np.flatnonzero(targets.loss.unsettled(self.alpha, slack, targets.box))
        most = self.matrix.most_features
        if len(chosen) > most:
            nearest = np.argpartition(targets.loss.distance(slack[chosen]), most)[:most]
            chosen = np.sort(chosen[nearest])
        return chosen

    def _ascend(self, chosen: NDArray[np.int64]) -> None:
        """Improve α of the chosen rows, until the sub-problem is solved well enough."""
        block = self.matrix.feature_rows(chosen)
        if len(block.rows) == len(self.alpha):  # it has all rows
            self._visit(block, self.problem.targets, self.alpha)
        else:
            alpha = self.alpha[chosen]
            self._visit(block, self.problem.targets.some(chosen), alpha)
            self.alpha[chosen] = alpha

    def _visit(self, block: Block, targets: SingleTarget, alpha: NDArray[np.float64]) -> None:
        """Passes over rows of a block with shrinking; the targets and α are those of all its rows."""
        svm = LinearSVM(
            targets.loss.core(),
            block.rows,
            self.matrix.squared_norms(block.rows),
            targets.y,
            np.ascontiguousarray(targets.target),
            targets.box,
            alpha,
            self.point.astype(block.rows.dtype),
        )
        order, left = block.where.copy(), self._most_passes(len(block.where))
        at_once = max(1, int(_CALL_WORK / max(1, len(order) * block.rows.shape[1])))
        state, settled = (len(order), *NOBODY_RESTS), False
        while left > 0 and not settled:
            self.matrix.tick()
            limits = self._precision(block), min(left, at_once), int(self.rng.integers(2**63))
            passes, settled, state = _core.ascend_until(*svm, order, state, *limits)
            left -= passes

    def _most_passes(self, count: int) -> int:
        """Return how many passes over so many rows a round has."""
        visits = max(_VISITS_PER_ROW * len(self.alpha), _FEWEST_VISITS)
        passes = np.clip(visits / max(1, count), _FEWEST_PASSES, _MOST_PASSES)
        # On few rows, more of them take longer than Newton's method does, which does not mind bad conditions.
        dimension = self.matrix.basis.dimension
        work = max(_FEW_WORK, _MOST_FULL_PASSES * len(self.alpha) * dimension)
        most = work / (_CALL + count * dimension)
        return int(max(passes, min(self.effort * passes, most)))

    def _precision(self, block: Block) -> float:
        """Return the violation to stop at; one below the rounding errors of inner products is never reached."""
        eps = float(np.finfo(block.rows.dtype).eps)
        return max(self.precision, _ROUNDING * eps * (1 + float(np.linalg.norm(self.point))))

"""The full problem where all rows may be terms: every kernel value is at hand, and the core does the rest.

For the losses of SVC and SVR with a bias that costs nothing. Pairs of classes take the kernel
values of these two classes, which are computed when a pair has its turn, and forgotten after that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.limits import Limits
from budgetsvm._common.threads import map_in_order
from budgetsvm._exact.dual import Certificate
from budgetsvm._model.term_store import TermStore
from budgetsvm._polish.polish import Polishing
from budgetsvm._problem.pair_targets import PairTargets, pairs_of
from budgetsvm._problem.points import points_of
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows, dense_points
from budgetsvm._problem.targets import SingleTarget, Targets
from budgetsvm.kernels import Kernel, KernelInPython
from budgetsvm.losses import EpsilonInsensitive, Hinge

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]
_Block = NDArray[Any]
_Blocks = tuple[_Block, _Block, _Block, _Block]

_VALUES_AT_ONCE = 1 << 20  # kernel values of a call
_ROUNDS_AT_ONCE = 32  # of a call, after a first few that have less
_SET_SIZE = 192  # rows of the core's working set
# After so many rounds for each set that the rows make, it is time for something else.
_ROUNDS_PER_SET, _FEWEST_ROUNDS = 20, 60


def held_values(targets: Targets) -> float:
    """Return how many kernel values are held at the same time."""
    if not isinstance(targets, PairTargets):
        return float(len(targets)) ** 2
    counts = np.bincount(targets.labels).astype(np.float64)
    return float(counts @ counts + 2 * np.sort(counts)[-2:].prod())


def suits(problem: Problem, how: Polishing) -> bool:
    """Whether this is a problem for these methods."""
    targets = problem.targets
    free = how.intercept and not targets.bias_costs
    known = isinstance(targets.loss, Hinge | EpsilonInsensitive)
    return free and known


@dataclass(frozen=True, eq=False)
class SolvedDual:
    """A dual solution of one output; `f` is without the bias."""

    rows: _Indices
    targets: SingleTarget
    beta: _Vector
    f: _Vector
    bias: float
    found: Certificate
    passes: int

    @property
    def alpha(self) -> _Vector:
        """The dual variables."""
        return self.beta * self.targets.y


class Groups:
    """The rows of a problem in groups, and the kernel values of these."""

    def __init__(self, rows: Rows, kernel: Kernel, members: list[_Indices], limits: Limits) -> None:
        self.members, self._rows, self._limits = members, rows, limits
        self._in_python = kernel if isinstance(kernel, KernelInPython) else None
        self._stores = [
            TermStore.of(points_of(rows, group), np.zeros(len(group)), kernel, 0)
            for group in members
        ]
        self._kernel = self._stores[0].core_kernel(kernel)
        every = range(len(members))
        self.own = [self.values(g, g, limits.n_threads) for g in every]

    def values(self, g: int, h: int, n_threads: int = 1) -> _Block:
        """Return the kernel values of two groups."""
        rows, store = self.members[g], self._stores[h]
        values = np.empty((len(rows), len(self.members[h])), self._rows.dtype)
        step = max(1, _VALUES_AT_ONCE // max(1, values.shape[1]))

        def fill(start: int) -> None:
            part = slice(start, start + step)
            self._limits.tick()
            if self._in_python is not None:
                points = (dense_points(self._rows, some) for some in (rows[part], self.members[h]))
                values[part] = self._in_python.matrix(*points)
                return
            source = self._rows.source(rows[part])
            _core.kernel_block(source, store.arrays, store.size, self._kernel, values[part])

        map_in_order(fill, range(0, len(rows), step), n_threads)
        return values


def solve_blocks(
    kernel: Kernel,
    problem: Problem,
    limits: Limits,
    goal: float,
    show: Callable[[int, SolvedDual], None],
    *,
    start: _Vector | None = None,
) -> list[SolvedDual] | None:
    """Solve the duals of all outputs up to a gap, from α if there is one; None: that takes too long.

    `show` gets to see what is known of an output from time to time.
    """
    targets = problem.targets
    if isinstance(targets, PairTargets):
        return _solve_pairs(kernel, problem, limits, goal, show)
    n = len(problem.rows)
    every = np.arange(n)
    values = Groups(problem.rows, kernel, [every], limits).own[0]
    nobody = np.empty((0, 0), values.dtype)
    blocks = values, values[:, :0].copy(), values[:0], nobody

    def solve(c: int) -> SolvedDual | None:
        single = targets.of_output(c)
        beta = np.zeros(n)
        if start is not None and targets.count == 1:
            alpha = single.loss.feasible(start / single.box) * single.box
            beta = single.balanced(alpha, single.slack(np.zeros(n))) * single.y
        output = _Output(every, blocks, single, goal, limits)
        return output.climb(beta, lambda now: show(c, now))

    return _all_of(map_in_order(solve, range(targets.count), limits.n_threads))


def _solve_pairs(
    kernel: Kernel,
    problem: Problem,
    limits: Limits,
    goal: float,
    show: Callable[[int, SolvedDual], None],
) -> list[SolvedDual] | None:
    """Solve the problems of all pairs of classes."""
    targets = problem.targets
    assert isinstance(targets, PairTargets)
    members = targets.rows_of_classes
    groups = Groups(problem.rows, kernel, members, limits)

    def solve(c: int) -> SolvedDual | None:
        a, b = pairs_of(targets.n_classes)[c].tolist()
        rows = np.concatenate([members[a], members[b]])
        y = np.ones(len(rows))
        y[len(members[a]) :] = -1.0
        single = SingleTarget.of_labels(y, targets.box[rows], targets.loss)
        cross = groups.values(a, b)
        blocks = groups.own[a], cross, np.ascontiguousarray(cross.T), groups.own[b]
        output = _Output(rows, blocks, single, goal, limits)
        return output.climb(np.zeros(len(rows)), lambda now: show(c, now))

    return _all_of(map_in_order(solve, range(targets.count), limits.n_threads))


def _all_of(found: list[SolvedDual | None]) -> list[SolvedDual] | None:
    duals = [one for one in found if one is not None]
    return duals if len(duals) == len(found) else None


@dataclass(frozen=True, eq=False)
class _Output:
    """The problem of one output: its rows, their kernel values, and how far to climb."""

    rows: _Indices
    blocks: _Blocks
    targets: SingleTarget
    goal: float
    limits: Limits

    def climb(self, beta: _Vector, show: Callable[[SolvedDual], None]) -> SolvedDual | None:
        """Climb from β, which is feasible, until the gap is small enough; None: it takes too long."""
        n, bounds = len(self.rows), self._bounds()
        target = bounds[0]
        residual = target - _times(self.blocks, beta) if beta.any() else target.copy()
        most = max(_FEWEST_ROUNDS, _ROUNDS_PER_SET * -(-n // _SET_SIZE))
        rounds, at_once = 0, 1
        problem = self.blocks, bounds, (beta, residual), self.targets.constants
        while True:
            self.limits.tick()
            primal, dual, scale, bias, made = _core.climb_blocks(*problem, self.goal, at_once)
            rounds += made
            passes = max(1, -(-rounds * min(n, _SET_SIZE) // n))
            f, found = target - residual, Certificate(primal, dual, scale)
            solved = SolvedDual(self.rows, self.targets, beta.copy(), f, bias, found, passes)
            show(solved)
            if found.gap <= self.goal or passes >= self.limits.max_passes:
                return solved
            # rounding errors are all that is left, or it takes too long
            if made < at_once or rounds >= most:
                return None
            at_once = min(2 * at_once, _ROUNDS_AT_ONCE)

    def _bounds(self) -> tuple[_Vector, _Vector, _Vector, float]:
        """Return targets and bounds of β, and ε."""
        box, y, loss = self.targets.box, self.targets.y, self.targets.loss
        if isinstance(loss, EpsilonInsensitive):
            return np.ascontiguousarray(self.targets.target), -box, box, loss.epsilon
        sides = box * y
        return y, np.minimum(sides, 0.0), np.maximum(sides, 0.0), 0.0


def _times(blocks: _Blocks, beta: _Vector) -> _Vector:
    """Return the product of the kernel matrix and a vector."""
    first, cross, back, second = blocks
    a, b = beta[: len(first)], beta[len(first) :]
    return np.concatenate([first @ a + cross @ b, back @ a + second @ b])

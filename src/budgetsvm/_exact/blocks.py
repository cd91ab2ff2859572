"""The full problem where all rows may be terms: every kernel value may be held, and the core does the rest.

For the losses of SVC and SVR with a bias that costs nothing. One output takes the kernel values of those rows that come
into a working set. Pairs of classes take those of these two classes, which are computed when a pair has its turn, and
forgotten after that.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.limits import Limits
from budgetsvm._common.threads import map_in_order
from budgetsvm._exact.dual import Certificate, best_multiple
from budgetsvm._exact.kept import Kept
from budgetsvm._exact.small_pairs import are_small, solve_small_pairs
from budgetsvm._exact.solved import SolvedDual, SolvedDuals
from budgetsvm._exact.values.groups import Block, Groups
from budgetsvm._exact.values.held_rows import HeldRows, room
from budgetsvm._problem.pair_targets import PairTargets, pairs_of
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import SingleTarget, Targets
from budgetsvm.kernels import Kernel
from budgetsvm.losses import EpsilonInsensitive, Hinge

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]
_Blocks = tuple[Block, Block, Block, Block]
_Four = tuple[float, float, float, float]
_Bounds = tuple[_Vector, _Vector, _Vector, float]
_CoreProblem = tuple[_Blocks, _Bounds, tuple[_Vector, _Vector], tuple[float, float]]
_Start = tuple[_Vector, _Vector]  # β and Kβ

# Of an output: a few of their kernel values are wanted, of which those of a pair take less time than room for all.
_MANY_ROWS = 2048
_ROUNDS_AT_ONCE = (
    32  # of a call; where rows are held as they are asked for, after a first few that have less
)
_SET_SIZE = 192  # rows of the core's working set
# After so many rounds for each set that the rows make, what is good enough will do, or it is time for something else. A large
# C takes some hundred; of many values of C, one that takes more than a quarter of that is not waited for.
_ROUNDS_PER_SET, _FEWEST_ROUNDS = 200, 600
_OF_MANY = 4


def held_values(targets: Targets) -> float:
    """Return how many kernel values are held at the same time, at most."""
    if not isinstance(targets, PairTargets):
        return float(len(targets)) ** 2
    counts = np.sort(np.bincount(targets.labels)).astype(np.float64)
    in_blocks = counts[counts + counts[0] <= _MANY_ROWS]
    pair = int(counts[-2:].sum())
    cross = 0.5 * min(pair, _MANY_ROWS) ** 2
    rows = room(pair, grows=False) if pair > _MANY_ROWS else 0
    return float(in_blocks @ in_blocks + cross + rows * pair)


def suits(problem: Problem, *, intercept: bool) -> bool:
    """Whether this is a problem for these methods."""
    targets = problem.targets
    free = intercept and not targets.bias_costs
    known = isinstance(targets.loss, Hinge | EpsilonInsensitive)
    return free and known


def solve_blocks(
    kernel: Kernel,
    problem: Problem,
    limits: Limits,
    goal: float,
    show: Callable[[int, SolvedDual], None],
    *,
    start: _Vector | None = None,
    kept: Kept | None = None,
) -> SolvedDuals | None:
    """Solve the duals of all outputs up to a gap, from what was kept or from α if there is one; None: that takes too long.

    Where one C follows another, as in a search, what has not come as far is returned, too: who asked looks at its gap.
    `show` gets to see what is known of an output from time to time.
    """
    targets, kept = problem.targets, kept or Kept(lasting=False)
    if isinstance(targets, PairTargets):
        if are_small(targets) and not kept.lasting:
            return solve_small_pairs(kernel, problem, limits, goal)
        return _solve_pairs(kernel, problem, limits, goal, show, kept=kept)
    n = len(problem.rows)
    every = np.arange(n)
    held = kept.values(
        lambda: Groups(problem.rows, kernel, [every], limits).rows_of_first(
            limits.n_threads, grows=True
        )
    )
    if targets.count > 1:  # they take turns in threads, and all of them want most rows
        held.hold_all()
    blocks = _single_block(held)

    def solve(c: int) -> SolvedDual | None:
        single = targets.of_output(c)
        output = _Output(every, blocks, held, single, goal, limits, gives_up=not kept.lasting)
        begin: _Start | None = kept.point(c, single)
        if begin is None and start is not None and targets.count == 1:
            beta = _from_alpha(single, start)
            f = held.times(beta)
            multiple = best_multiple(single, beta, f, 1.0)
            begin = multiple * beta, multiple * f
        return kept.reached(c, output.climb(begin, lambda now: show(c, now)))

    return _all_of(map_in_order(solve, range(targets.count), limits.n_threads))


def _single_block(held: HeldRows) -> _Blocks:
    """Return the kernel matrix as that of a first group, beside a second one of nobody."""
    values, n = held.values, len(held.places)
    nobody = np.empty((0, 0), values.dtype)
    return values, nobody.reshape(n, 0), nobody.reshape(0, n), nobody


def _from_alpha(targets: SingleTarget, alpha: _Vector) -> _Vector:
    """Return a feasible β near α."""
    feasible = targets.loss.feasible(alpha / targets.box) * targets.box
    return np.asarray(targets.balanced(feasible, targets.slack(np.zeros(len(alpha)))) * targets.y)


def _solve_pairs(
    kernel: Kernel,
    problem: Problem,
    limits: Limits,
    goal: float,
    show: Callable[[int, SolvedDual], None],
    *,
    kept: Kept,
) -> SolvedDuals | None:
    """Solve the problems of all pairs of classes."""
    targets = problem.targets
    assert isinstance(targets, PairTargets)
    members = targets.rows_of_classes
    groups = kept.values(lambda: Groups(problem.rows, kernel, members, limits))

    def solve(c: int) -> SolvedDual | None:
        a, b = pairs_of(targets.n_classes)[c].tolist()
        rows = np.concatenate([members[a], members[b]])
        y = np.ones(len(rows))
        y[len(members[a]) :] = -1.0
        single = SingleTarget.of_labels(y, targets.box[rows], targets.loss)
        held = None
        if len(rows) > _MANY_ROWS:
            held = Groups(problem.rows, kernel, [rows], limits).rows_of_first(1, grows=False)
            blocks = _single_block(held)
        else:
            cross, back = groups.cross(a, b, keep=kept.lasting)
            blocks = groups.own(a), cross, back, groups.own(b)
        output = _Output(rows, blocks, held, single, goal, limits, gives_up=not kept.lasting)
        found = output.climb(kept.point(c, single), lambda now: show(c, now))
        return kept.reached(c, found)

    return _all_of(map_in_order(solve, range(targets.count), limits.n_threads))


def _all_of(found: list[SolvedDual | None]) -> SolvedDuals | None:
    duals = [one for one in found if one is not None]
    return SolvedDuals.joined(duals) if len(duals) == len(found) else None


@dataclass(frozen=True, eq=False)
class _Output:
    """The problem of one output: its rows, their kernel values, and how far to climb."""

    rows: _Indices
    blocks: _Blocks
    held: HeldRows | None  #: what there is of the first block; none: all of it
    targets: SingleTarget
    goal: float
    limits: Limits
    gives_up: bool  #: where the goal is out of reach

    def climb(self, start: _Start | None, show: Callable[[SolvedDual], None]) -> SolvedDual | None:
        """Climb from a feasible β, whose values are known, until the gap is small enough; None: it takes too long."""
        n, bounds = len(self.rows), self._bounds()
        target = bounds[0]
        beta, f = (np.zeros(n), np.zeros(n)) if start is None else start
        residual = target - f
        most = max(_FEWEST_ROUNDS, _ROUNDS_PER_SET * -(-n // _SET_SIZE))
        most //= 1 if self.gives_up else _OF_MANY
        rounds, at_once = 0, 1 if self.held is not None else _ROUNDS_AT_ONCE
        problem = self.blocks, bounds, (beta, residual), self.targets.constants
        ages = np.zeros(n, np.int64)
        while True:
            (primal, dual, scale, bias), made = self._make(at_once, problem, ages)
            rounds += made
            passes = max(1, -(-rounds * min(n, _SET_SIZE) // n))
            f, found = target - residual, Certificate(primal, dual, scale)
            solved = SolvedDual(self.rows, self.targets, beta.copy(), f, bias, found, passes)
            show(solved)
            if found.gap <= self.goal or passes >= self.limits.max_passes:
                return solved
            # rounding errors are all that is left, or it takes too long
            if made < at_once or rounds >= most:
                return solved if found.gap <= self.limits.tol or not self.gives_up else None
            at_once = min(2 * at_once, _ROUNDS_AT_ONCE)

    def _make(self, rounds: int, problem: _CoreProblem, ages: _Indices) -> tuple[_Four, int]:
        """Make some rounds, while rows come in as the core asks for them; return what is known then, and the rounds made."""
        made, places = 0, None if self.held is None else self.held.places
        while True:
            self.limits.tick()
            found = _core.climb_blocks(*problem, self.goal, rounds - made, (places, ages))
            *_, more, waits = found
            made += more
            if not waits or self.held is None:
                return found[:4], made
            self.held.hold(np.flatnonzero(ages))

    def _bounds(self) -> _Bounds:
        """Return targets and bounds of β, and ε."""
        box, y, loss = self.targets.box, self.targets.y, self.targets.loss
        if isinstance(loss, EpsilonInsensitive):
            return np.ascontiguousarray(self.targets.target), -box, box, loss.epsilon
        sides = box * y
        return y, np.minimum(sides, 0.0), np.maximum(sides, 0.0), 0.0

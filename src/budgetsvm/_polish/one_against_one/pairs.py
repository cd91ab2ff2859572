"""Pairs of classes on common orthonormal features: what can be is solved by the core, some pairs in a call.

The problem of a pair is small, and there are many of them: to go through `outputs.py` takes longer than to solve it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.threads import abandoned, map_in_order
from budgetsvm._polish.matrix.interface import RowMatrix
from budgetsvm._polish.outlook import OUTPUTS
from budgetsvm._polish.result import Solving
from budgetsvm._polish.span_problem import relative_gap
from budgetsvm._problem.pair_targets import PairTargets, pairs_of
from budgetsvm._problem.targets import Targets
from budgetsvm.losses import Hinge
from budgetsvm.monitoring._observer import PolishMoment

_Vector = NDArray[np.float64]
_Matrix = NDArray[np.float64]

_OF_TOLERANCE = 0.9  # what a pair aims at
# Rounds of a pair: at least and at most. One that is not solved by then takes Newton's method, which is ten times as long.
_FEWEST_ROUNDS, _MOST_ROUNDS = 10, 300
_MOST_VALUES = 1 << 22  # features of a pair: more are worth the time that they take elsewhere
# Features of the largest pair times rounds: seconds at most, as Ctrl-C has to wait for that.
_WORK_AT_ONCE = 6e7
# Features of the pairs of a chunk, and how many of them a call of the core visits before it returns.
_CHUNK, _VISITS = 3e6, 3e8


@dataclass(frozen=True, eq=False)
class SolvedPairs:
    """The solutions of some pairs, one after the other."""

    numbers: NDArray[np.int64]  #: which pairs
    w: _Matrix
    points: _Matrix  #: w(α), but for the constant
    certificates: _Matrix  #: P, D, what their gap is measured by, and the passes
    alpha: _Vector  #: pair after pair: of the rows of the first class, then of those of the second

    @property
    def passes(self) -> int:
        """The most that a pair has taken."""
        return int(self.certificates[:, 3].max(initial=0))


def suits(targets: Targets, matrix: RowMatrix) -> bool:
    """Whether these are pairs for the core."""
    if not (isinstance(targets, PairTargets) and isinstance(targets.loss, Hinge)):
        return False
    counts = np.sort(np.bincount(targets.labels, minlength=targets.n_classes))
    largest = int(counts[-2:].sum()) * matrix.basis.dimension
    return matrix.basis.free and counts[0] > 0 and largest <= _MOST_VALUES


def solve_pairs(matrix: RowMatrix, targets: PairTargets, how: Solving) -> list[SolvedPairs]:
    """Return what the core finds for all pairs, in their order, as far as there is time; some may be not good enough."""
    pairs = _Pairs(matrix, targets, how)
    chunks = _chunks(pairs.lengths * pairs.width)
    done = [0]

    def solve(numbers: NDArray[np.int64]) -> SolvedPairs:
        found = pairs.solve(numbers)
        done[0] += 1
        how.observer.in_task(OUTPUTS, done[0] / len(chunks))
        if len(found.numbers):
            gap = relative_gap(*found.certificates[-1, :3].tolist())
            how.observer.in_polish(PolishMoment(gap, found.passes))
        return found

    return map_in_order(solve, chunks, how.limits.n_threads)


class _Pairs:
    """All pairs, and their features side by side, class by class."""

    def __init__(self, matrix: RowMatrix, targets: PairTargets, how: Solving) -> None:
        order = np.concatenate(targets.rows_of_classes)
        block = matrix.feature_rows(order)
        features = block.rows[block.where]
        norms = np.einsum("ij,ij->i", features, features)
        sizes = np.array([len(rows) for rows in targets.rows_of_classes])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self._rows = features, norms, targets.box[order], starts
        self._classes, self.width = pairs_of(targets.n_classes), int(features.shape[1])
        self.lengths = sizes[self._classes].sum(axis=1)
        rounds = _WORK_AT_ONCE / (self.width * int(self.lengths.max()))
        self._rounds = int(np.clip(rounds, _FEWEST_ROUNDS, _MOST_ROUNDS))
        self._goal, self._seed = _OF_TOLERANCE * how.limits.tol, int(how.rng.integers(2**31))
        self._limits = how.limits

    def solve(self, numbers: NDArray[np.int64]) -> SolvedPairs:
        """Solve some pairs, the first ones if there is no time for all."""
        classes, room = self._classes[numbers], (len(numbers), self.width)
        ends = np.append(0, np.cumsum(self.lengths[numbers]))  # of their rows
        w, points = np.zeros(room), np.zeros(room)
        certificates, alpha = np.zeros((len(numbers), 4)), np.zeros(int(ends[-1]))
        done, how = 0, (self._goal, self._rounds, _VISITS, self._seed)
        while done < len(numbers) and not self._limits.late() and not abandoned():
            rest = w[done:], points[done:], certificates[done:], alpha[ends[done] :]
            done += _core.ascend_pairs(self._rows, classes[done:], *how, rest)
        return SolvedPairs(
            numbers[:done], w[:done], points[:done], certificates[:done], alpha[: ends[done]]
        )


def _chunks(values: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return some pairs at a time, given how many features they have."""
    calls = np.cumsum(values) // _CHUNK
    return np.split(np.arange(len(values)), np.flatnonzero(np.diff(calls)) + 1)

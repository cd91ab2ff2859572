"""Pairs of classes on common orthonormal features: what can be is solved by the core, some pairs in a call.

The problem of a pair is small, and there are many of them: to go through `outputs.py` takes longer than to solve it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.threads import map_in_order
from budgetsvm._polish.matrix.interface import RowMatrix
from budgetsvm._polish.outlook import OUTPUTS
from budgetsvm._polish.result import Solving
from budgetsvm._polish.span_problem import relative_gap
from budgetsvm._problem.pair_targets import PairTargets, pairs_of
from budgetsvm._problem.targets import Targets
from budgetsvm.losses import Hinge
from budgetsvm.monitoring._observer import PolishMoment

_Vector = NDArray[np.float64]

_OF_TOLERANCE = 0.5  # what a pair aims at
# Rounds of a pair: at least and at most. One that is not solved by then takes Newton's method, which is ten times as long.
_FEWEST_ROUNDS, _MOST_ROUNDS = 10, 300
_MOST_VALUES = 1 << 22  # features of a pair: more are worth the time that they take elsewhere
# Of a call, features times rounds: a second or so at most, as Ctrl-C has to wait for that.
_WORK_AT_ONCE = 6e7


@dataclass(frozen=True, eq=False)
class SolvedPair:
    """The solution of a pair; `rows` are those of the first class, then those of the second."""

    rows: NDArray[np.int64]
    w: _Vector
    beta: _Vector
    point_of_alpha: _Vector
    certificate: list[float]  #: P, D and what their gap is measured by
    passes: int

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(*self.certificate)


def suits(targets: Targets, matrix: RowMatrix) -> bool:
    """Whether these are pairs for the core."""
    if not (isinstance(targets, PairTargets) and isinstance(targets.loss, Hinge)):
        return False
    counts = np.sort(np.bincount(targets.labels, minlength=targets.n_classes))
    largest = int(counts[-2:].sum()) * matrix.basis.dimension
    return matrix.basis.free and counts[0] > 0 and largest <= _MOST_VALUES


def solve_pairs(matrix: RowMatrix, targets: PairTargets, how: Solving) -> Iterator[SolvedPair]:
    """Return what the core finds for every pair, in their order, as far as there is time; some may be not good enough."""
    order = np.concatenate(targets.rows_of_classes)
    block = matrix.feature_rows(order)
    features = block.rows[block.where]  # side by side, class by class
    norms = np.einsum("ij,ij->i", features, features)
    sizes = np.array([len(rows) for rows in targets.rows_of_classes])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    goal, seed = _OF_TOLERANCE * how.limits.tol, int(how.rng.integers(2**31))
    rows = features, norms, targets.box[order], starts
    largest = int(np.sort(sizes)[-2:].sum()) * features.shape[1]
    rounds = int(np.clip(_WORK_AT_ONCE / largest, _FEWEST_ROUNDS, _MOST_ROUNDS))
    values = int(_WORK_AT_ONCE / rounds)
    chunks = list(_chunks(pairs_of(targets.n_classes), sizes, features.shape[1], values))
    done = [0]

    def solve(pairs: NDArray[np.int64]) -> list[SolvedPair]:
        if how.limits.late():
            return []
        results = _Results(pairs, sizes, features.shape[1])
        _core.ascend_pairs(rows, pairs, goal, rounds, seed, results.arrays)
        done[0] += 1
        how.observer.in_task(OUTPUTS, done[0] / len(chunks))
        found = results.solved(targets)
        how.observer.in_polish(PolishMoment(found[-1].gap, found[-1].passes))
        return found

    for found in map_in_order(solve, chunks, how.limits.n_threads):
        if not found:
            return
        yield from found


class _Results:
    """Room for what the core finds out of some pairs."""

    def __init__(self, pairs: NDArray[np.int64], sizes: NDArray[np.int64], width: int) -> None:
        count = len(pairs)
        self._pairs, self._ends = pairs, np.cumsum(sizes[pairs].sum(axis=1))
        self.arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]] = (
            np.zeros((count, width)),
            np.zeros((count, width)),
            np.zeros((count, 4)),
            np.zeros(int(self._ends[-1])),
        )

    def solved(self, targets: PairTargets) -> list[SolvedPair]:
        """Return all of it, pair by pair."""
        w, points, certificates, alpha = self.arrays
        parts, members = np.split(alpha, self._ends[:-1]), targets.rows_of_classes
        for part, (a, _) in zip(parts, self._pairs.tolist(), strict=True):
            part[len(members[a]) :] *= -1.0  # α y
        return [
            SolvedPair(
                np.concatenate([members[a], members[b]]),
                w[k],
                parts[k],
                points[k],
                certificates[k, :3].tolist(),
                int(certificates[k, 3]),
            )
            for k, (a, b) in enumerate(self._pairs.tolist())
        ]


def _chunks(
    pairs: NDArray[np.int64], sizes: NDArray[np.int64], width: int, values: int
) -> Iterator[NDArray[np.int64]]:
    """Return some pairs at a time, of so many features: a bounded amount of work."""
    ends = np.cumsum(sizes[pairs].sum(axis=1) * width)
    calls = ends // values
    yield from (np.ascontiguousarray(pairs[calls == call]) for call in np.unique(calls))

"""Pairs of classes with few rows in all: all kernel values are at hand, and the core solves many pairs in one call.

Such a pair takes microseconds, of which there may be tens of thousands: to prepare each of them in Python takes far longer.
"""

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.limits import Limits
from budgetsvm._common.threads import map_in_order
from budgetsvm._exact.solved import SolvedDuals
from budgetsvm._exact.values.groups import Groups
from budgetsvm._problem.pair_targets import PairTargets, pairs_of
from budgetsvm._problem.problem import Problem
from budgetsvm.kernels import Kernel

_Indices = NDArray[np.int64]

_MOST_ROWS = 2048
_MOST_ROUNDS = 2000  # of a pair, and those of two thousand rows take some ten each
_AT_ONCE = 1e7  # kernel values of a call's pairs, which is some tens of milliseconds


def are_small(targets: PairTargets) -> bool:
    """Whether all kernel values may be at hand."""
    return len(targets) <= _MOST_ROWS


def solve_small_pairs(
    kernel: Kernel, problem: Problem, limits: Limits, goal: float
) -> SolvedDuals | None:
    """Return the solutions of all pairs; None if one of them takes too long."""
    targets = problem.targets
    assert isinstance(targets, PairTargets)
    members = targets.rows_of_classes
    order, pairs = np.concatenate(members), pairs_of(targets.n_classes)
    sizes = np.array([len(rows) for rows in members])
    lengths = sizes[pairs].sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    values, box = Groups(problem.rows, kernel, [order], limits).own(0), targets.box[order]
    beta, residual = np.empty(int(lengths.sum())), np.empty(int(lengths.sum()))
    certificates, ends = np.empty((len(pairs), 5)), np.append(0, np.cumsum(lengths))

    def solve(some: slice) -> None:
        limits.tick()
        own = slice(ends[some.start], ends[some.stop])
        found = beta[own], residual[own], certificates[some]
        _core.climb_pairs(values, box, starts, pairs[some], goal, _MOST_ROUNDS, found)

    map_in_order(solve, _chunks(lengths), limits.n_threads)
    primal, dual, scale, bias, rounds = certificates.T
    if (primal - dual > limits.tol * scale).any():
        return None
    rows, y = _entries(starts, pairs)
    outputs = np.repeat(np.arange(len(pairs)), lengths)
    found = np.ascontiguousarray(certificates[:, :3])
    alpha = beta * y if len(pairs) == 1 else None
    passes = max(1, int(rounds.max()))
    return SolvedDuals(outputs, order[rows], beta, y - residual, bias.copy(), found, passes, alpha)


def _chunks(lengths: _Indices) -> list[slice]:
    """Return some pairs at a time."""
    calls = np.cumsum(lengths.astype(np.float64) ** 2) // _AT_ONCE
    ends = [*(np.flatnonzero(np.diff(calls)) + 1).tolist(), len(lengths)]
    return [slice(start, stop) for start, stop in zip([0, *ends[:-1]], ends, strict=True)]


def _entries(starts: _Indices, pairs: _Indices) -> tuple[_Indices, NDArray[np.float64]]:
    """Return the rows of all pairs, class after class, and their labels."""
    classes = pairs.ravel()
    sizes = np.diff(starts)[classes]
    offsets = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.arange(int(sizes.sum())) - offsets + np.repeat(starts[classes], sizes)
    labels = np.repeat(np.tile([1.0, -1.0], len(pairs)), sizes)
    return rows, labels

"""Dual coordinate ascent for the SVM of Weston & Watkins, one pair of classes at a time.

The variables α_ic of rows of class a against b, and of rows of class b against a, change w_a and w_b
by opposite amounts: w_a + u and w_b - u, u = Σ ±α_ic g_i. For the others fixed they make up an SVM
with two classes, whose decision function is v = w_a - w_b and whose rows are √2 g_i, as
‖w_a + u‖² + ‖w_b - u‖² = 2 ‖u + (w_a - w_b) / 2‖² + constant. So the core for two classes solves it.

Pairs without a class in common do not know of each other: as in a tournament, where everybody plays
everybody and many play at the same time, rounds of such pairs run in threads, and the number of
threads changes nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._threads import map_in_order

_ROOT = float(np.sqrt(2.0))
_NO_SHRINKING = np.inf, -np.inf


@dataclass(eq=False)
class PairProblem:
    """Rows of two classes a and b, with their variables for the other one of the two."""

    a: int
    b: int
    rows: NDArray[np.int64]  #: where they are among the features at hand
    sign: NDArray[np.float64]  #: 1 for rows of class a, -1 for those of b
    alpha: NDArray[np.float64]
    variables: NDArray[np.int64]  #: row · n_classes + class, for whoever keeps the variables
    active: NDArray[np.int64]  #: which ones shrinking has left


@dataclass(frozen=True, eq=False)
class Features:
    """√2 times orthonormal features of some rows, and what else belongs to these."""

    rows: NDArray[np.float32] | NDArray[np.float64]
    curvature: NDArray[np.float32] | NDArray[np.float64]
    box: NDArray[np.float64]


def tournament(n_classes: int) -> list[list[tuple[int, int]]]:
    """Return rounds of disjoint pairs (a, b), a < b, in which every pair occurs once."""
    n = n_classes + n_classes % 2  # with a bye for an odd number
    seats = list(range(n))
    rounds = []
    for _ in range(n - 1):
        pairs = [(min(p), max(p)) for p in zip(seats[: n // 2], reversed(seats), strict=False)]
        rounds.append([(a, b) for a, b in pairs if b < n_classes])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds


def split_into_pairs(
    wanted: NDArray[np.bool_],
    share: NDArray[np.float32],
    labels: NDArray[np.int64],
    features: tuple[NDArray[np.int64], NDArray[np.float64]],
) -> dict[tuple[int, int], PairProblem]:
    """Sort the variables wanted of some rows by pairs of classes.

    `share` has α_ic / C_i of these rows, `features` where they are among the features, and C_i.
    """
    n_classes = wanted.shape[1]
    where, box = features
    row, other = np.nonzero(wanted)
    own = labels[row]
    key = np.minimum(own, other) * n_classes + np.maximum(own, other)
    order = np.argsort(key, kind="stable")
    row, other, own, key = row[order], other[order], own[order], key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    pairs = {}
    for some in np.split(np.arange(len(key)), starts[1:]):
        if len(some) == 0:
            continue
        a, b = divmod(int(key[some[0]]), n_classes)
        i, c = row[some], other[some]
        pairs[a, b] = PairProblem(
            a,
            b,
            where[i],
            np.where(own[some] == a, 1.0, -1.0),
            share[i, c] * box[i],
            i * n_classes + c,
            np.arange(len(some)),
        )
    return pairs


class PairwiseAscent:
    """Passes over pair after pair, which change w (n_classes × r, in place) and the pairs' α."""

    def __init__(
        self,
        features: Features,
        pairs: dict[tuple[int, int], PairProblem],
        w: NDArray[np.float64],
        n_threads: int,
    ) -> None:
        self.features = features
        self.w = w
        self.n_threads = n_threads
        rounds = tournament(len(w))
        self.rounds = [[pairs[key] for key in keys if key in pairs] for keys in rounds]
        self.pairs = list(pairs.values())
        self.bounds = _NO_SHRINKING

    def run(self, passes: int, precision: float, rng: np.random.Generator) -> None:
        """Ascend until no gradient is wrong by more than the precision, or all passes are done."""
        for _ in range(passes):
            shrunk = any(len(pair.active) < len(pair.rows) for pair in self.pairs)
            upper, lower = self._pass(rng)
            if upper - lower <= precision:
                if not shrunk:
                    return
                for pair in self.pairs:
                    pair.active = np.arange(len(pair.rows))
                self.bounds = _NO_SHRINKING
            else:
                self.bounds = upper if upper > 0 else np.inf, lower if lower < 0 else -np.inf

    def _pass(self, rng: np.random.Generator) -> tuple[float, float]:
        """Visit all variables once; returns the extreme projected gradients."""
        upper = lower = 0.0
        for pairs in self.rounds:
            work = [(pair, rng.permutation(pair.active)) for pair in pairs if len(pair.active)]
            for high, low in map_in_order(lambda item: self._visit(*item), work, self.n_threads):
                upper, lower = max(upper, high), min(lower, low)
        return upper, lower

    def _visit(self, pair: PairProblem, order: NDArray[np.int64]) -> tuple[float, float]:
        """One pass of the core over the active variables of a pair."""
        features, n = self.features, len(self.features.rows)
        sign, alpha = np.empty(n), np.empty(n)  # the core looks only at rows in the order
        sign[pair.rows], alpha[pair.rows] = pair.sign, pair.alpha
        before = ((self.w[pair.a] - self.w[pair.b]) / _ROOT).astype(features.rows.dtype)
        v, rows = before.copy(), pair.rows[order]
        kept, upper, lower = _core.ascend(
            features.rows, features.curvature, sign, features.box, alpha, v, rows, *self.bounds
        )
        change = (v.astype(np.float64) - before) / _ROOT
        self.w[pair.a] += change
        self.w[pair.b] -= change
        pair.alpha = alpha[pair.rows]
        if kept < len(order):
            pair.active = np.flatnonzero(np.isin(pair.rows, rows[:kept]))
        return upper, lower

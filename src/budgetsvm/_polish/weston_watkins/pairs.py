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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.threads import map_in_order
from budgetsvm._polish.ascent import NOBODY_RESTS, Beyond, LinearSVM, Visits
from budgetsvm._polish.matrix.interface import RowMatrix
from budgetsvm.losses import Hinge

_ROOT = float(np.sqrt(2.0))
_PIECES = 8  # of the rows' features, which are computed piece by piece to save memory


@dataclass(eq=False)
class PairProblem:
    """Rows of two classes a and b, with their variables for the other one of the two."""

    a: int
    b: int
    rows: NDArray[np.int64]  #: where they are among the features at hand
    sign: NDArray[np.float64]  #: 1 for rows of class a, -1 for those of b
    alpha: NDArray[np.float64]
    variables: NDArray[np.int64]  #: their numbers, for whoever keeps them
    active: NDArray[np.int64]  #: which ones shrinking has left


class WorkingRows:
    """√2 times the orthonormal features of rows that are visited, which change little over time.

    All others are forgotten where there are more than `matrix.most_some`.
    """

    def __init__(self, matrix: RowMatrix, box: NDArray[np.float64]) -> None:
        self.matrix = matrix
        self.dtype = matrix.dtype
        self.count = 0
        self._of_all = box
        self._numbers = np.full(matrix.n, -1, np.int64)
        most = min(matrix.n, matrix.most_some)
        # Large arrays take memory only where they are written to.
        self._features: NDArray[Any] = np.empty((most, matrix.basis.dimension), self.dtype)
        self._squared_norms: NDArray[Any] = np.empty(most, self.dtype)
        self._box = np.empty(most)

    def find(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the chosen rows are, after their features are computed."""
        new = chosen[self._numbers[chosen] < 0]
        if self.count + len(new) > len(self._features):
            self._numbers[:] = -1
            self.count, new = 0, chosen
        for piece in np.array_split(new, len(new) * _PIECES // len(self._features) + 1):
            here = slice(self.count, self.count + len(piece))
            features, block = self._features[here], self.matrix.feature_rows(piece)
            np.take(block.rows, block.where, axis=0, out=features, mode="clip")
            features *= _ROOT
            self._squared_norms[here] = np.einsum("ij,ij->i", features, features)
            self._box[here] = self._of_all[piece]
            self._numbers[piece] = np.arange(here.start, here.stop)
            self.count = here.stop
        return self._numbers[chosen]

    def values(self, where: NDArray[np.int64], w: NDArray[np.float64]) -> NDArray[Any]:
        """Return f_ic of some rows, good enough to choose variables by."""
        values = np.empty((len(where), len(w)), self._features.dtype)
        coef = (w.T / _ROOT).astype(values.dtype)
        for part in self.matrix.parts(len(where)):
            np.matmul(self._features[where[part]], coef, out=values[part])
        return values

    def ascend(
        self,
        v: NDArray[Any],
        order: NDArray[np.int64],
        variables: tuple[NDArray[np.float64], NDArray[np.float64]],
        beyond: Beyond,
    ) -> Visits:
        """Run the core for two classes: v, the order and the variables (sign, α) change in place."""
        n, (sign, alpha) = self.count, variables
        rows, norms, box = self._features[:n], self._squared_norms[:n], self._box[:n]
        svm = LinearSVM(Hinge().core(), rows, norms, sign, np.ones(n), box, alpha, v)
        return svm.visit(order, beyond)


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
    alpha: NDArray[np.float64],
    labels: NDArray[np.int64],
    where: NDArray[np.int64],
) -> dict[tuple[int, int], PairProblem]:
    """Sort variables of some rows by pairs of classes.

    `wanted` says which, for all rows and classes; `alpha` has the values of these, in order.
    """
    n_classes = wanted.shape[1]
    variables = np.flatnonzero(wanted)
    row, other = np.divmod(variables, n_classes)
    own = labels[row]
    key = np.minimum(own, other) * n_classes + np.maximum(own, other)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    pairs = {}
    for some in np.split(order, starts[1:]) if len(order) else []:
        a, b = divmod(int(key[some[0]]), n_classes)
        pairs[a, b] = PairProblem(
            a,
            b,
            where[row[some]],
            np.where(own[some] == a, 1.0, -1.0),
            alpha[some],
            variables[some],
            np.arange(len(some)),
        )
    return pairs


class PairwiseAscent:
    """Passes over pair after pair, which change w (n_classes × r, in place) and the pairs' α."""

    def __init__(
        self,
        rows: WorkingRows,
        pairs: dict[tuple[int, int], PairProblem],
        w: NDArray[np.float64],
        n_threads: int,
    ) -> None:
        self.rows = rows
        self.w = w
        self.n_threads = n_threads
        rounds = tournament(len(w))
        self.rounds = [[pairs[key] for key in keys if key in pairs] for keys in rounds]
        self.pairs = list(pairs.values())
        self.beyond = NOBODY_RESTS

    def run(self, passes: int, precision: float, rng: np.random.Generator) -> None:
        """Ascend until no gradient is wrong by more than the precision, or all passes are done."""
        for _ in range(passes):
            self.rows.matrix.tick()
            shrunk = any(len(pair.active) < len(pair.rows) for pair in self.pairs)
            visits = self._pass(rng)
            self.beyond = visits.beyond()
            if visits.violation <= precision:
                if not shrunk:
                    return
                for pair in self.pairs:
                    pair.active = np.arange(len(pair.rows))
                self.beyond = NOBODY_RESTS

    def _pass(self, rng: np.random.Generator) -> Visits:
        """Visit all variables once."""
        kept, upper, lower = 0, 0.0, 0.0
        for pairs in self.rounds:
            work = [(pair, rng.permutation(pair.active)) for pair in pairs if len(pair.active)]
            for visits in map_in_order(lambda item: self._visit(*item), work, self.n_threads):
                kept += visits.kept
                upper, lower = max(upper, visits.upper), min(lower, visits.lower)
        return Visits(kept, upper, lower)

    def _visit(self, pair: PairProblem, order: NDArray[np.int64]) -> Visits:
        """One pass of the core over the active variables of a pair."""
        n, rows = self.rows.count, pair.rows[order]
        sign, alpha = np.empty(n), np.empty(n)  # the core looks only at rows in the order
        sign[rows], alpha[rows] = pair.sign[order], pair.alpha[order]
        before = ((self.w[pair.a] - self.w[pair.b]) / _ROOT).astype(self.rows.dtype)
        v, kept_first = before.copy(), rows.copy()
        visits = self.rows.ascend(v, kept_first, (sign, alpha), self.beyond)
        change = (v.astype(np.float64) - before) / _ROOT
        self.w[pair.a] += change
        self.w[pair.b] -= change
        pair.alpha[order] = alpha[rows]
        if visits.kept < len(order):
            number = np.empty(n, np.int64)
            number[rows] = order
            pair.active = number[kept_first[: visits.kept]]
        return visits

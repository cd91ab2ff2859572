"""One against one: an output for each pair of classes, which rows of these two classes alone know of.

All pairs together have n (K - 1) rows, as many as K - 1 outputs that all rows know of.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common import memory
from budgetsvm._problem.targets import ClassTargets, SingleTarget

_Matrix = NDArray[np.float64]
_Indices = NDArray[np.int64]

_LARGEST = 1e150
_ANY_ROOM = 1e8  # bytes that are not worth a question
_VALUES = 1 << 20  # of rows × outputs, looked at together


def count_pairs(n_classes: int) -> int:
    """Return how many pairs there are of so many classes."""
    return n_classes * (n_classes - 1) // 2


def check_room(n_classes: int, n_terms: int) -> None:
    """Raise a MemoryError if there is no room for all pairs of so many classes, with so many terms at least."""
    pairs = count_pairs(n_classes)
    # Incidence, once more in single precision; coefficients, and the pairs themselves.
    needed = pairs * (12.0 * n_classes + 8.0 * (n_terms + 2))
    if needed > _ANY_ROOM and needed > (there := memory.free()):
        message = (
            f"{n_classes:,} classes are {pairs:,} pairs, each with a function of its own, which take {needed / 1e9:,.1f} GB of "
            f"memory, and {there / 1e9:,.1f} GB are free: multi_class='ovr' has one for each class, and numbers that are to be "
            "predicted are for BudgetSVR"
        )
        raise MemoryError(message)


@cache
def pairs_of(n_classes: int) -> _Indices:
    """Return the classes (a, b) of every pair, a < b, in the order of the outputs: that of scikit-learn's SVC."""
    pairs: _Indices = np.column_stack(np.triu_indices(n_classes, 1)).astype(np.int64)
    pairs.flags.writeable = False
    return pairs


def of_known_pairs(
    rows: _Matrix,
    weights: _Matrix,
    labels: NDArray[np.integer[Any]],
    n_classes: int,
    bias: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return rows @ weights.T + bias, (rows, pairs), of the pairs that a row knows of; zero elsewhere."""
    values = np.zeros((len(rows), len(weights)))
    for a in range(n_classes):
        places, mine = np.flatnonzero(labels == a), _pairs_with(n_classes)[a]
        known = rows[places] @ weights[mine].T
        values[np.ix_(places, mine)] = known if bias is None else known + bias[mine]
    return values


@cache
def _incidence(n_classes: int) -> _Matrix:
    """Return 1 for the first class of a pair and -1 for the second, (classes, pairs)."""
    pairs = pairs_of(n_classes)
    matrix, numbers = np.zeros((n_classes, len(pairs))), np.arange(len(pairs))
    matrix[pairs[:, 0], numbers], matrix[pairs[:, 1], numbers] = 1.0, -1.0
    matrix.flags.writeable = False
    return matrix


@cache
def _pairs_with(n_classes: int) -> _Indices:
    """Return which pairs every class is in, in their order, (classes, classes - 1)."""
    numbers = np.zeros((n_classes, n_classes), np.int64)
    first, second = pairs_of(n_classes).T
    numbers[first, second] = numbers[second, first] = np.arange(len(first))
    found = numbers[~np.eye(n_classes, dtype=np.bool_)].reshape(n_classes, n_classes - 1)
    found.flags.writeable = False
    return found


def differences(of_classes: _Matrix, n_classes: int) -> _Matrix:
    """Return what functions of every class, (classes, ...), are for pairs: that of the first less the second."""
    first, second = pairs_of(n_classes).T
    return np.asarray(of_classes[first] - of_classes[second])


def nearest_classes(of_pairs: _Matrix, n_classes: int) -> _Matrix:
    """Return functions of every class, (classes, ...), whose differences are nearest to those of the pairs."""
    return np.asarray(_incidence(n_classes) @ of_pairs / n_classes)


def votes(values: _Matrix, n_classes: int) -> _Matrix:
    """Return for every row and class how many pairs it wins, and less than a half more or less by their values.

    As scikit-learn's SVC has it: the largest is the class predicted, and the sum of values decides on ties.
    """
    incidence = _incidence(n_classes).T
    sums = np.clip(values, -_LARGEST, _LARGEST) @ incidence  # infinity times 0 is not a number
    return np.asarray(_wins(values >= 0, n_classes) + sums / (3 * (abs(sums) + 1)))


def _wins(first: NDArray[np.bool_], n_classes: int) -> _Matrix:
    """Return how many pairs each class wins, (rows, classes), given whether the first of each pair does."""
    # Each class is the second of as many pairs as classes come before it, which it has won until the first one does.
    return np.asarray(first @ _signs(n_classes) + np.arange(n_classes))


@cache
def _signs(n_classes: int) -> NDArray[np.float32]:
    """Return the incidence as (pairs, classes), in single precision: sums of so few ones are exact, and take half the time."""
    matrix = np.ascontiguousarray(_incidence(n_classes).T, np.float32)
    matrix.flags.writeable = False
    return matrix


def head_to_head(values: _Matrix, n_classes: int) -> NDArray[np.intp]:
    """Return for every row the class that wins most pairs and, of several, most clearly against each other."""
    wins = _wins(values >= 0, n_classes)
    found: NDArray[np.intp] = wins.argmax(axis=1)
    tied, best = _tied(wins, 2)
    if len(tied):
        found[tied] = _among(values[tied], best).argmax(axis=1)
    return found


def near_head_to_head(values: _Matrix, n_classes: int, errors: _Matrix) -> NDArray[np.bool_]:
    """Say of which rows the class may be another one of those that win as many pairs, if values are off by so much.

    Of two such classes it is the sign of one value that decides, which is for others to look at.
    """
    found = np.zeros(len(values), np.bool_)
    tied, best = _tied(_wins(values >= 0, n_classes), 3)
    if len(tied):
        second, first = np.partition(_among(values[tied], best), -2, axis=1)[:, -2:].T
        most = np.broadcast_to(2 * n_classes * errors.max(axis=1), len(values))
        found[tied] = ~(first - second >= most[tied])
    return found


def _tied(wins: _Matrix, least: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the rows in which so many classes or more win most pairs, and which classes these are, (tied rows, classes)."""
    best = wins == wins.max(axis=1, keepdims=True)
    tied = np.flatnonzero(best.sum(axis=1) >= least)
    return tied, best[tied]


def _among(values: _Matrix, best: NDArray[np.bool_]) -> _Matrix:
    """Return the sum of the values of every class against the best ones alone; -inf for a class that is none of them.

    Two such classes have a pair of their own, which decides. What they are worth against a third one, that won less, is
    mostly about rows that are far away, and counts for nothing here.
    """
    first, second = pairs_of(best.shape[1]).T
    known = np.clip(values, -_LARGEST, _LARGEST)  # infinity times 0 is not a number
    sums = np.where(best[:, first] & best[:, second], known, 0.0) @ _incidence(best.shape[1]).T
    return np.where(best, sums, -np.inf)


def first_winners(values: _Matrix, n_classes: int, order: _Indices | None) -> NDArray[np.intp]:
    """Return for every row the class that wins most pairs and, of several, comes first: as LIBSVM has it.

    A value of zero is a win of the class that comes later.
    """
    order = np.arange(n_classes) if order is None else order
    ranks = np.argsort(order)
    a, b = pairs_of(n_classes).T
    wins = _wins(np.where(ranks[a] < ranks[b], values > 0, values >= 0), n_classes)
    return np.asarray(order[wins[:, order].argmax(axis=1)])


def rows_at_once(n_outputs: int) -> int:
    """Return how many rows to evaluate at the same time: all pairs of many classes take memory."""
    return max(64, _VALUES // max(1, n_outputs))


@dataclass(frozen=True, eq=False)
class PairTargets(ClassTargets):
    """One output for each pair of classes: +1 for rows of the first, -1 for those of the second."""

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return count_pairs(self.n_classes)

    @property
    def total_rows(self) -> int:
        """How many rows all outputs have, one after the other."""
        return (self.n_classes - 1) * len(self)

    @cached_property
    def rows_of_classes(self) -> list[_Indices]:
        order = np.argsort(self.labels, kind="stable").astype(np.int64)
        ends = np.cumsum(np.bincount(self.labels, minlength=self.n_classes))
        return np.split(order, ends[:-1])

    def rows_of(self, c: int) -> _Indices:
        """Return which rows know of an output, sorted."""
        a, b = pairs_of(self.n_classes)[c]
        return np.sort(np.concatenate([self.rows_of_classes[a], self.rows_of_classes[b]]))

    def of_output(self, c: int) -> SingleTarget:
        """Return the targets of one output, of the rows that know of it."""
        rows = self.rows_of(c)
        y = np.where(self.labels[rows] == pairs_of(self.n_classes)[c, 0], 1.0, -1.0)
        return SingleTarget.of_labels(y, self.box[rows], self.loss)

    def joint(self) -> ClassTargets:
        """Return what phase 1 learns from: the joint problem, whose pairs are differences of classes."""
        return ClassTargets(self.box, self.loss, self.labels, self.n_classes).joint()

    def costs(self, values: _Matrix) -> NDArray[np.float64]:
        """Return what every row costs, given the values (rows, outputs): only those of its pairs count."""
        total, incidence = np.zeros(len(self)), _incidence(self.n_classes)
        for a, rows in enumerate(self.rows_of_classes):
            mine = _pairs_with(self.n_classes)[a]
            step = rows_at_once(len(mine))
            for some in (rows[i : i + step] for i in range(0, len(rows), step)):
                slack = self.loss.target - values[np.ix_(some, mine)] * incidence[a, mine]
                total[some] = self.loss.value(slack).sum(axis=1)
        return self.box * total

    def score(self, values: _Matrix) -> float:
        """Return the accuracy."""
        return float(np.mean(votes(values, self.n_classes).argmax(axis=1) == self.labels))

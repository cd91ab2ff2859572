"""The rows that scales are found with: a sample, and targets of which squared errors make sense."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._estimators.relevance.held_out_error import Part

_Array: TypeAlias = NDArray[np.float64]
_MOST_COLUMNS = 100  # classes with a target of their own: the largest ones


@dataclass(frozen=True, eq=False)
class Aims:
    """What is to be predicted of rows: numbers, or classes by the largest of several numbers."""

    Y: _Array  #: (rows, outputs), with a variance of 1 in all
    codes: NDArray[np.int64] | None = None  #: of the classes of rows
    middle: _Array | None = None  #: what Y of a class lacks

    def part(self, rows: Any) -> "Aims":
        """Return those of some rows."""
        codes = None if self.codes is None else self.codes[rows]
        return Aims(self.Y[rows], codes, self.middle)

    def losses(self, values: _Array) -> _Array:
        """Return how wrong predictions of all rows are: squares, or 1 for another class."""
        if self.codes is None or self.middle is None:
            return np.asarray(((values - self.Y) ** 2).sum(axis=1))
        return np.asarray((values + self.middle).argmax(axis=1) != self.codes, np.float64)


def numbers_to_aim_at(y: NDArray[Any], weights: _Array) -> Aims:
    """Return targets of the same variance each."""
    Y = np.asarray(y, np.float64).reshape(len(y), -1)
    Y = Y / np.maximum(np.abs(Y).max(axis=0), np.finfo(float).tiny)  # whose squares are finite
    Y, _ = _centred(Y, weights)
    spread = np.sqrt(np.average(Y**2, axis=0, weights=weights))
    Y = np.divide(Y, spread, out=np.zeros_like(Y), where=spread > np.finfo(float).eps)
    return Aims(Y / np.sqrt(Y.shape[1]))


def classes_to_aim_at(y: NDArray[Any], weights: _Array) -> Aims:
    """Return a column for each class, and one more for all small ones if there are many."""
    _, codes = np.unique(y, return_inverse=True)
    largest = np.argsort(-np.bincount(codes, weights), kind="stable")
    ranks = np.empty_like(largest)
    ranks[largest] = np.arange(len(largest))
    codes = np.minimum(ranks[codes], _MOST_COLUMNS)
    Y, middle = _centred(np.eye(codes.max() + 1)[codes], weights)
    total = np.sqrt(float(np.average((Y**2).sum(axis=1), weights=weights)))
    if total == 0:  # a single class
        return Aims(Y)
    return Aims(Y / total, codes, middle / total)


def _centred(Y: _Array, weights: _Array) -> tuple[_Array, _Array]:
    middle = np.average(Y, axis=0, weights=weights)
    return Y - middle, middle


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows in no order, standardised, with weights: some to learn from, and others to judge by."""

    X: Any
    aims: Aims
    weights: _Array
    n_learn: int

    def part(self, rows: slice) -> Part:
        """Return some of the rows, as a machine learns from them."""
        return Part.of(self.X[rows], self.aims.Y[rows], self.weights[rows])

    @property
    def learn(self) -> slice:
        """The rows to learn from."""
        return slice(self.n_learn)

    @property
    def judge(self) -> slice:
        """The others."""
        return slice(self.n_learn, None)

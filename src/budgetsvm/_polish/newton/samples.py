"""Sums over rows that change little from one time to the next, and samples of rows that stand for all."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.matrices.vectors import evenly_spread, nonzero_places
from budgetsvm._polish.matrix.interface import Matrix

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]

_HEAVY = 10  # times the mean weight


class RowSum:
    """Σ_i weights_i k_i k_iᵀ, or parts of it, where few weights change from one time to the next."""

    def __init__(self, form: Callable[[Matrix, _Indices, _Vector], NDArray[np.float64]]) -> None:
        self._form = form  # of some rows, with their weights
        self._matrix: Matrix | None = None
        self._weights: _Vector = np.empty(0)
        self._total: NDArray[np.float64] = np.empty((0, 0))
        self._changes = 0  # rows since the sum was formed anew: rounding errors add up

    def work(self, matrix: Matrix, weights: _Vector) -> int:
        """Return how many rows have to be gone through for the given weights."""
        anew = int(np.count_nonzero(weights))
        if self._matrix is not matrix:
            return anew
        changed = int(np.count_nonzero(weights != self._weights))
        return changed if self._changes + changed < anew else anew

    def over(self, matrix: Matrix, weights: _Vector) -> NDArray[np.float64]:
        """Return the sum for the given weights."""
        if self._matrix is matrix:
            change = weights - self._weights
            more, less = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
            self._changes += len(more) + len(less)
        if self._matrix is matrix and self._changes < np.count_nonzero(weights):
            self._matrix = None  # in case that it is broken off
            if len(more):
                self._total += self._form(matrix, more, change[more])
            if len(less):
                self._total -= self._form(matrix, less, -change[less])
        else:
            self._matrix, chosen = None, nonzero_places(weights)
            self._total = self._form(matrix, chosen, weights[chosen])
            self._changes = 0
        self._matrix, self._weights = matrix, weights
        return self._total


@dataclass(frozen=True, eq=False)
class Sample:
    """Weights of which some stand for all: `factor` times their sum over rows is about that of all weights."""

    weights: _Vector
    factor: float = 1.0
    complete: bool = True  #: all rows are in


class Samples:
    """Samples of the rows with given weights, each a part of the larger ones.

    Which rows come first is a matter of their place alone: so samples for weights that resemble each other have most
    rows in common. Multiples of the golden ratio spread them evenly.
    """

    def __init__(self, weights: _Vector, indices: _Indices) -> None:
        self.everything = Sample(weights)
        self._weights = weights
        own = weights[indices]
        heavy = own > _HEAVY * own.mean() if len(own) else np.zeros(0, bool)
        self._heavy, self._light = indices[heavy], indices[~heavy]

    def of(self, count: int) -> Sample:
        """Return a sample of about so many rows; heavy ones, whom nobody can stand for, come on top."""
        if count >= len(self._light):
            return self.everything
        some, weights = evenly_spread(self._light, count), np.zeros_like(self._weights)
        light = self._weights[self._light].sum(), self._weights[some].sum()
        factor = float(light[0] / light[1])
        weights[some] = self._weights[some]
        weights[self._heavy] = self._weights[self._heavy] / factor
        return Sample(weights, factor, complete=False)

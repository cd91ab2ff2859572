"""Blocks along the diagonal of K_ZZ + Σ_i c_i k_i k_iᵀ, where terms come in groups that hardly see each other.

Where most kernel values are zero, terms are put into an order in which near ones stand together (`_model/pruning.py`):
groups of some hundred of them have most of what the matrix is. Their factors take r s² operations instead of r³.
"""

from collections.abc import Sequence
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from budgetsvm._common.matrices.triangular import solve_factored
from budgetsvm._common.threads import map_in_order
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.newton.samples import RowSum, Sample
from budgetsvm._polish.newton.system import Preconditioner

_Array = NDArray[np.float64]


class Groups:
    """Groups of the terms of a basis, with their blocks of K_ZZ."""

    def __init__(self, basis: Basis, groups: Sequence[NDArray[np.int64]]) -> None:
        self._groups, self._n_threads = groups, basis.n_threads
        self._grams = [basis.gram[np.ix_(group, group)] for group in groups]
        self._sum = RowSum(lambda matrix, rows, weights: matrix.gram_of_groups(rows, weights))

    def factorise(self, matrix: Matrix, sample: Sample, scale: float) -> Preconditioner:
        """Return what solves systems with the blocks of K_ZZ + Σ_i c_i k_i k_iᵀ."""
        sums, factor = self._sum.over(matrix, sample.weights), scale * sample.factor

        def factorise(both: tuple[_Array, _Array]) -> _Array:
            gram, block = both
            return _factor(gram + factor * block[: len(gram), : len(gram)])

        blocks = zip(self._grams, sums, strict=True)
        return partial(self._solve, map_in_order(factorise, blocks, self._n_threads))

    def _solve(self, factors: list[_Array], v: _Array) -> _Array:
        x = np.empty_like(v)
        for group, factor in zip(self._groups, factors, strict=True):
            x[group] = solve_factored(factor, v[group])
        return x


def _factor(block: _Array) -> _Array:
    """Return L of a block; one that rounding made indefinite gets a ridge."""
    largest = float(np.diag(block).max())
    for power in count():
        factor, failed = lapack.dpotrf(block.T, lower=0, clean=0)
        if not failed:
            return np.asarray(factor.T)
        np.einsum("ii->i", block)[:] += 1e-12 * largest * 100**power
    raise AssertionError

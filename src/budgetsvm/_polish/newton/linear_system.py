"""Newton's linear systems, (I + Σ_i c_i g_i g_iᵀ) s = v, without forming the matrix where that is dear.

In kernel values, s = Lᵀ x with (K_ZZ + Σ_i c_i k_i k_iᵀ) x = L v. Forming this matrix from m rows takes
m r² operations, as many as a hundred passes over them. For few rows that is done, and only the rows
that came or went since the step before are added or taken away. For many, a sample of them tells
nearly as much as all, and the matrix of one step as much as that of the step before: the Cholesky
factor of such a matrix makes conjugate gradients converge in a few iterations of one pass each.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]

_FEW = 3  # rows per dimension: then the matrix is formed
_SAMPLE_SHARE = 8  # otherwise of one row in so many, but of `_FEW` per dimension at least
_HEAVY = 10  # times the mean weight
_PRECISION = 0.1  # of a step: the next one corrects what is missing
_MOST_ITERATIONS = 60
# With an old factor; forming a new one takes about as long.
_FEWEST_TRIALS, _MOST_TRIALS, _SUMS_PER_VALUE = 6, 20, 10


class HessianSolver:
    """Solves one system after another, and remembers what may be of use for the next."""

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        self._factor: tuple[NDArray[np.float64], bool] | None = None
        self._sum = _RowSum()

    def solve(self, matrix: Matrix, weights: _Vector, scale: float, v: _Vector) -> _Vector:
        """Return s for c_i = scale · weights_i, most of which may be zero."""
        b = self.basis.lower @ v
        indices = np.flatnonzero(weights)
        if len(indices) <= _FEW * len(b) or not matrix.at_hand:
            self._renew(matrix, scale * self._sum.over(matrix, weights))
            return np.asarray(self.basis.lower.T @ self._approximate(b))
        stride = max(1, int(len(indices) / max(_FEW * len(b), len(indices) / _SAMPLE_SHARE)))
        system = _System(self, matrix, indices, scale * weights[indices], b)
        x, converged = np.zeros_like(b), False
        if self._factor is not None:
            trials = len(b) / (stride * _SUMS_PER_VALUE)
            x, converged = system.iterate(x, int(np.clip(trials, _FEWEST_TRIALS, _MOST_TRIALS)))
        if not converged:
            some, their = _sample(indices, weights[indices], stride)
            self._renew(matrix, matrix.gram(some, scale * their))
            x, _ = system.iterate(x, _MOST_ITERATIONS)
        return np.asarray(self.basis.lower.T @ x)

    def _renew(self, matrix: Matrix, hessian: NDArray[np.float64]) -> None:
        matrix.tick(len(hessian) ** 3 / 6)
        hessian += self.basis.gram
        self._factor = _factorise(hessian)

    def _approximate(self, v: _Vector) -> _Vector:
        """Solve the system whose factor is known."""
        assert self._factor is not None
        return np.asarray(cho_solve(self._factor, v, check_finite=False))


class _System:
    """(K_ZZ + Σ_i c_i k_i k_iᵀ) x = b."""

    def __init__(
        self, solver: HessianSolver, matrix: Matrix, indices: _Indices, c: _Vector, b: _Vector
    ) -> None:
        self.solver = solver
        self.matrix = matrix
        self.indices = indices
        self.c = c
        self.b = b

    def product(self, x: _Vector) -> _Vector:
        """Return the matrix times x."""
        sums = self.matrix.normal_times(self.indices, self.c, x)
        return np.asarray(sums + self.solver.basis.gram @ x)

    def iterate(self, x: _Vector, most: int) -> tuple[_Vector, bool]:
        """Improve x by conjugate gradients; returns also whether it is precise enough."""
        approximate = self.solver._approximate
        residual = self.b - self.product(x) if x.any() else self.b.copy()
        direction = guess = approximate(residual)
        size = float(residual @ guess)
        wanted = _PRECISION**2 * float(self.b @ approximate(self.b))
        for _ in range(most):
            if not size > wanted:
                break
            image = self.product(direction)
            length = size / float(direction @ image)
            x = x + length * direction
            residual -= length * image
            guess = approximate(residual)
            size, before = float(residual @ guess), size
            direction = guess + (size / before) * direction
        return x, size <= wanted


class _RowSum:
    """Σ_i weights_i k_i k_iᵀ, where few weights change from one time to the next."""

    def __init__(self) -> None:
        self._matrix: Matrix | None = None
        self._weights: _Vector = np.empty(0)
        self._total: NDArray[np.float64] = np.empty((0, 0))
        self._changes = 0  # rows since the sum was formed anew: rounding errors add up

    def over(self, matrix: Matrix, weights: _Vector) -> NDArray[np.float64]:
        """Return the sum for the given weights."""
        if self._matrix is matrix:
            change = weights - self._weights
            more, less = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
            self._changes += len(more) + len(less)
        if self._matrix is matrix and self._changes < np.count_nonzero(weights):
            if len(more):
                self._total += matrix.gram(more, change[more])
            if len(less):
                self._total -= matrix.gram(less, -change[less])
        else:
            chosen = np.flatnonzero(weights)
            self._total = matrix.gram(chosen, weights[chosen])
            self._changes = 0
        self._matrix, self._weights = matrix, weights
        return self._total


def _sample(indices: _Indices, weights: _Vector, stride: int) -> tuple[_Indices, _Vector]:
    """Choose one row in `stride`, with so many times its weight; heavy rows have nobody to stand for them."""
    heavy = weights > _HEAVY * weights.mean()
    if not heavy.any():
        return indices[::stride], stride * weights[::stride]
    light = np.flatnonzero(~heavy)[::stride]
    chosen = np.concatenate([np.flatnonzero(heavy), light])
    factor = np.where(heavy[chosen], 1.0, float(stride))
    return indices[chosen], factor * weights[chosen]


def _factorise(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Factorise a positive definite matrix; one that rounding made indefinite gets a ridge."""
    diagonal = np.diag_indices_from(matrix)
    ridge = 1e-12 * float(matrix[diagonal].max())
    while True:
        try:
            factor, lower = cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            matrix[diagonal] += ridge
            ridge *= 100
        else:
            return factor, lower

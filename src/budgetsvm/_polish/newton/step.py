"""The SVM with a smoothed loss, and Newton's steps for it.

Where the loss has kinks it is replaced by one that is quadratic within a width ε of them (losses.py).
The derivative of the smooth loss gives a point of the dual, α_i = C_i φ_ε'(u_i), so that the certificate
of the true problem holds here, too. Where w solves the smoothed problem, w = w(α), and the gap between
the two is the *excess* Σ_i C_i (φ(u_i) + φ*(α_i / C_i)) - α_i u_i, to which only rows within the width
contribute; for the hinge loss, C_i |u_i| (ε - |u_i|) / 2ε each.

Its linear systems are (I + Σ_i c_i g_i g_iᵀ) s = v, without forming the matrix where that is dear.

In kernel values, s = Lᵀ x with (K_ZZ + Σ_i c_i k_i k_iᵀ) x = L v. Forming this matrix from m rows takes
m r² operations, as many as a hundred passes over them. For few rows that is done, and only the rows
that came or went since the step before are added or taken away. For many, a sample of them tells
nearly as much as all, and the matrix of one step as much as that of the step before: the Cholesky
factor of such a matrix makes conjugate gradients converge in a few iterations of one pass each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.span_problem import Line, rough_length
from budgetsvm._problem.targets import SingleTarget

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


@dataclass(eq=False)
class SmoothProblem:
    """min over w of ½‖w‖² - <w, fixed> + Σ_i C_i φ(u_i), the loss smoothed over `width`.

    The rows may be a part of all: then `fixed` is what the others pull at w with, Σ α_i y_i g_i.
    """

    matrix: Matrix
    targets: SingleTarget
    width: float
    fixed: NDArray[np.float64]

    def alpha(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the dual point that belongs to values f."""
        return self.targets.alpha(self.targets.slack(f), self.width)

    def gradient(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient at w, whose values are f."""
        return w - self.fixed - self.matrix.transposed_times(self.alpha(f) * self.targets.y)

    def objective(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> float:
        """Return the objective at w, whose values are f."""
        loss = self.targets.loss.smoothed(self.targets.slack(f), self.width)
        return float(w @ (0.5 * w - self.fixed) + self.targets.box @ loss)

    @property
    def scale(self) -> float:
        """What the curvature of all rows inside the width has in common."""
        return 0.5 / self.width if self.targets.loss.has_kinks else 1.0

    def weights(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return C_i φ''(u_i), as multiples of the scale; zero outside the width."""
        curvature = self.targets.loss.curvature(self.targets.slack(f), self.width)
        return self.targets.box * (curvature / self.scale)

    def inside(self, f: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return which rows lie inside the width."""
        return np.flatnonzero(self.weights(f))

    def excess(self, f: NDArray[np.float64]) -> float:
        """Return the duality gap that the smoothing leaves where w is optimal."""
        if not self.targets.loss.has_kinks:
            return 0.0
        some = self.targets.some(self.inside(f))
        return some.gap(some.slack(f[self.inside(f)]), self.width)

    def step_length(
        self,
        w: NDArray[np.float64],
        f: NDArray[np.float64],
        direction: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> float:
        """Return how far to go along a direction (step, change of f), at most all of it."""
        return rough_length(Line(self.targets, self.width, f, direction, w - self.fixed))


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """What a step led to, and what it was before a line search made it shorter."""

    w: NDArray[np.float64]
    f: NDArray[np.float64]
    length: float  #: at most 1
    change: NDArray[np.float64]  #: of f, for length 1
    decrease: float  #: of the objective, as predicted for length 1


def newton_step(
    problem: SmoothProblem,
    w: NDArray[np.float64],
    f: NDArray[np.float64],
    gradient: NDArray[np.float64],
    solver: HessianSolver,
) -> NewtonStep:
    """One step with a line search."""
    step = -solver.solve(problem.matrix, problem.weights(f), problem.scale, gradient)
    change = problem.matrix.times(step)
    length = problem.step_length(w, f, (step, change))
    decrease = -float(gradient @ step)
    return NewtonStep(w + length * step, f + length * change, length, change, decrease)

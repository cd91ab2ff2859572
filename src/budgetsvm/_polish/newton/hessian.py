"""Newton's linear systems (I + Σ_i c_i g_i g_iᵀ) s = v, in time that hardly depends on forming the matrix.

In kernel values, s = Lᵀ x with (K_ZZ + Σ_i c_i k_i k_iᵀ) x = L v. Forming this matrix from m rows takes
m r² / 2 multiplications and factorising it r³ / 6, as many as tens or hundreds of passes over the rows. Conjugate
gradients take one pass per iteration, and few iterations if they are preconditioned by the factor of a matrix like it:

- that of an earlier step: as the width halves the weights double, and half of the rows leave;
- that of K_ZZ alone, which is there from the start;
- that of a sample of the rows. It begins with few, and doubles where conjugate gradients would take longer
  than that; sums are additive, so that nothing is lost, and at the end all rows are in: then no iteration is needed.

What is to be done next is decided by what it costs in multiplications, and by how fast the residual falls: never by
a clock, so that results do not depend on the machine. Samples of increasing size as preconditioners: Frangella,
Tropp & Udell, Randomized Nyström preconditioning, 2021.
"""

from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from budgetsvm._common.factorisation import cholesky, solve_factored
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix, RowMatrix

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]

_PRECISION = 0.3  # of a step: the next one corrects what is missing
_MORE_PRECISE, _MOST_PRECISE = 0.1, 1e-3  # of what it was before; at the most
# Iterations before the rest is predicted: at least so many, and this share of what it is worth to go on.
_FEWEST_LOOKS, _LOOKS = 3, 0.3
_TYPICAL = 5  # iterations with a good factor, before there was one
_SMALLEST_SAMPLE = 0.5  # rows per dimension
_FIRST_SAMPLE = 6  # or as many as cost so many iterations
_GENEROUS = 0.25  # a sample is larger than it need be if the iterations cost less than this share of the sum
_CHEAP = 2  # iterations: then the exact solution is had at once
_PATIENCE = 20  # iterations that a factorisation must be worth if K_ZZ is to be tried alone
# What things cost, in multiplications of a product of matrices: a byte of a value that is read, a value that has to be
# computed first, a number of an r × r matrix, a multiplication of a factorisation, a call.
_BYTE, _KERNEL, _NUMBER, _FACTORISED, _CALL = 2.0, 80.0, 24.0, 2.0, 2e6
_HEAVY = 10  # times the mean weight
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio


class RowSum:
    """Σ_i weights_i k_i k_iᵀ, where few weights change from one time to the next."""

    def __init__(self) -> None:
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
                self._total += matrix.gram(more, change[more])
            if len(less):
                self._total -= matrix.gram(less, -change[less])
        else:
            self._matrix, chosen = None, np.flatnonzero(weights)
            self._total = matrix.gram(chosen, weights[chosen])
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
        self._order: _Indices | None = None

    def of(self, count: int) -> Sample:
        """Return a sample of about so many rows; heavy ones, whom nobody can stand for, come on top."""
        if count >= len(self._light):
            return self.everything
        if self._order is None:
            self._order = self._light[np.argsort(self._light.astype(np.uint64) * _GOLDEN)]
        some, weights = self._order[:count], np.zeros_like(self._weights)
        light = self._weights[self._light].sum(), self._weights[some].sum()
        factor = float(light[0] / light[1])
        weights[some] = self._weights[some]
        weights[self._heavy] = self._weights[self._heavy] / factor
        return Sample(weights, factor, complete=False)


class HessianSolver:
    """Solves one system after another, and remembers what may be of use for the next."""

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        self.precision = _PRECISION
        self._factor: NDArray[np.float64] | None = None
        self._sum = RowSum()
        self._rows = 0  # of the sample to begin with; 0: not known yet
        self._typical = _TYPICAL  # iterations after a factorisation
        self._regret = 0  # iterations that a new factor would have saved

    def solve(self, matrix: Matrix, weights: _Vector, scale: float, v: _Vector) -> _Vector:
        """Return s for c_i = scale · weights_i, most of which may be zero."""
        indices = np.flatnonzero(weights)
        b = self.basis.lower @ v
        system = _System(self.basis, matrix, indices, scale * weights[indices], b)
        x = self._solve(system, Samples(weights, indices), scale)
        return np.asarray(self.basis.lower.T @ x)

    def be_more_precise(self) -> None:
        """Take more iterations from now on: what was missing is not what the next step corrects."""
        self.precision = max(_MORE_PRECISE * self.precision, _MOST_PRECISE)

    def _solve(self, system: "_System", samples: Samples, scale: float) -> _Vector:
        """Try the factor at hand, then those of samples that grow."""
        costs, x, found = system.costs, np.zeros_like(system.b), False
        count = self._rows or costs.first_sample()
        sample = self._choose(system, samples, count)
        worth = self._renewal(system, sample) / costs.iteration
        factor = self._factor
        if factor is None and worth > _PATIENCE:
            factor = self.basis.lower
        cheap = sample.complete and worth < _CHEAP
        if factor is not None and self._regret < worth and not cheap:
            left = worth - self._regret + self._typical
            x, found, iterations = system.iterate(x, factor, left, self.precision)
            self._regret += max(0, iterations - self._typical)
        while not found:
            factor = self._factor = self._factorise(system.matrix, sample, scale)
            self._regret = 0
            if sample.complete:
                return solve_factored(factor, system.b)
            worth = (costs.sum(count) + costs.factor) / costs.iteration
            x, found, iterations = system.iterate(x, factor, worth + self._typical, self.precision)
            if found:
                self._learn(costs, count, iterations)
            else:
                count *= 2
                sample = self._choose(system, samples, count)
        return x

    def _choose(self, system: "_System", samples: Samples, count: int) -> Sample:
        """Return a sample of so many rows, or all of them if iterations would cost more."""
        some, everything = samples.of(count), samples.everything
        more = self._sum.work(system.matrix, everything.weights)
        more -= 0 if some.complete else self._sum.work(system.matrix, some.weights)
        cheap = system.costs.sum(more) <= self._typical * system.costs.iteration
        return everything if some.complete or cheap else some

    def _renewal(self, system: "_System", sample: Sample) -> float:
        """Return what the factor of a sample costs."""
        rows = self._sum.work(system.matrix, sample.weights)
        return system.costs.sum(rows) + system.costs.factor

    def _learn(self, costs: "_Costs", count: int, iterations: int) -> None:
        """Remember what sample was good enough; one that was better than that, at half its size."""
        self._typical = max(iterations, _FEWEST_LOOKS)
        generous = iterations * costs.iteration < _GENEROUS * costs.sum(count)
        self._rows = max(costs.smallest_sample, count // 2 if generous else count)

    def _factorise(self, matrix: Matrix, sample: Sample, scale: float) -> NDArray[np.float64]:
        """Return the factor of K_ZZ + Σ_i c_i k_i k_iᵀ; one that rounding made indefinite gets a ridge."""
        total = self._sum.over(matrix, sample.weights)
        n_threads = matrix.n_threads if isinstance(matrix, RowMatrix) else 1
        ridge = 0.0
        while True:
            hessian = (scale * sample.factor) * total
            hessian += self.basis.gram
            diagonal = np.einsum("ii->i", hessian)
            diagonal += ridge
            ridge = max(100 * ridge, 1e-12 * float(diagonal.max()))
            try:
                return cholesky(hessian, n_threads, matrix.tick)
            except LinAlgError:
                continue


@dataclass(frozen=True)
class _Costs:
    """What the parts of solving a system of m rows cost, in multiplications."""

    n_rows: int
    dimension: int
    value: float  #: to get at a kernel value

    @property
    def iteration(self) -> float:
        """One of conjugate gradients."""
        return self.dimension * (self.value * self.n_rows + _NUMBER * self.dimension) + _CALL

    @property
    def factor(self) -> float:
        """A factorisation."""
        return _FACTORISED * self.dimension**3 / 6 + _CALL

    def sum(self, count: int) -> float:
        """A sum of outer products over so many rows."""
        return count * self.dimension * (0.5 * self.dimension + self.value)

    @property
    def smallest_sample(self) -> int:
        """Rows of the smallest sample."""
        return int(_SMALLEST_SAMPLE * self.dimension) + 1

    def first_sample(self) -> int:
        """Rows to begin with, where nothing is known."""
        return max(self.smallest_sample, int(_FIRST_SAMPLE * self.iteration / self.sum(1)))


class _System:
    """(K_ZZ + Σ_i c_i k_i k_iᵀ) x = b."""

    def __init__(
        self, basis: Basis, matrix: Matrix, indices: _Indices, c: _Vector, b: _Vector
    ) -> None:
        self.basis = basis
        self.matrix = matrix
        self.indices = indices
        self.c = c
        self.b = b
        size = np.dtype(matrix.dtype).itemsize if isinstance(matrix, RowMatrix) else 8
        self.costs = _Costs(len(indices), len(b), _BYTE * size if matrix.at_hand else _KERNEL)

    def product(self, x: _Vector) -> _Vector:
        """Return the matrix times x."""
        sums = self.matrix.normal_times(self.indices, self.c, x)
        return np.asarray(sums + self.basis.gram @ x)

    def iterate(
        self, x: _Vector, factor: NDArray[np.float64], worth: float, precision: float
    ) -> tuple[_Vector, bool, int]:
        """Improve x by conjugate gradients, unless it would take more iterations than it is worth.

        Returns also whether it is precise enough, and the number of iterations.
        """
        residual = self.b - self.product(x) if x.any() else self.b.copy()
        direction = guess = solve_factored(factor, residual)
        sizes = [float(residual @ guess)]
        wanted = precision**2 * float(self.b @ solve_factored(factor, self.b))
        while sizes[-1] > wanted and _to_come(sizes, wanted, worth) <= worth:
            image = self.product(direction)
            length = sizes[-1] / float(direction @ image)
            x = x + length * direction
            residual -= length * image
            guess = solve_factored(factor, residual)
            sizes.append(float(residual @ guess))
            direction = guess + (sizes[-1] / sizes[-2]) * direction
        return x, sizes[-1] <= wanted, len(sizes) - 1


def _to_come(sizes: list[float], wanted: float, worth: float) -> float:
    """Predict how many iterations are to come, by how fast the residual fell in the later half of those so far."""
    done = len(sizes) - 1
    if done < max(_FEWEST_LOOKS, _LOOKS * worth):
        return 0.0
    window = (done + 1) // 2
    rate = log(sizes[-1 - window] / sizes[-1]) / window
    return log(sizes[-1] / wanted) / rate if rate > 0 else inf

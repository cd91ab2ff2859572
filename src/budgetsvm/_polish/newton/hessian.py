"""Newton's linear systems (I + Σ_i c_i g_i g_iᵀ) s = v, in time that hardly depends on forming the matrix.

In kernel values, s = Lᵀ x with (K_ZZ + Σ_i c_i k_i k_iᵀ) x = L v. Forming this matrix from m rows takes
m r² / 2 multiplications and factorising it r³ / 6, as many as tens or hundreds of passes over the rows. Conjugate
gradients take one pass per iteration, and few iterations if they are preconditioned by the factor of a matrix like it:

- that of an earlier step: as the width halves the weights double, and half of the rows leave;
- that of K_ZZ alone, which is there from the start;
- blocks along the diagonal, where terms see but those near them (`groups.py`);
- that of a sample of the rows. It begins with few, and doubles where conjugate gradients would take longer
  than that; sums are additive, so that nothing is lost, and at the end all rows are in: then no iteration is needed.

What is to be done next is decided by what it costs in multiplications, and by how fast the residual falls: never by
a clock, so that results do not depend on the machine. Samples of increasing size as preconditioners: Frangella,
Tropp & Udell, Randomized Nyström preconditioning, 2021.
"""

from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from budgetsvm._common.matrices.factorisation import cholesky
from budgetsvm._common.matrices.triangular import lower_times, solve_factored
from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix, RowMatrix
from budgetsvm._polish.newton.groups import Groups
from budgetsvm._polish.newton.samples import RowSum, Sample, Samples
from budgetsvm._polish.newton.system import FEWEST_LOOKS, Costs, Preconditioner, System
from budgetsvm._problem.rows import Precision

_Vector = NDArray[np.float64]

_PRECISION = 0.3  # of a step: the next one corrects what is missing
_MORE_PRECISE, _MOST_PRECISE = 0.1, 1e-3  # of what it was before; at the most
# The same, where iterations cost little; and what will do if that takes too many.
_OF_GROUPS, _TOLERATED = 0.2, 0.5
_TYPICAL = 5  # iterations with a good factor, before there was one
_GENEROUS = 0.25  # a sample is larger than it need be if the iterations cost less than this share of the sum
_CHEAP = 2  # iterations: then the exact solution is had at once
_PATIENCE = 20  # iterations that a factorisation must be worth if K_ZZ is to be tried alone
_ROWS_FOR_GROUPS = 8  # per dimension
_MOST_FAILURES = 2
_MOST_ITERATIONS = 200  # with groups
_DEAR = 5e10  # multiplications: a factor of 5000 terms
_EVEN = 1e4  # times the smallest pivot, the largest: then single precision will do for a factor that is like another


class HessianSolver:
    """Solves one system after another, and remembers what may be of use for the next."""

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        self.precision = _PRECISION
        self._factor: NDArray[Any] | None = None
        self._sum = RowSum(lambda matrix, rows, weights: matrix.gram(rows, weights))
        self._rows = 0  # of the sample to begin with; 0: not known yet
        self._typical = _TYPICAL  # iterations after a factorisation
        self._regret = 0  # iterations that a new factor would have saved
        self._groups: Groups | None = None
        self._failures = 0  # of blocks along the diagonal, one after the other
        self.steps, self.decrease = 0, inf  #: of Newton; what the last one promised

    def solve(self, matrix: Matrix, weights: _Vector, scale: float, v: _Vector) -> _Vector:
        """Return s for c_i = scale · weights_i, most of which may be zero."""
        indices = nonzero_places(weights)
        b = lower_times(self.basis.lower, v, self.basis.n_threads)
        system = System(self.basis, matrix, indices, scale * weights[indices], b)
        x = self._solve(system, Samples(weights, indices), scale)
        return self.basis.coordinates(x)

    def be_more_precise(self) -> None:
        """Take more iterations from now on: what was missing is not what the next step corrects."""
        self.precision = max(_MORE_PRECISE * self.precision, _MOST_PRECISE)

    def _solve(self, system: System, samples: Samples, scale: float) -> _Vector:
        """Try the factor at hand, then those of samples that grow."""
        costs = system.costs
        x, found = self._by_groups(system, samples, scale)
        if found:
            return x
        count = self._rows or costs.first_sample()
        sample = self._choose(system, samples, count)
        worth = self._renewal(system, sample) / costs.iteration
        factor = self._factor
        if factor is None and worth > _PATIENCE:
            factor = self.basis.lower
        cheap = sample.complete and worth < _CHEAP
        if factor is not None and self._regret < worth and not cheap:
            left = worth - self._regret + self._typical
            x, reached, iterations = system.iterate(x, self._with(factor), left, self.precision)
            found = reached <= self.precision
            self._regret += max(0, iterations - self._typical)
        while not found:
            precise = self._factorise(system.matrix, sample, scale)
            factor = self._factor = _condensed(precise, system.matrix.dtype)
            self._regret = 0
            if sample.complete:
                return solve_factored(precise, system.b, self.basis.n_threads)
            worth = (costs.sum(count) + costs.factor) / costs.iteration
            x, reached, iterations = system.iterate(
                x, self._with(factor), worth + self._typical, self.precision
            )
            found = reached <= self.precision
            if found:
                self._learn(costs, count, iterations)
            else:
                count *= 2
                sample = self._choose(system, samples, count)
        return x

    def _by_groups(self, system: System, samples: Samples, scale: float) -> tuple[_Vector, bool]:
        """Try blocks along the diagonal, where terms come in groups; returns also whether that was enough."""
        x = np.zeros_like(system.b)
        if not system.matrix.groups or self._failures >= _MOST_FAILURES:
            return x, False
        costs, groups = system.costs, system.matrix.groups
        if self._groups is None:
            self._groups = Groups(self.basis, groups)
        sample = samples.of(_ROWS_FOR_GROUPS * len(system.b))
        precondition = self._groups.factorise(system.matrix, sample, scale)
        other = costs.sum(costs.first_sample()) + costs.factor + self._typical * costs.iteration
        worth = min(other / costs.iteration_of_groups(max(map(len, groups))), _MOST_ITERATIONS)
        wanted = min(_OF_GROUPS, self.precision)
        x, reached, _ = system.iterate(x, precondition, worth, wanted)
        enough = _TOLERATED if self.precision == _PRECISION else wanted
        # Whatever was reached is a direction of descent: better than a factor that would take minutes.
        found = reached <= enough or (costs.factor > _DEAR and bool(x.any()))
        self._failures = 0 if found else self._failures + 1
        return x, found

    def _with(self, factor: NDArray[Any]) -> Preconditioner:
        return partial(solve_factored, factor, n_threads=self.basis.n_threads)

    def _choose(self, system: System, samples: Samples, count: int) -> Sample:
        """Return a sample of so many rows, or all of them if iterations would cost more."""
        some, everything = samples.of(count), samples.everything
        more = self._sum.work(system.matrix, everything.weights)
        more -= 0 if some.complete else self._sum.work(system.matrix, some.weights)
        cheap = system.costs.sum(more) <= self._typical * system.costs.iteration
        return everything if some.complete or cheap else some

    def _renewal(self, system: System, sample: Sample) -> float:
        """Return what the factor of a sample costs."""
        rows = self._sum.work(system.matrix, sample.weights)
        return system.costs.sum(rows) + system.costs.factor

    def _learn(self, costs: Costs, count: int, iterations: int) -> None:
        """Remember what sample was good enough; one that was better than that, at half its size."""
        self._typical = max(iterations, FEWEST_LOOKS)
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


def _condensed(factor: NDArray[np.float64], precision: Precision) -> NDArray[Any]:
    """Return a factor in the precision of kernel values, which takes half the time to read, if that is precise enough."""
    pivots = np.diag(factor)
    even = pivots.max(initial=0.0) < _EVEN * pivots.min(initial=np.inf)
    return factor.astype(precision) if even else factor

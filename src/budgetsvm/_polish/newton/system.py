"""A linear system of Newton's method, conjugate gradients for it, and what its parts cost."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]
#: Solves a system with a matrix that is like another one.
Preconditioner: TypeAlias = Callable[[_Vector], _Vector]

# Iterations before the rest is predicted: at least so many, and this share of what it is worth to go on.
FEWEST_LOOKS, _LOOKS = 3, 0.3
_SMALLEST_SAMPLE = 0.5  # rows per dimension
_FIRST_SAMPLE = 6  # or as many as cost so many iterations
# What things cost, in multiplications of a product of matrices: a byte of a value that is read, a value that has to be
# computed first, a byte of an r × r matrix in an iteration, a multiplication of a factorisation, a call.
_BYTE, _KERNEL, _NUMBER, _FACTORISED, _CALL = 2.0, 80.0, 1.5, 2.0, 2e6
# A solution is made more precise than it need be, up to this, by iterations that cost this share of a step's products
# with all rows.
_FINER, _SPARE = 0.1, 0.25


@dataclass(frozen=True)
class Costs:
    """What the parts of solving a system of m rows cost, in multiplications."""

    n_rows: int
    dimension: int
    value: float  #: to get at a kernel value
    number: float  #: for a number of an r × r matrix, in an iteration
    share: float = 1.0  #: of all kernel values, that are not left out

    @property
    def iteration(self) -> float:
        """One of conjugate gradients."""
        stored = self.share * self.dimension
        return stored * self.value * self.n_rows + self.number * self.dimension**2 + _CALL

    def iteration_of_groups(self, size: float) -> float:
        """One with blocks of so many terms along the diagonal."""
        matrices = self.share * self.dimension**2 + size * self.dimension
        return (
            self.share * self.dimension * self.value * self.n_rows + self.number * matrices + _CALL
        )

    @property
    def factor(self) -> float:
        """A factorisation."""
        return _FACTORISED * self.dimension**3 / 6 + _CALL

    def sum(self, count: int) -> float:
        """A sum of outer products over so many rows."""
        stored = self.share * self.dimension
        return count * stored * (0.5 * stored + self.value)

    @property
    def smallest_sample(self) -> int:
        """Rows of the smallest sample."""
        return int(_SMALLEST_SAMPLE * self.dimension) + 1

    def first_sample(self) -> int:
        """Rows to begin with, where nothing is known."""
        return max(self.smallest_sample, int(_FIRST_SAMPLE * self.iteration / self.sum(1)))


class System:
    """(K_ZZ + Σ_i c_i k_i k_iᵀ) x = b."""

    def __init__(
        self, basis: Basis, matrix: Matrix, indices: _Indices, c: _Vector, b: _Vector
    ) -> None:
        self.basis = basis
        self.matrix = matrix
        self.indices = indices
        self.c = c
        self.b = b
        size = np.dtype(matrix.dtype).itemsize
        value = _BYTE * size if matrix.at_hand else _KERNEL
        self.costs = Costs(len(indices), len(b), value, _NUMBER * size, matrix.share)
        step = 2 * matrix.share * len(b) * value * matrix.n  # its values, then the gradient there
        self._spare = int(_SPARE * step / self.costs.iteration)

    def product(self, x: _Vector) -> _Vector:
        """Return the matrix times x."""
        sums = self.matrix.normal_times(self.indices, self.c, x)
        return np.asarray(sums + self.matrix.gram_of_terms_times(x))

    def iterate(
        self, x: _Vector, precondition: Preconditioner, worth: float, precision: float
    ) -> tuple[_Vector, float, int]:
        """Improve x by conjugate gradients, unless it would take more iterations than it is worth.

        Returns also how precise it is then, as `precision`, and the number of iterations that this took. If few rows lie
        inside, some more cost little, and now and then save a step on all rows.
        """
        course = _Course(self, x, precondition)
        while course.reached > precision and course.to_come(precision, worth) <= worth:
            if not course.go_on():
                break
        reached, iterations = course.reached, course.iterations
        if reached <= precision:
            for _ in range(self._spare):
                if course.reached <= _FINER or not course.go_on():
                    break
        return course.x, reached, iterations


class _Course:
    """Conjugate gradients from x on; what they bring falls with every iteration, their residual not always."""

    def __init__(self, system: System, x: _Vector, precondition: Preconditioner) -> None:
        self.x = x
        self._system, self._precondition = system, precondition
        self._residual = system.b - system.product(x) if x.any() else system.b.copy()
        self._direction = guess = precondition(self._residual)
        self._sizes = [float(self._residual @ guess)]
        self._first = float(system.b @ precondition(system.b)) if x.any() else self._sizes[0]

    @property
    def iterations(self) -> int:
        """How many there were."""
        return len(self._sizes) - 1

    @property
    def reached(self) -> float:
        """The size of the residual, relative to that of nothing."""
        return sqrt(max(self._sizes[-1], 0.0) / self._first) if self._first > 0 else 0.0

    def go_on(self) -> bool:
        """Do one iteration; returns whether that was possible."""
        image = self._system.product(self._direction)
        curvature = float(self._direction @ image)
        if curvature <= 0:  # values that are left out, or rounding, made the matrix indefinite
            return False
        length = self._sizes[-1] / curvature
        self.x = self.x + length * self._direction
        self._residual -= length * image
        guess = self._precondition(self._residual)
        self._sizes.append(float(self._residual @ guess))
        self._direction = guess + (self._sizes[-1] / self._sizes[-2]) * self._direction
        return True

    def to_come(self, precision: float, worth: float) -> float:
        """Predict how many more it takes, by how fast the residual fell in the later half of those so far."""
        sizes, done = self._sizes, self.iterations
        if done < max(FEWEST_LOOKS, _LOOKS * worth):
            return 0.0
        window = (done + 1) // 2
        rate = log(sizes[-1 - window] / sizes[-1]) / window
        return 2 * log(self.reached / precision) / rate if rate > 0 else inf

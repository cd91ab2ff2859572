"""Near the solution, on samples of the rows: where Newton's method on all of them begins.

Far from the solution a sample of the rows says as much as all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.method import EXCESS, MOST_STEPS, NARROWING, ON_THE_WAY
from budgetsvm._polish.newton.smooth_problem import SmoothProblem, newton_step
from budgetsvm._polish.span_problem import SpanProblem

_Vector = NDArray[np.float64]

_WIDEST = 4.0  # at w = 0 every row lies inside: the first step is least squares
# Samples: rows per dimension of the first, growth, and which share of all rows is no sample any more.
_FIRST_SAMPLE, _GROWTH, _LARGEST_SAMPLE = 10, 4, 0.25
_LEAST_WITH_GROUPS = 5  # rows per dimension, where terms come in groups and more would be no sample
# From a guess: the width, its largest multiple, and how many rows of a sample must pull at w, per dimension.
_WIDTH_OF_GUESS, _LARGEST_MULTIPLE, _PULLING = 1.0, 8.0, 4
# The path on a sample ends where at most one row in so many lies inside; and, where steps on all rows, with so many kernel
# values, cost many times as much, where a step promises less than this.
_ROWS_PER_INSIDER, _SETTLED, _MANY_VALUES = 8, 0.01, 10_000_000


class Near(NamedTuple):
    """A point with its values, and the width at which it is near the solution."""

    w: _Vector
    f: _Vector
    width: float


@dataclass(frozen=True, eq=False)
class Approach:
    """The way to a first point."""

    span: SpanProblem
    solver: HessianSolver
    rng: np.random.Generator
    finished: Callable[[], bool]
    tol: float

    def from_nothing(self) -> Near:
        """Begin with w = 0, on samples that grow."""
        matrix = self.span.matrix
        w, width = np.zeros(matrix.basis.dimension), _WIDEST
        most = self._most_sampled(len(w))
        for size in sample_sizes(matrix.n, len(w), most, groups=bool(matrix.groups)):
            if w.any() and self.finished():
                break
            problem = self._sample(size, width)
            w = self._follow(problem, w)
            width = problem.width
        return Near(w, self.span.values(w), width)

    def from_guess(self, guess: _Vector) -> Near:
        """Begin with a function that is like the solution, but for its size.

        What matters is where it is near the margin: wide smoothings, and samples that would do for them, are not needed.
        A last sample is, where it has enough rows that pull at w: their number is what an estimate of w depends on.
        """
        matrix, width = self.span.matrix, _WIDTH_OF_GUESS
        size = int(min(_LARGEST_SAMPLE * matrix.n, self._most_sampled(len(guess))))
        if size < _FIRST_SAMPLE * len(guess):
            everything = SmoothProblem(matrix, self.span.targets, width, np.zeros_like(guess))
            return Near(*_best_multiple(everything, guess, self.span.values(guess)), width)
        problem = self._sample(size, width)
        w, f = _best_multiple(problem, guess, problem.matrix.times(guess))
        if np.count_nonzero(problem.alpha(f)) >= _PULLING * len(w):
            w = self._follow(problem, w)
        return Near(w, self.span.values(w), problem.width)

    def _most_sampled(self, dimension: int) -> int:
        """Return how many rows a sample may have: no more than are cheap, if these are enough for one."""
        matrix = self.span.matrix
        enough = matrix.most_sampled >= _FIRST_SAMPLE * dimension
        return matrix.most_sampled if enough else matrix.most_some

    def _sample(self, size: int, width: float) -> SmoothProblem:
        """Return the problem of some random rows, which stand for all."""
        matrix = self.span.matrix
        chosen = np.sort(self.rng.choice(matrix.n, size, replace=False))
        targets = self.span.targets.some(chosen, matrix.n / size)
        return SmoothProblem(matrix.some(chosen), targets, width, np.zeros(matrix.basis.dimension))

    def _follow(self, problem: SmoothProblem, w: _Vector) -> _Vector:
        """Narrow the width until few rows lie inside, or it is no obstacle to the tolerance; then settle there.

        That is until a step promises little.
        """
        few = max(problem.matrix.n / _ROWS_PER_INSIDER, 2 * len(w))
        many = self.span.matrix.n * len(w) >= _MANY_VALUES
        settled = _SETTLED if many else ON_THE_WAY
        f, steps = problem.matrix.times(w), 0
        while True:
            step = newton_step(problem, w, f, problem.gradient(w, f), self.solver)
            w, f = step.w, step.f
            steps += 1
            objective = max(problem.objective(w, f), 1e-300)
            scale = problem.own.scale(objective, 0.0)
            if self.finished():
                return w
            enough = steps >= MOST_STEPS
            if not (enough or step.decrease < ON_THE_WAY * scale):
                continue
            if len(problem.inside(f).rows) > few and problem.excess(f) >= EXCESS * self.tol * scale:
                problem.width *= NARROWING[0]
                steps = 0
            elif enough or step.decrease < settled * scale:
                return w


def sample_sizes(n: int, dimension: int, most: float = inf, *, groups: bool = False) -> list[int]:
    """Return how many of n rows the samples have, `most` at most; with groups, few will do."""
    size, largest = _FIRST_SAMPLE * max(1, dimension), int(min(_LARGEST_SAMPLE * n, most))
    if groups and size > largest >= _LEAST_WITH_GROUPS * dimension:
        size = largest
    sizes = []
    while size <= largest:
        sizes.append(size)
        size *= _GROWTH
    return sizes


def _best_multiple(problem: SmoothProblem, w: _Vector, f: _Vector) -> tuple[_Vector, _Vector]:
    """Return the best multiple of w, whose values are f, and its values."""
    longest = _LARGEST_MULTIPLE * w, _LARGEST_MULTIPLE * f
    share = problem.step_length(np.zeros_like(w), np.zeros_like(f), longest)
    return share * longest[0], share * longest[1]

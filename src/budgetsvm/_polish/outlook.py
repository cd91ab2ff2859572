"""What a polish has before it, for those who follow it: guesses of its tasks, and how far each of them is.

Guesses are in seconds of one thread of a machine of our days. They only have to be right beside each other: how long
the first tasks take tells how long the others will (`_common/progress/forecast.py`). No result depends on them.
"""

from math import exp, inf, log, log10

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.newton.approach import sample_sizes
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm.monitoring._observer import FitObserver, PolishMoment

#: The tasks.
BASIS, VALUES, FEATURES, OUTPUTS = "basis", "kernel values", "features", "outputs"
SAMPLES, STEPS, TURNS, CHECK = "samples", "steps", "turns", "check"
SEARCH = "search"

_SECOND = 3e10  # what is counted below, of one thread
_FACTOR, _VALUE, _FEATURE = 0.8, 150.0, 2.0  # of r³, of n r beside the features, of n r²
_STEP_ROWS, _STEP_FACTOR, _STEP_NUMBERS = 40.0, 0.5, 200.0  # of n r, of r³, of r²
_OUTPUT = 800.0  # of n r, for each of several outputs
_STEPS, _SAMPLE_STEPS = 20, 12  # of Newton's method: on all rows, on each sample
_SOLUTIONS, _AGAIN = 3, 0.3  # of a search, and what a later one takes beside the first
_TURNS = 3  # as long as a solution by Newton's method
# A step promises that the objective falls by so much of P. At the end it is this share of the tolerance; on the way
# there so many steps are needed for each power of ten, and fewer if the gap is small already.
_LAST_PROMISE, _STEPS_PER_POWER, _BY_GAP = 0.02, 3.0, (0.5, 1.5)


def tasks_of(
    n_rows: int, n_terms: int, row_cost: float, n_outputs: int, n_threads: int
) -> dict[str, float]:
    """Return what a polish has before it."""
    n, r, second = float(n_rows), float(n_terms), _SECOND * n_threads
    tasks = {BASIS: _FACTOR * r**3 / _SECOND, VALUES: n * r * (_VALUE + 2 * row_cost) / second}
    if n_outputs > 1:
        one = _OUTPUT * n * r / second
        return {**tasks, FEATURES: _FEATURE * n * r**2 / second, OUTPUTS: n_outputs * one}
    return {**tasks, **solution_of(n_rows, n_terms, n_threads)}


def solution_of(n_rows: int, n_terms: int, n_threads: int, filled: float = 1.0) -> dict[str, float]:
    """Return what Newton's method has before it, where that share of all kernel values is there."""

    def step(rows: float) -> float:
        own = (
            _STEP_ROWS * filled * rows * n_terms
            + _STEP_FACTOR * n_terms**3
            + _STEP_NUMBERS * n_terms**2
        )
        return own / (_SECOND * n_threads)

    samples = sum(_SAMPLE_STEPS * step(size) for size in sample_sizes(n_rows, n_terms))
    return {SAMPLES: samples, STEPS: _STEPS * step(n_rows)}


def search_of(n_rows: int, n_terms: int, n_threads: int, number: int) -> dict[str, float]:
    """Return what is to come after so many solutions of a search: later ones begin near the one before."""
    first = solution_of(n_rows, n_terms, n_threads)
    again = first[STEPS] * _AGAIN
    more = {SEARCH: again * max(0, _SOLUTIONS - 1 - number)}
    return {STEPS: again, **more} if number else {**first, **more}


_ROUNDING = 1e-15  # the least gap that can be told from none


def share_by_gap(gap: float, tol: float, first: float = 1.0) -> float:
    """Return how far it is from the first gap to the tolerance, in powers of ten."""
    tol = min(tol, 0.5 * first)
    tol = max(tol, _ROUNDING)  # which may be zero
    return log(min(max(gap, tol), first) / first) / log(tol / first)


class OneOfMany(FitObserver):
    """Follows the solution of one of several outputs, and tells another one how far all of them are; `shares` is common."""

    def __init__(self, other: FitObserver, number: int, shares: NDArray[np.float64]) -> None:
        self._other, self._number, self._shares = other, number, shares

    def in_task(self, name: str, share: float = 0.0) -> None:
        """Tell."""
        self._shares[self._number] = share if name == STEPS else float(name == CHECK)
        self._other.in_task(OUTPUTS, float(self._shares.mean()))

    def in_polish(self, moment: PolishMoment) -> None:
        """Tell."""
        self._other.in_polish(moment)

    def end(self) -> None:
        """Hear that its output is solved."""
        self.in_task(CHECK)


class NewtonOutlook:
    """Tells how far the solution of one output is, whenever it is asked to."""

    def __init__(
        self, span: SpanProblem, solver: HessianSolver, tol: float, observer: FitObserver
    ) -> None:
        self._span, self._solver, self._tol, self._observer = span, solver, tol, observer
        n_samples = len(sample_sizes(span.matrix.n, span.matrix.basis.dimension))
        self._sample_steps = _SAMPLE_STEPS * n_samples
        self._task, self._before = SAMPLES, 0
        self._promises: list[float] = []
        self._seen, self._gap = 0, 1.0

    def begin(self, task: str) -> None:
        """Hear that another task begins: Newton's method on all rows, or turns of both methods."""
        self._task, self._before = task, self._solver.steps
        if task == TURNS:
            matrix = self._span.matrix
            steps = solution_of(matrix.n, matrix.basis.dimension, 1)[STEPS]
            self._observer.expect({TURNS: _TURNS * steps})
            self._gap = self._span.gap
        self.tell()

    def tell(self) -> None:
        """Tell the observer."""
        self._observer.in_task(self._task, self._share())

    def _share(self) -> float:
        if self._task == TURNS:
            return share_by_gap(self._span.gap, self._tol, self._gap)
        done = self._solver.steps - self._before
        if self._task == SAMPLES:
            return 1 - exp(-1.5 * done / max(1, self._sample_steps))
        return done / (done + self._steps_to_come()) if done else 0.0

    def _steps_to_come(self) -> float:
        if self._solver.steps != self._seen:
            self._seen = self._solver.steps
            self._promises = [*self._promises[-1:], self._solver.decrease]
        # The larger of two: a step on some rows, or before a narrower width, may promise little.
        promise = max(self._promises, default=inf) / max(self._span.scale, 1e-300)
        promise = min(max(promise, 1e-300), 1.0)
        count = _STEPS_PER_POWER * log10(promise / (_LAST_PROMISE * self._tol))
        if self._span.gap < 0.5:
            few, each = _BY_GAP
            count = min(count, few + each * log10(max(self._span.gap / self._tol, 1.0)))
        return max(0.5, count)

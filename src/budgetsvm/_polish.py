"""Phase 2: freeze the terms and solve the SVM in their span, to a certified optimum.

Newton's method on a smoothed loss comes first, on samples of the rows and then on all; it is parallel,
and it nearly always reaches the tolerance. Where it does not, as for a tolerance that asks for hardly
any smoothing, coordinate ascent on the rows near the margin takes over, which is slow far from the
optimum and precise close by; and so on in turns. Both count for the same certificate.
"""

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from budgetsvm._ascent import WorkingSetAscent
from budgetsvm._basis import Basis
from budgetsvm._features import FeatureMatrix, KernelMatrix
from budgetsvm._hessian import HessianSolver
from budgetsvm._many_outputs import solve_outputs
from budgetsvm._newton import NewtonMethod, newton_on_samples
from budgetsvm._span import SpanProblem, relative_gap
from budgetsvm._targets import OneVsRest, Outputs
from budgetsvm._threads import abandoned, single_threaded_blas
from budgetsvm._training import Problem
from budgetsvm._turns import take_turns
from budgetsvm._weston_watkins import solve_weston_watkins

_WARM_WIDTH = 0.2  # of Newton's method after an earlier polish


@dataclass(frozen=True)
class Limits:
    """When to stop, and what may be used."""

    tol: float
    max_passes: int
    deadline: float  #: a value of the clock
    memory: float  #: bytes for kernel values
    n_threads: int
    clock: Callable[[], float] = perf_counter

    def reached(self, gap: float, passes: int) -> bool:
        """Whether a problem is solved, or has to be left as it is."""
        late = self.clock() >= self.deadline or abandoned()
        return gap <= self.tol or passes >= self.max_passes or late


@dataclass(frozen=True, eq=False)
class Start:
    """Where an earlier polish ended: coefficients of the points it was given, and its dual point."""

    coef: NDArray[np.float64]
    bias: NDArray[np.float64]
    alpha: NDArray[np.float64] | None

    def coordinates(self, basis: Basis, c: int) -> NDArray[np.float64]:
        """Return the orthonormal coordinates of output c."""
        coef, constant = self.coef[c, basis.kept], basis.width > len(basis)
        return basis.coordinates(np.append(coef, self.bias[c]) if constant else coef)


@dataclass(frozen=True, eq=False)
class Polished:
    """The result of phase 2: the model f = Σ_j coef_j k(·, points_j) + bias and its certificate.

    Attributes
    ----------
    points : ndarray of shape (n_terms, n_features)
        A linearly independent subset of the points given.
    coef : ndarray of shape (n_outputs, n_terms)
        Their coefficients.
    bias : ndarray of shape (n_outputs,)
        The constants; zero where there is none.
    alpha : ndarray of shape (n_samples,) or None
        The dual point behind the certificate, where there is a single output.
    primal, dual : float
        P of the model, and D of the dual point: the optimum in the span lies between them. Of several
        outputs, the sums.
    gap : float
        (primal - dual) / primal.
    converged : bool
        Whether gap is at most tol.
    passes : int
        How often all rows were gone through.
    """

    points: NDArray[np.float64]
    coef: NDArray[np.float64]
    bias: NDArray[np.float64]
    alpha: NDArray[np.float64] | None
    primal: float
    dual: float
    gap: float
    converged: bool
    passes: int


def polish_in_span(
    problem: Problem,
    basis: Basis,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Start | None = None,
    report: Callable[[float], object] = float,
    watch: Callable[[SpanProblem], None] | None = None,
) -> Polished:
    """Solve the SVM in the span of a basis; `watch` gets to see the problem of a single output."""
    if basis.width == 0:  # the kernel vanishes: so does the model
        return _nothing(problem.outputs, basis)
    with single_threaded_blas():
        outputs = problem.outputs
        matrix = partial(KernelMatrix, problem.rows, basis, limits.n_threads, limits.memory)
        if isinstance(outputs, OneVsRest) and outputs.coupled:
            return _solve_coupled(outputs, matrix(), limits, rng, report)
        if outputs.count == 1:
            spans = _solve_one(
                outputs, matrix(), limits, rng, start=start, report=report, watch=watch
            )
        else:  # their features are held instead
            some = matrix(hold=False)
            spans = _solve_many(outputs, some, limits, rng, start=start, report=report)
    alpha = spans[0].alpha if len(spans) == 1 else None
    objective = sum(span.primal for span in spans), sum(span.dual for span in spans)
    passes, points = max(span.passes for span in spans), [span.w for span in spans]
    return _result(basis, points, objective, alpha=alpha, passes=passes, tol=limits.tol)


def _result(
    basis: Basis,
    points: Sequence[NDArray[np.float64]],
    objective: tuple[float, float],
    *,
    alpha: NDArray[np.float64] | None,
    passes: int,
    tol: float,
) -> Polished:
    """Turn coordinates of all outputs into a model."""
    primal, dual = objective
    gap = relative_gap(primal, dual)
    terms, bias = basis.expand(points)
    originals = basis.points.astype(np.float64)
    return Polished(originals, terms, bias, alpha, primal, dual, gap, gap <= tol, passes)


def _solve_coupled(
    outputs: OneVsRest,
    matrix: KernelMatrix,
    limits: Limits,
    rng: np.random.Generator,
    report: Callable[[float], object],
) -> Polished:
    """Solve the joint problem of all classes."""

    def finished(gap: float, passes: int) -> bool:
        report(gap)
        return limits.reached(gap, passes)

    found = solve_weston_watkins(
        matrix,
        outputs.labels.astype(np.int64),
        outputs.count,
        outputs.box,
        tol=limits.tol,
        finished=finished,
        rng=rng,
    )
    objective, passes = (found.primal, found.dual), found.passes
    return _result(
        matrix.basis, list(found.w), objective, alpha=None, passes=passes, tol=limits.tol
    )


def _solve_one(
    outputs: Outputs,
    matrix: KernelMatrix,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Start | None,
    report: Callable[[float], object],
    watch: Callable[[SpanProblem], None] | None = None,
    output: int = 0,
) -> list[SpanProblem]:
    """Solve the problem of one output."""
    span = SpanProblem(matrix, outputs.of_output(output))

    def finished() -> bool:
        report(span.gap)
        if watch is not None:
            watch(span)
        return limits.reached(span.gap, span.passes)

    w = None if start is None else start.coordinates(matrix.basis, output)
    alpha = None if start is None else start.alpha
    _solve(span, rng, (w, alpha), finished, limits.tol)
    return [span]


def _solve_many(
    outputs: Outputs,
    matrix: KernelMatrix,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Start | None,
    report: Callable[[float], object],
) -> list[SpanProblem]:
    """Solve the problems of several outputs, on common features if there is memory for them."""
    if not matrix.fits:
        one = partial(_solve_one, outputs, matrix, limits, rng, start=start, report=report)
        return [one(output=c)[0] for c in range(outputs.count)]
    gaps = np.ones(outputs.count)

    def finished(c: int, span: SpanProblem) -> bool:
        gaps[c] = np.clip(span.gap, limits.tol, 1.0)
        report(float(np.exp(np.log(gaps).mean())))  # an output that has not begun has a gap of 1
        return limits.reached(span.gap, span.passes)

    features = FeatureMatrix(matrix)
    return solve_outputs(
        outputs, features, rng, finished, tol=limits.tol, n_threads=limits.n_threads
    )


def _solve(
    span: SpanProblem,
    rng: np.random.Generator,
    start: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None],
    finished: Callable[[], bool],
    tol: float,
) -> None:
    """Newton's method, then ascent and Newton's method in turns, until `finished`."""
    solver = HessianSolver(span.matrix.basis)
    w, alpha = start
    if w is None:
        w, width = newton_on_samples(span, solver, rng, finished, tol)
    else:
        width = _WARM_WIDTH
        if alpha is not None:
            span.offer_dual(alpha, span.point(alpha))
    newton = NewtonMethod(span, solver, tol, w, span.values(w), width)
    newton.run(finished)
    if finished() or not span.targets.loss.has_kinks:  # it goes all the way where there are none
        return
    ascent = WorkingSetAscent(span, span.matrix, newton.alpha(), newton.f, rng)
    take_turns(span, ascent, newton, finished)


def _nothing(outputs: Outputs, basis: Basis) -> Polished:
    """Return the model without terms, which is optimal where no term can add anything."""
    total, count = 0.0, outputs.count
    for c in range(count):
        targets = outputs.of_output(c)
        slack = targets.slack(np.zeros(len(targets)))
        total += targets.cost(slack)
    alpha = targets.alpha(slack, 0.0) if count == 1 else None
    points = basis.points.astype(np.float64)
    coef, bias = np.zeros((count, 0)), np.zeros(count)
    return Polished(points, coef, bias, alpha, total, total, 0.0, True, 0)


def warn_not_converged(polished: Polished, tol: float) -> None:
    """Say that the limits came first, and what to do."""
    message = (
        f"the duality gap is {polished.gap:.2g} after {polished.passes} passes, above tol={tol:g}. "
        "Raise max_passes, time_limit or tol; a smaller C or scaled features also help."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=_levels_to_user())


def _levels_to_user() -> int:
    """Return how far up the line is that called fit: the first one outside of this package."""
    frame, levels = sys._getframe(1), 1
    inner = ("budgetsvm.", "sklearn.callback.")
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(inner):
        frame, levels = frame.f_back, levels + 1
    return levels

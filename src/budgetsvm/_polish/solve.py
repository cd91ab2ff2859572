"""Phase 2: freeze the terms and solve the SVM in their span, to a certified optimum.

Newton's method on a smoothed loss comes first, on samples of the rows and then on all; it is parallel,
and it nearly always reaches the tolerance. Where it does not, as for a tolerance that asks for hardly
any smoothing, coordinate ascent on the rows near the margin takes over, which is slow far from the
optimum and precise close by; and so on in turns. Both count for the same certificate.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.audit.left_out import LeftOutTerms
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.limits import Limits, OutOfTime
from budgetsvm._polish.matrix.kernel_values import FeatureMatrix, KernelMatrix
from budgetsvm._polish.newton.linear_system import HessianSolver
from budgetsvm._polish.newton.method import NewtonMethod, newton_on_samples
from budgetsvm._polish.outputs import solve_outputs
from budgetsvm._polish.result import Evidence, Polished, Start, sample_rows
from budgetsvm._polish.span_problem import SpanProblem, relative_gap
from budgetsvm._polish.turns import take_turns
from budgetsvm._polish.weston_watkins.problem import solve_weston_watkins
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import OneVsRest, Outputs

_WARM_WIDTH = 0.2  # of Newton's method after an earlier polish


def polish_in_span(
    problem: Problem,
    basis: Basis,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Start | None = None,
    report: Callable[[float], object] = float,
    watch: Callable[[SpanProblem], None] | None = None,
    matrix: KernelMatrix | None = None,
) -> Polished:
    """Solve the SVM in the span of a basis; `watch` gets to see the problem of a single output.

    `matrix` is what `kernel_matrix` returns, if it is at hand already.
    """
    outputs = problem.outputs
    if basis.width == 0:  # the kernel vanishes: so does the model
        return no_model(outputs, basis.points.shape[1], optimal=True)
    try:
        with single_threaded_blas():
            if matrix is None:
                matrix = kernel_matrix(problem, basis, limits)
            if isinstance(outputs, OneVsRest) and outputs.coupled:
                return _solve_coupled(outputs, matrix, limits, rng, report)
            if outputs.count == 1:
                how = partial(_solve_one, start=start, report=report, watch=watch)
            else:
                how = partial(_solve_many, start=start, report=report)
            return _result(basis, how(outputs, matrix, limits, rng), limits.tol)
    except OutOfTime:  # before there was anything to show
        return no_model(outputs, basis.points.shape[1], optimal=False)


def kernel_matrix(problem: Problem, basis: Basis, limits: Limits) -> KernelMatrix:
    """Evaluate the kernel of all rows and terms; of several outputs other things are held instead."""
    outputs = problem.outputs
    hold = outputs.count == 1 or (isinstance(outputs, OneVsRest) and outputs.coupled)
    return KernelMatrix(
        problem.rows,
        basis,
        limits.n_threads,
        limits.memory,
        hold=hold,
        room=limits.room,
        tick=limits.tick,
    )


@dataclass(frozen=True, eq=False)
class _Settled:
    """What is kept of the problem of one output."""

    w: NDArray[np.float64]
    alpha: NDArray[np.float64]
    primal: float
    dual: float
    scale: float
    passes: int
    values: NDArray[np.float64]  #: of the rows of a sample
    pull: float


class _Settle:
    """Draws up what is to be kept, with what an audit needs."""

    def __init__(self, matrix: KernelMatrix, tol: float, rng: np.random.Generator) -> None:
        self.rows = sample_rows(matrix.n, rng)
        self._left_out = LeftOutTerms(matrix)
        self._tol = tol

    def __call__(self, span: SpanProblem, *, keep_alpha: bool = False) -> _Settled:
        pull = 0.0
        if span.gap <= self._tol:
            with suppress(OutOfTime):
                pull = self._left_out.pull(span.alpha * span.targets.y, span.point_of_alpha)
        alpha = span.alpha if keep_alpha else np.empty(0)
        certificate = span.primal, span.dual, span.scale, span.passes
        return _Settled(span.w, alpha, *certificate, span.f[self.rows], pull)


def _result(
    basis: Basis, solved: tuple[Sequence[_Settled], NDArray[np.int64]], tol: float
) -> Polished:
    """Put the outputs together."""
    outputs, rows = solved
    primal, dual, scale = (
        sum(getattr(output, name) for output in outputs) for name in ("primal", "dual", "scale")
    )
    converged, gap = relative_gap(primal, dual, scale) <= tol, relative_gap(primal, dual)
    if gap == 0:  # where D exceeds P it does so by rounding
        dual = min(dual, primal)
    coef, bias = basis.expand([output.w for output in outputs])
    values = np.column_stack([output.values for output in outputs])
    return Polished(
        points=basis.points.astype(np.float64),
        coef=coef,
        bias=bias,
        alpha=outputs[0].alpha if len(outputs) == 1 else None,
        primal=primal,
        dual=dual,
        gap=gap,
        converged=converged,
        passes=max(output.passes for output in outputs),
        evidence=Evidence(rows, values, scale, sum(output.pull for output in outputs)),
    )


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
    coef, bias = matrix.basis.expand(list(found.w))
    points = matrix.basis.points.astype(np.float64)
    certificate = found.primal, found.dual, found.gap, found.converged, found.passes
    return Polished(points, coef, bias, None, *certificate, found.evidence)


def _solve_one(
    outputs: Outputs,
    matrix: KernelMatrix,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Start | None,
    report: Callable[[float], object],
    watch: Callable[[SpanProblem], None] | None = None,
) -> tuple[list[_Settled], NDArray[np.int64]]:
    """Solve the problem of one output."""
    settle = _Settle(matrix, limits.tol, rng)
    span = _solved(outputs, 0, matrix, limits, rng, start=start, report=report, watch=watch)
    return [settle(span, keep_alpha=True)], settle.rows


def _solve_many(
    outputs: Outputs,
    matrix: KernelMatrix,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Start | None,
    report: Callable[[float], object],
) -> tuple[list[_Settled], NDArray[np.int64]]:
    """Solve the problems of several outputs, on common features if there is memory for them."""
    settle = _Settle(matrix, limits.tol, rng)
    if not matrix.fits:
        one = partial(_solved, start=start, report=report)
        each = range(outputs.count)
        return [settle(one(outputs, c, matrix, limits, rng)) for c in each], settle.rows
    gaps = np.ones(outputs.count)

    def finished(c: int, span: SpanProblem) -> bool:
        gaps[c] = np.clip(span.gap, limits.tol, 1.0)
        report(float(np.exp(np.log(gaps).mean())))  # an output that has not begun has a gap of 1
        return limits.reached(span.gap, span.passes)

    features, threads = FeatureMatrix(matrix), limits.n_threads
    settled = solve_outputs(
        outputs, features, rng, finished, tol=limits.tol, n_threads=threads, settle=settle
    )
    return settled, settle.rows


def _solved(
    outputs: Outputs,
    output: int,
    matrix: KernelMatrix,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Start | None,
    report: Callable[[float], object],
    watch: Callable[[SpanProblem], None] | None = None,
) -> SpanProblem:
    """Return the problem of one output with its solution, or what was found in time."""
    span = SpanProblem(matrix, outputs.of_output(output))

    def finished() -> bool:
        report(span.gap)
        if watch is not None:
            watch(span)
        return limits.reached(span.gap, span.passes)

    with suppress(OutOfTime):
        _solve(
            span,
            rng,
            None if start is None else start.of_output(matrix.basis, output),
            finished,
            limits.tol,
        )
    return span


def _solve(
    span: SpanProblem,
    rng: np.random.Generator,
    start: tuple[NDArray[np.float64], NDArray[np.float64] | None] | None,
    finished: Callable[[], bool],
    tol: float,
) -> None:
    """Newton's method, then ascent and Newton's method in turns, until `finished`."""
    solver = HessianSolver(span.matrix.basis)
    if start is None:
        w, width = newton_on_samples(span, solver, rng, finished, tol)
        newton = NewtonMethod(span, solver, tol, w, span.values(w), width)
    else:
        _take_over(span, *start)
        newton = NewtonMethod(span, solver, tol, span.w, span.f, _WARM_WIDTH)
    newton.run(finished)
    if finished() or not span.targets.loss.has_kinks:  # it goes all the way where there are none
        return
    ascent = WorkingSetAscent(span, span.matrix, newton.alpha(), newton.f, rng)
    take_turns(span, ascent, newton, finished)


def _take_over(
    span: SpanProblem, w: NDArray[np.float64], alpha: NDArray[np.float64] | None
) -> None:
    """Begin with points of another problem: the best w up to this one, and α as far as it is feasible."""
    if np.isfinite(w).all():
        span.offer_primal(w, span.values(w))
    if alpha is not None:
        box = span.targets.box
        alpha = box * span.targets.loss.feasible(alpha / box)
        span.offer_dual(alpha, span.point(alpha))


def no_model(outputs: Outputs, n_features: int, *, optimal: bool) -> Polished:
    """Return the model without terms, which is optimal where no term can add anything."""
    total, count = 0.0, outputs.count
    for c in range(count):
        targets = outputs.of_output(c)
        slack = targets.slack(np.zeros(len(targets)))
        total += targets.cost(slack)
    dual, gap = (total, 0.0) if optimal else (0.0, 1.0)
    alpha = targets.alpha(slack, 0.0) if optimal and count == 1 else None
    points, coef = np.zeros((0, n_features)), np.zeros((count, 0))
    return Polished(points, coef, np.zeros(count), alpha, total, dual, gap, optimal, 0)

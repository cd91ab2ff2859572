"""Phase 2: freeze the terms and solve the SVM in their span, to a certified optimum.

Three stages. Newton's method on a sample of the rows finds its way from least squares to the
neighbourhood of the SVM; Newton's method on all rows comes close, until few rows are left that could
go either way; coordinate ascent on those settles them. The first two are fast far from the optimum and
never reach it, the last is slow far away and precise close by. Where ascent gets stuck, as for a very
large C, Newton's method takes over with narrower smoothing, and so on in turns. All count for the same
certificate.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from budgetsvm._ascent import WorkingSetAscent
from budgetsvm._basis import Basis
from budgetsvm._features import KernelMatrix
from budgetsvm._newton import newton_limit, newton_path, smooth_alpha
from budgetsvm._span import SpanProblem
from budgetsvm._threads import single_threaded_blas
from budgetsvm._training import Problem

_WIDEST = 4.0  # at w = 0 every row lies inside: the first step is least squares
_WIDTH_AFTER_SAMPLE = 0.5
_SAMPLE_PER_DIMENSION = 10


@dataclass(frozen=True)
class Limits:
    """When to stop, and what may be used."""

    tol: float
    max_passes: int
    deadline: float  #: a value of perf_counter
    memory: float  #: bytes for kernel values
    n_threads: int


@dataclass(frozen=True, eq=False)
class Polished:
    """The result of phase 2: the model f = Σ_j coef_j k(·, points_j) and its certificate.

    Attributes
    ----------
    points : ndarray of shape (n_terms, n_features)
        A linearly independent subset of the points given.
    coef : ndarray of shape (n_terms,)
        Their coefficients.
    alpha : ndarray of shape (n_samples,)
        The dual point behind the certificate.
    primal, dual : float
        P of the model, and D of alpha: the optimum in the span lies between them.
    gap : float
        (primal - dual) / primal.
    converged : bool
        Whether gap is at most tol.
    passes : int
        How often all rows were gone through.
    """

    points: NDArray[np.float64]
    coef: NDArray[np.float64]
    alpha: NDArray[np.float64]
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
    start: NDArray[np.float64] | None = None,
    report: Callable[[float], object] = float,
) -> Polished:
    """Solve the SVM in the span of a basis; `start` is a dual point to start from."""
    if len(basis) == 0:  # the kernel vanishes: so does the model
        total = float(problem.box.sum())
        points = basis.points.astype(np.float64)
        return Polished(points, np.zeros(0), problem.box.copy(), total, total, 0.0, True, 0)
    with single_threaded_blas():
        matrix = KernelMatrix(problem.rows, basis, limits.n_threads, limits.memory)
        span = SpanProblem(matrix, problem.y, problem.box)

        def finished() -> bool:
            report(span.gap)
            late = perf_counter() >= limits.deadline
            return span.gap <= limits.tol or span.passes >= limits.max_passes or late

        _solve(span, matrix, rng, start, finished)
    return Polished(
        basis.points.astype(np.float64),
        basis.coefficients(span.w),
        span.alpha,
        span.primal,
        span.dual,
        span.gap,
        span.gap <= limits.tol,
        span.passes,
    )


def _solve(
    span: SpanProblem,
    matrix: KernelMatrix,
    rng: np.random.Generator,
    start: NDArray[np.float64] | None,
    finished: Callable[[], bool],
) -> None:
    """Run the stages until `finished`; a dual point to start from makes the first two needless."""
    width = _WIDTH_AFTER_SAMPLE
    if start is None:
        w, width = _approach(span, matrix, rng)
        w, f, width = newton_path(span, w, width, finished)
        alpha = smooth_alpha(span, f, width)
    else:
        alpha, point = start, span.point(start)
        f = span.values(point)
        span.offer_dual(alpha, point)
        span.offer_primal(point, f)
    if finished():
        return
    ascent = WorkingSetAscent(span, matrix, alpha, f, rng)
    while not finished():
        ascent.round()
        if ascent.stuck and not finished():
            _, f, width = newton_limit(span, span.w, width, finished)
            alpha = smooth_alpha(span, f, width)
            if span.dual > 0:  # otherwise there is no good dual point yet
                alpha = span.alpha.copy()
                f = span.values(span.point(alpha))
            ascent.restart(alpha, f)


def warn_not_converged(polished: Polished, tol: float) -> None:
    """Say that the limits came first, and what to do."""
    message = (
        f"the duality gap is {polished.gap:.2g} after {polished.passes} passes, above tol={tol:g}. "
        "Raise max_passes, time_limit or tol; a smaller C or scaled features also help."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=6)  # the line that called fit


def _approach(
    span: SpanProblem, matrix: KernelMatrix, rng: np.random.Generator
) -> tuple[NDArray[np.float64], float]:
    """Come near the solution on a sample of the rows, where that is much smaller than all."""
    w, n = np.zeros(matrix.width), len(span.y)
    size = min(_SAMPLE_PER_DIMENSION * matrix.width, max(1024, matrix.most_rows // 4))
    if size > n / 2:
        return w, _WIDEST
    chosen = np.sort(rng.choice(n, size, replace=False))
    scale = n / size
    features = matrix.features(chosen, matrix.rows.dtype)  # not exact, and need not be
    sample = SpanProblem(features, span.y[chosen], scale * span.box[chosen])
    w, _, width = newton_path(sample, w, _WIDEST, lambda: False)
    return w, max(width, _WIDTH_AFTER_SAMPLE)

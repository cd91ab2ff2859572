"""Phase 2: freeze the terms and solve the SVM in their span, to a certified optimum.

Newton's method on a smoothed loss comes first, on samples of the rows and then on all; it is parallel,
and it nearly always reaches the tolerance. Where it does not, as for a tolerance that asks for hardly
any smoothing, coordinate ascent on the rows near the margin takes over, which is slow far from the
optimum and precise close by; and so on in turns. Both count for the same certificate.
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
from budgetsvm._hessian import HessianSolver
from budgetsvm._newton import NewtonMethod, newton_on_samples
from budgetsvm._span import SpanProblem
from budgetsvm._targets import Targets
from budgetsvm._threads import single_threaded_blas
from budgetsvm._training import Problem

_WARM_WIDTH = 0.2  # of Newton's method after an earlier polish


@dataclass(frozen=True)
class Limits:
    """When to stop, and what may be used."""

    tol: float
    max_passes: int
    deadline: float  #: a value of perf_counter
    memory: float  #: bytes for kernel values
    n_threads: int


@dataclass(frozen=True, eq=False)
class Start:
    """Where an earlier polish ended: its dual point, and coefficients of the points it was given."""

    alpha: NDArray[np.float64]
    coef: NDArray[np.float64]


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
    start: Start | None = None,
    report: Callable[[float], object] = float,
) -> Polished:
    """Solve the SVM in the span of a basis."""
    if len(basis) == 0:  # the kernel vanishes: so does the model
        return _nothing(problem.targets, basis)
    with single_threaded_blas():
        matrix = KernelMatrix(problem.rows, basis, limits.n_threads, limits.memory)
        span = SpanProblem(matrix, problem.targets)

        def finished() -> bool:
            report(span.gap)
            late = perf_counter() >= limits.deadline
            return span.gap <= limits.tol or span.passes >= limits.max_passes or late

        _solve(span, rng, start, finished, limits.tol)
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
    rng: np.random.Generator,
    start: Start | None,
    finished: Callable[[], bool],
    tol: float,
) -> None:
    """Newton's method, then ascent and Newton's method in turns, until `finished`."""
    basis = span.matrix.basis
    solver = HessianSolver(basis)
    if start is None:
        w, width = newton_on_samples(span, solver, rng, finished, tol)
    else:
        w, width = basis.coordinates(start.coef[basis.kept]), _WARM_WIDTH
        span.offer_dual(start.alpha, span.point(start.alpha))
    newton = NewtonMethod(span, solver, tol, w, span.values(w), width)
    newton.run(finished)
    if finished() or not span.targets.loss.has_kinks:  # it goes all the way where there are none
        return
    ascent = WorkingSetAscent(span, span.matrix, newton.alpha(), newton.f, rng)
    while not finished():
        ascent.round()
        if ascent.stuck and not finished():
            newton.restart(span.w, span.f)
            newton.run(finished)
            alpha, f = newton.alpha(), newton.f
            if span.dual > 0:  # otherwise there is no good dual point yet
                alpha = span.alpha.copy()
                f = span.values(span.point_of_alpha)
            ascent.restart(alpha, f)


def _nothing(targets: Targets, basis: Basis) -> Polished:
    """Return the model without terms, which is optimal where no term can add anything."""
    slack = targets.slack(np.zeros(len(targets)))
    total, alpha = targets.cost(slack), targets.alpha(slack, 0.0)
    points = basis.points.astype(np.float64)
    return Polished(points, np.zeros(0), alpha, total, total, 0.0, True, 0)


def warn_not_converged(polished: Polished, tol: float) -> None:
    """Say that the limits came first, and what to do."""
    message = (
        f"the duality gap is {polished.gap:.2g} after {polished.passes} passes, above tol={tol:g}. "
        "Raise max_passes, time_limit or tol; a smaller C or scaled features also help."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=6)  # the line that called fit

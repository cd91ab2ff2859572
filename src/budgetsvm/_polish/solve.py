"""Phase 2: freeze the terms and solve the SVM in their span, to a certified optimum.

Outputs that do not know of each other are solved alone or together (`outputs.py`), and the certificate is the
sum of theirs; classes that compete with each other are one problem (`weston_watkins`).
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix, RowMatrix
from budgetsvm._polish.one_against_one.pairs import solve_pairs, suits
from budgetsvm._polish.outlook import FEATURES, OUTPUTS, OneOfMany
from budgetsvm._polish.outputs import solve_for_all_values, solve_together
from budgetsvm._polish.result import Evidence, Polished, Solving, no_model
from budgetsvm._polish.settled import Settle, Settled
from budgetsvm._polish.span_problem import SpanProblem, relative_gap
from budgetsvm._polish.weston_watkins.problem import solve_weston_watkins
from budgetsvm._problem.pair_targets import PairTargets
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import ClassTargets, Targets
from budgetsvm.monitoring._observer import PolishMoment


def polish_in_span(problem: Problem, matrix: Matrix, how: Solving) -> Polished:
    """Solve the SVM in the span of the basis of a matrix, which has the rows of the problem."""
    try:
        with single_threaded_blas():
            if isinstance(problem.targets, ClassTargets) and problem.targets.coupled:
                return _solve_coupled(problem.targets, matrix, how)
            settle = Settle(matrix, how)
            settled = _solve_separate(problem, matrix, how, settle)
            return _put_together(settled, matrix.basis, settle.rows, how.limits.tol)
    except OutOfTime:  # before there was anything to show
        return no_model(problem.targets, matrix.basis.points, optimal=False)


def _solve_coupled(targets: ClassTargets, matrix: Matrix, how: Solving) -> Polished:
    """Solve the joint problem of all classes."""
    if not isinstance(matrix, RowMatrix):
        raise TypeError("the SVM of Weston & Watkins needs a matrix whose rows can be visited")
    found = solve_weston_watkins(matrix, targets, how)
    coef, bias = matrix.basis.expand(found.w)
    return Polished(
        points=matrix.basis.points.astype(np.float64),
        coef=coef,
        bias=bias,
        alpha=None,
        primal=found.primal,
        dual=found.dual,
        gap=found.gap,
        converged=found.converged,
        passes=found.passes,
        evidence=found.evidence,
    )


def _solve_separate(problem: Problem, matrix: Matrix, how: Solving, settle: Settle) -> Settled:
    """Solve each output by itself: several on common features, if there is memory for them."""
    targets = problem.targets
    if targets.count == 1:
        start = None if how.start is None else how.start.of_output(matrix.basis, 0)
        moment = partial(_whole_moment, problem)
        span = solve_for_all_values(matrix, targets.of_output(0), start, how, moment)
        return settle(span, keep_alpha=True)
    how.observer.in_task(FEATURES)
    features = matrix.orthonormal()
    how.observer.in_task(OUTPUTS)
    if features is None:
        return Settled.joined(matrix.for_each(_Alone(targets, how, settle), targets.count))
    if isinstance(targets, PairTargets) and suits(targets, features):
        return _settled_pairs(targets, matrix, features, how, settle)
    return Settled.joined(solve_together(features, targets, how, settle))


def _settled_pairs(
    targets: PairTargets, matrix: Matrix, features: RowMatrix, how: Solving, settle: Settle
) -> Settled:
    """Let the core solve pairs, and then others what it could not; a pair that there is no time for has no model."""
    settled, missing = settle.pairs(solve_pairs(features, targets, how), targets, features)
    for c in missing.tolist():
        nothing = SpanProblem(features, targets.of_output(c))
        settled.put(c, settle(nothing, targets.rows_of(c)))
    alone = _Alone(targets, how, settle)
    for c in np.setdiff1d(np.flatnonzero(settled.gaps > how.limits.tol), missing).tolist():
        if how.limits.late():
            break
        with suppress(OutOfTime):
            again = alone(matrix, c)
            if again.gaps[0] < settled.gaps[c]:
                settled.put(c, again)
    return settled


class _Alone:
    """Solves one of several outputs by itself; one may be asked for while others are on their way."""

    def __init__(self, targets: Targets, how: Solving, settle: Settle) -> None:
        self._targets, self._how, self._settle = targets, how, settle
        self._shares = np.zeros(targets.count)  # how far each of them is
        self._seeds = how.rng.integers(2**31, size=targets.count)

    def __call__(self, matrix: Matrix, c: int) -> Settled:
        how, rows = self._how, self._targets.rows_of(c)
        start = None if how.start is None else how.start.of_output(matrix.basis, c)
        observer = OneOfMany(how.observer, c, self._shares)
        own = replace(how, observer=observer, rng=np.random.default_rng(int(self._seeds[c])))
        part = matrix if rows is None else matrix.some(rows)
        span = solve_for_all_values(part, self._targets.of_output(c), start, own, _moment)
        observer.end()
        return self._settle(span, rows)


def _moment(span: SpanProblem) -> PolishMoment:
    """Return what an observer gets to see of one of several outputs."""
    return PolishMoment(span.gap, span.passes)


def _whole_moment(problem: Problem, span: SpanProblem) -> PolishMoment:
    """Return what an observer gets to see of a single output: it is all there is."""
    basis = span.matrix.basis

    def state() -> tuple[KernelExpansion, NDArray[np.float64]]:
        model = basis.kernel, basis.points, *basis.expand(span.w[np.newaxis]), problem.rows.centre
        return KernelExpansion(*model), span.alpha

    return PolishMoment(span.gap, span.passes, (span.primal, span.dual), state)


def _put_together(settled: Settled, basis: Basis, rows: NDArray[np.int64], tol: float) -> Polished:
    """Return the model of all outputs; what each of them has of a certificate adds up."""
    primal, dual, scale = settled.certificates.sum(axis=0).tolist()
    converged, gap = relative_gap(primal, dual, scale) <= tol, relative_gap(primal, dual)
    if gap == 0:  # where D exceeds P it does so by rounding
        dual = min(dual, primal)
    coef, bias = basis.expand(settled.w)
    of_span = None if settled.alpha is None else basis
    return Polished(
        points=basis.points.astype(np.float64),
        coef=coef,
        bias=bias,
        alpha=settled.alpha,
        primal=primal,
        dual=dual,
        gap=gap,
        converged=converged,
        passes=int(settled.passes.max()),
        evidence=Evidence(rows, settled.values, scale, float(settled.pulls.sum()), of_span),
    )

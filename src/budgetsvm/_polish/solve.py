"""Phase 2: freeze the terms and solve the SVM in their span, to a certified optimum.

Outputs that do not know of each other are solved alone or together (`outputs.py`), and the certificate is the
sum of theirs; classes that compete with each other are one problem (`weston_watkins`).
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.audit import LeftOutTerms, sample_rows
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix, RowMatrix
from budgetsvm._polish.one_against_one.pairs import SolvedPair, solve_pairs, suits
from budgetsvm._polish.outlook import FEATURES, OUTPUTS, OneOfMany
from budgetsvm._polish.outputs import solve_for_all_values, solve_together
from budgetsvm._polish.result import Evidence, Polished, Solving, no_model
from budgetsvm._polish.span_problem import SpanProblem, relative_gap
from budgetsvm._polish.weston_watkins.problem import solve_weston_watkins
from budgetsvm._problem.pair_targets import PairTargets, pairs_of
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import ClassTargets, Targets
from budgetsvm.monitoring._observer import PolishMoment


def polish_in_span(problem: Problem, matrix: Matrix, how: Solving) -> Polished:
    """Solve the SVM in the span of the basis of a matrix, which has the rows of the problem."""
    try:
        with single_threaded_blas():
            if isinstance(problem.targets, ClassTargets) and problem.targets.coupled:
                return _solve_coupled(problem.targets, matrix, how)
            settle = _Settle(matrix, how)
            settled = _solve_separate(problem, matrix, how, settle)
            return _put_together(settled, matrix.basis, settle.rows, how.limits.tol)
    except OutOfTime:  # before there was anything to show
        return no_model(problem.targets, matrix.basis.points, optimal=False)


def _solve_coupled(targets: ClassTargets, matrix: Matrix, how: Solving) -> Polished:
    """Solve the joint problem of all classes."""
    if not isinstance(matrix, RowMatrix):
        raise TypeError("the SVM of Weston & Watkins needs a matrix whose rows can be visited")
    found = solve_weston_watkins(matrix, targets, how)
    coef, bias = matrix.basis.expand(list(found.w))
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


@dataclass(frozen=True, eq=False)
class _Settled:
    """What is kept of the problem of one output."""

    w: NDArray[np.float64]
    alpha: NDArray[np.float64] | None
    primal: float
    dual: float
    scale: float
    passes: int
    values: NDArray[np.float64]  #: of the rows of a sample
    pull: float

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.primal, self.dual, self.scale)


class _Settle:
    """Draws up what is to be kept, with what an audit needs: α only where there is a single output."""

    def __init__(self, matrix: Matrix, how: Solving) -> None:
        self.rows = sample_rows(matrix.n, how.rng)
        self._tol = how.limits.tol
        self._left_out = LeftOutTerms(matrix.basis)
        others = self._left_out.basis
        self._matrix = None if others is None else matrix.against(others)

    def __call__(
        self,
        span: SpanProblem,
        rows: NDArray[np.int64] | None = None,
        *,
        keep_alpha: bool = False,
    ) -> _Settled:
        """Take an output that these rows know of; None: all."""
        return _Settled(
            w=span.w,
            alpha=span.alpha if keep_alpha else None,
            primal=span.primal,
            dual=span.dual,
            scale=span.scale,
            passes=span.passes,
            values=self._values(span, rows),
            pull=self._pull(span.gap, span.alpha * span.targets.y, span.point_of_alpha, rows),
        )

    def pairs(
        self, found: Iterator[SolvedPair], targets: PairTargets, features: RowMatrix
    ) -> Iterator[_Settled]:
        """Take pairs of classes that the core has solved: the first ones, if there was no time for all."""
        block = features.feature_rows(self.rows)
        seen, labels = block.rows[block.where], targets.labels[self.rows]
        places = [np.flatnonzero(labels == c) for c in range(targets.n_classes)]
        for one, (a, b) in zip(found, pairs_of(targets.n_classes).tolist(), strict=False):
            values, known = np.zeros(len(self.rows)), np.concatenate([places[a], places[b]])
            values[known] = seen[known] @ one.w
            pull = self._pull(one.gap, one.beta, one.point_of_alpha, one.rows)
            primal, dual, scale = one.certificate
            yield _Settled(one.w, None, primal, dual, scale, one.passes, values, pull)

    def _values(self, span: SpanProblem, rows: NDArray[np.int64] | None) -> NDArray[np.float64]:
        """Return f of the sample; zero for rows that do not know of the output, and that nobody asks for."""
        if rows is None:
            return span.f[self.rows]
        values, place = np.zeros(len(self.rows)), np.searchsorted(rows, self.rows)
        known = place < len(rows)
        known[known] = rows[place[known]] == self.rows[known]
        values[known] = span.f[place[known]]
        return values

    def _pull(
        self,
        gap: float,
        beta: NDArray[np.float64],
        point: NDArray[np.float64],
        rows: NDArray[np.int64] | None,
    ) -> float:
        """Return what terms left out of the basis add to ½‖w(α)‖², if there is a solution and time."""
        if self._matrix is not None and gap <= self._tol:
            with suppress(OutOfTime):
                if rows is not None:
                    beta, own = np.zeros(self._matrix.n), beta
                    beta[rows] = own
                return self._left_out.pull(self._matrix.transposed_times(beta), point)
        return 0.0


def _solve_separate(
    problem: Problem, matrix: Matrix, how: Solving, settle: _Settle
) -> list[_Settled]:
    """Solve each output by itself: several on common features, if there is memory for them."""
    targets = problem.targets
    if targets.count == 1:
        start = None if how.start is None else how.start.of_output(matrix.basis, 0)
        moment = partial(_whole_moment, problem)
        span = solve_for_all_values(matrix, targets.of_output(0), start, how, moment)
        return [settle(span, keep_alpha=True)]
    how.observer.in_task(FEATURES)
    features = matrix.orthonormal()
    how.observer.in_task(OUTPUTS)
    if features is None:
        return matrix.for_each(_Alone(targets, how, settle), targets.count)
    if isinstance(targets, PairTargets) and suits(targets, features):
        return _settled_pairs(targets, matrix, features, how, settle)
    return solve_together(features, targets, how, settle)


def _settled_pairs(
    targets: PairTargets, matrix: Matrix, features: RowMatrix, how: Solving, settle: _Settle
) -> list[_Settled]:
    """Let the core solve pairs, and then others what it could not; a pair that there is no time for has no model."""
    settled = list(settle.pairs(solve_pairs(features, targets, how), targets, features))
    alone = _Alone(targets, how, settle)
    for c, one in enumerate(settled):
        if one.gap > how.limits.tol and not how.limits.late():
            with suppress(OutOfTime):
                settled[c] = min(one, alone(matrix, c), key=lambda either: either.gap)
    for c in range(len(settled), targets.count):
        nothing = SpanProblem(features, targets.of_output(c))
        settled.append(settle(nothing, targets.rows_of(c)))
    return settled


class _Alone:
    """Solves one of several outputs by itself; one may be asked for while others are on their way."""

    def __init__(self, targets: Targets, how: Solving, settle: _Settle) -> None:
        self._targets, self._how, self._settle = targets, how, settle
        self._shares = np.zeros(targets.count)  # how far each of them is
        self._seeds = how.rng.integers(2**31, size=targets.count)

    def __call__(self, matrix: Matrix, c: int) -> _Settled:
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
        model = basis.kernel, basis.points, *basis.expand([span.w]), problem.rows.centre
        return KernelExpansion(*model), span.alpha

    return PolishMoment(span.gap, span.passes, (span.primal, span.dual), state)


def _put_together(
    settled: Sequence[_Settled], basis: Basis, rows: NDArray[np.int64], tol: float
) -> Polished:
    """Return the model of all outputs; what each of them has of a certificate adds up."""
    primal = sum(output.primal for output in settled)
    dual = sum(output.dual for output in settled)
    scale = sum(output.scale for output in settled)
    converged, gap = relative_gap(primal, dual, scale) <= tol, relative_gap(primal, dual)
    if gap == 0:  # where D exceeds P it does so by rounding
        dual = min(dual, primal)
    coef, bias = basis.expand([output.w for output in settled])
    values = np.column_stack([output.values for output in settled])
    return Polished(
        points=basis.points.astype(np.float64),
        coef=coef,
        bias=bias,
        alpha=settled[0].alpha,
        primal=primal,
        dual=dual,
        gap=gap,
        converged=converged,
        passes=max(output.passes for output in settled),
        evidence=Evidence(rows, values, scale, sum(output.pull for output in settled)),
    )

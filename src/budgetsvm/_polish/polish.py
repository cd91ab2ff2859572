"""Phase 2 for an estimator: from a model to one that is optimal in the span of its terms, and audited."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import Limits, OutOfTime
from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.certificate.audit import (
    better_of,
    clear,
    complete,
    doubt,
    precise,
    restated,
    sharp,
    trustworthy,
)
from budgetsvm._polish.certificate.in_double import in_double, stated_in_double
from budgetsvm._polish.matrix.captured import captured_share
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.panels import FEWEST_VALUES, panels_if_it_pays
from budgetsvm._polish.outlook import BASIS, CHECK, VALUES, solution_of, tasks_of
from budgetsvm._polish.result import Guess, Polished, Solving, Start, no_model
from budgetsvm._polish.solve import polish_in_span
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import ClassTargets
from budgetsvm.monitoring._observer import FitObserver

#: Solves a problem in a span; returns also the problem, as a one-class machine looks for the right one.
Solve: TypeAlias = Callable[[Problem, Matrix, Solving], tuple[Polished, Problem]]
#: Of the largest kernel value of terms: what a basis may lack before it is no basis for them.
MUCH_LOST = 0.1
#: Makes the matrix of a problem's rows on a basis.
MakeMatrix: TypeAlias = Callable[[Problem, Basis, Limits], Matrix]


def solve_as_it_is(problem: Problem, matrix: Matrix, how: Solving) -> tuple[Polished, Problem]:
    """Solve the problem that was given."""
    return polish_in_span(problem, matrix, how), problem


def all_values(
    problem: Problem, basis: Basis, limits: Limits, kind: type[KernelMatrix] = KernelMatrix
) -> KernelMatrix:
    """Evaluate the kernel of all rows and terms; of several outputs other things are held instead."""
    targets = problem.targets
    hold = targets.count == 1 or (isinstance(targets, ClassTargets) and targets.coupled)
    return kind(
        problem.rows,
        basis,
        limits.n_threads,
        limits.memory,
        hold=hold,
        room=limits.room,
        tick=limits.tick,
    )


def kernel_matrix(
    problem: Problem, basis: Basis, limits: Limits, make_exact: MakeMatrix = all_values
) -> Matrix:
    """Evaluate the kernel of all rows and terms, without small values if that pays; `make_exact` makes all of them."""

    def exact() -> Matrix:
        return make_exact(problem, basis, limits)

    few = None
    if problem.targets.count == 1 and len(problem.rows) * len(basis) >= FEWEST_VALUES:
        few = panels_if_it_pays(problem.rows, basis, limits, exact)
    return exact() if few is None else few


@dataclass(frozen=True, eq=False)
class Polishing:
    """How to polish a model."""

    limits: Limits
    rng: np.random.Generator
    intercept: bool
    may_widen: bool  #: from single to double precision
    observer: FitObserver = field(default_factory=FitObserver)
    solve: Solve = solve_as_it_is
    make_matrix: MakeMatrix = kernel_matrix
    make_in_double: MakeMatrix = all_values  #: of a look at a solution, which need not be kept
    #: Whether C is to mean in the span what it means for the machine of all rows; otherwise it is what it is.
    adapts_C: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the polish of a model led to; `problem` is the one that was solved."""

    model: KernelExpansion
    polished: Polished
    problem: Problem
    trusted: bool  #: the audit agrees
    complete: bool  #: no term that was left out of the basis would have helped
    full: bool = (
        False  #: the certificate is about all models, and not those in the span of the terms
    )
    terms: NDArray[np.int64] | None = None  #: the rows that are terms, where that is known
    factor: float = 1.0  #: of C, in the problem that was solved
    precise: bool = True  #: P and D are true to much less than their gap
    lost: float = 0.0  #: of the kernel of the terms: the share that their basis lacks, as it is not positive definite


def polish_model(
    model: KernelExpansion, problem: Problem, how: Polishing, start: Start | None
) -> Outcome:
    """Solve a problem in the span of a model's terms, in double precision where single will not do."""
    with single_threaded_blas():  # all of this: to switch its threads on and off takes time
        return _polish(model, problem, how, start)


def _polish(
    model: KernelExpansion, problem: Problem, how: Polishing, start: Start | None
) -> Outcome:
    found = _attempt(model, problem, how, start)
    done = found.polished.converged and found.trusted and found.complete and found.precise
    if not done and how.may_widen and model.points.dtype == np.float32 and not how.limits.late():
        found = _attempt(model.in_precision(np.float64), in_double(problem), how, start)
    if found.lost > MUCH_LOST:  # what is certified is about another kernel
        return replace(found, polished=replace(found.polished, converged=False))
    polished = replace(found.polished, converged=found.polished.converged and found.trusted)
    found = replace(found, polished=polished)
    if polished.converged:
        return found
    best = better_of(found.problem, model, found.model, how.rng)
    if best is found.model:
        return found
    polished = restated(found.problem, best, polished, how.rng, intercept=how.intercept)
    return replace(found, model=best, polished=polished)


def _attempt(
    model: KernelExpansion, problem: Problem, how: Polishing, start: Start | None
) -> Outcome:
    """Solve a problem in the precision of a model, and look whether that was precise enough."""
    model = _affordable(model, how.limits)
    before = float(problem.targets.box.sum())
    polished, problem, lost = _solve(model, problem, how, start)
    points = polished.points.astype(model.points.dtype)
    solved = replace(model, points=points, coef=polished.coef.copy(), bias=polished.bias)
    outcome = _audited(Outcome(solved, polished, problem, trusted=True, complete=True), how)
    good = complete(outcome.polished, how.limits.tol)
    return replace(
        outcome, complete=good, lost=lost, factor=float(problem.targets.box.sum()) / before
    )


def _audited(found: Outcome, how: Polishing) -> Outcome:
    """Look at a solution in other arithmetic, and say in that what it is worth, if it matters."""
    model, polished, tol = found.model, found.polished, how.limits.tol
    evidence = polished.evidence
    if not polished.converged or evidence is None:
        return found
    can_state = evidence.basis is not None and not model.is_double
    error = doubt(found.problem, model, polished, can_state=can_state)
    good = model.is_double or precise(polished, error)
    if good or evidence.basis is None:
        trusted = sharp(model, tol) and trustworthy(model, polished, error, tol)
        return replace(found, trusted=trusted, precise=good)
    wide = in_double(found.problem)
    basis = replace(evidence.basis, points=evidence.basis.points.astype(np.float64))
    try:
        matrix = how.make_in_double(wide, basis, how.limits)
        stated = stated_in_double(wide, polished, matrix, how.limits)
    except OutOfTime:
        return replace(found, trusted=False, precise=False)
    return replace(found, polished=stated, trusted=stated.converged and clear(model, tol))


def _solve(
    model: KernelExpansion, problem: Problem, how: Polishing, start: Start | None
) -> tuple[Polished, Problem, float]:
    """Solve a problem in the span of a model's terms; returns also the problem, and what the basis lacks of the kernel."""
    tell, lost = how.observer, 0.0
    try:
        tell.expect(_tasks(problem, len(model), how.limits))
        tell.in_task(BASIS)
        basis = Basis.of(
            model.points,
            model.kernel,
            constant=how.intercept,
            free=how.intercept and not problem.targets.bias_costs,
            n_threads=how.limits.n_threads,
            tick=how.limits.tick,
        )
        lost = basis.lost
        if basis.dimension == 0:  # the kernel vanishes: so does the model
            return no_model(problem.targets, model.points, optimal=True), problem, lost
        if how.adapts_C:
            share = captured_share(problem.rows, basis, how.limits)
            problem = replace(problem, targets=problem.targets.scaled(1 / share))
            if start is not None and start.alpha is not None:  # as a share of its bounds it stays
                start = replace(start, alpha=start.alpha / share)
        begin = start or _guess(model, basis, problem)
        ahead = _tasks(problem, basis.dimension, how.limits)
        tell.expect({name: ahead[name] for name in ahead if name != BASIS})
        tell.in_task(VALUES)
        matrix = how.make_matrix(problem, basis, how.limits)
        if matrix.exact_seconds is not None:
            ahead |= solution_of(matrix.n, basis.dimension, how.limits.n_threads, matrix.filled)
            ahead[CHECK] = ahead[VALUES]  # which took much less, as few of them were computed
        tell.expect({name: ahead[name] for name in ahead if name not in (BASIS, VALUES)})
    except OutOfTime:  # before there was anything to show
        return no_model(problem.targets, model.points, optimal=False), problem, lost
    return *how.solve(problem, matrix, Solving(how.limits, how.rng, how.observer, begin)), lost


def _guess(model: KernelExpansion, basis: Basis, problem: Problem) -> Guess | None:
    """Return what the span has of the function that phase 1 has learned, if there is one of a single output."""
    if problem.targets.count > 1 or not model.coef.any():
        return None
    constant = np.zeros(basis.dimension - len(basis))
    if len(basis) == len(model):
        w = basis.coordinates(np.append(model.coef[0, basis.kept], constant))
    else:
        terms = replace(
            model, bias=np.zeros_like(model.bias), centre=None
        )  # as points are, less it
        values = terms.wide.decision(basis.points, basis.n_threads)[:, 0]
        w = basis.projection(np.append(values, constant))
    return Guess(w) if np.isfinite(w).all() else None


def _tasks(problem: Problem, n_terms: int, limits: Limits) -> dict[str, float]:
    """Return what is to come, with guesses of the seconds."""
    rows, n_outputs = problem.rows, problem.targets.count
    return tasks_of(len(rows), n_terms, rows.row_cost, n_outputs, limits.n_threads)


def _affordable(model: KernelExpansion, limits: Limits) -> KernelExpansion:
    """Leave out terms that there is no time for; of those that were learned, phase 1 has a use already."""
    most = limits.most_terms()
    if len(model) <= most or model.coef.any():
        return model
    some = np.linspace(0, len(model) - 1, most).astype(np.int64)
    return replace(model, points=model.points[some], coef=model.coef[:, some])

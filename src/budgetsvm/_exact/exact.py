"""The exact machine, where the budget is not small against the number of rows.

Phase 1 visits 20 B rows at least, each of which takes B kernel values: where B ≥ n / 4 that is more than all n² of
them. So the dual of the full problem is solved first. If its solution has no more than B support vectors, or a
model in the span of B of them is as good up to `tol`, that is the model, and its certificate is about all models.
Otherwise there is nothing to show, and both phases have their turn.
"""

from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from budgetsvm._common.limits import Limits, OutOfTime
from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._exact.ascent import CERTIFY, CLIMB, HELD_SHARE, LEAVE_OUT, Ascent, tasks
from budgetsvm._exact.blocks import held_values, solve_blocks, suits
from budgetsvm._exact.candidates.attempt import (
    is_scarce,
    may_have_few_terms,
    solve_on_candidates,
    state_of,
)
from budgetsvm._exact.certified import certified_outcome, outcome_of_blocks
from budgetsvm._exact.fewer_terms import Expansion, choose_terms, fewer_terms
from budgetsvm._exact.kept import Kept
from budgetsvm._exact.solved import SolvedDual, SolvedDuals
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.certificate.in_double import in_double
from budgetsvm._polish.outlook import share_by_gap
from budgetsvm._polish.polish import Outcome, Polishing
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import dense_points
from budgetsvm._problem.targets import ClassTargets
from budgetsvm.kernels import Kernel, Sigmoid
from budgetsvm.losses import Logistic
from budgetsvm.monitoring._observer import PolishMoment

_Vector = NDArray[np.float64]

_FEW_TERMS, _FEW_ROWS = 512, 1.5  # fewer terms; times these, rows
_MOST_TO_FACTOR = 4096  # rows, of a kernel that may be anything
_ROWS_AT_ONCE = 256  # whose values a kernel is asked for
_ROUNDING = 1e-9  # of the trace
_OF_TOLERANCE = 0.9  # in the arithmetic of kernel values; the rest is for rounding
_CLOSER = 2e-4  # the gap to come to where all kernel values are at hand, as it takes little time
_MOST_HELD = 1_600_000_000  # bytes of kernel values, all of which are at hand
_BEFORE_REDUCTION = 0.25  # of the tolerance; the rest is for terms that are left out


def worth_trying(
    problem: Problem,
    kernel: Kernel,
    budget: int,
    limits: Limits,
    *,
    intercept: bool,
    at_will: bool = True,
) -> bool:
    """Whether the full problem is worth a try. With a small budget, only if phase 1 is not what somebody asks for (`at_will`).

    It must cost no more than both phases would; and it must be convex. With a bias that costs nothing Σ_i α_i y_i
    is zero: then a constant more or less in the kernel does not matter, and of its matrix the centred one is what counts.
    """
    if is_scarce(problem, budget, limits):
        return at_will and may_have_few_terms(problem, kernel, budget, intercept=intercept)
    n, targets = len(problem.rows), problem.targets
    coupled = isinstance(targets, ClassTargets) and targets.coupled
    if coupled or isinstance(kernel, Sigmoid):  # which is not positive definite
        return False
    if isinstance(targets.loss, Logistic) and n > budget:  # every row is a support vector
        return False
    # Then both phases take little time, and a failure for several outputs costs the time of each.
    few = _FEW_TERMS if targets.count > 1 else _FEW_TERMS / 2
    if budget < few and n > _FEW_ROWS * budget:
        return False
    if not kernel.in_python:
        return True
    # Other methods, and fewer terms, have functions of which the sum is not zero on their way.
    centred = n <= budget and suits(problem, intercept=intercept)
    return _is_definite(problem, kernel, limits, centred=centred)


def _is_definite(problem: Problem, kernel: Kernel, limits: Limits, *, centred: bool) -> bool:
    """Whether the kernel matrix of all rows, of which nothing is known, is positive semi-definite up to rounding."""
    n = len(problem.rows)
    if n > _MOST_TO_FACTOR:
        return False
    points, gram = dense_points(problem.rows, np.arange(n)), np.empty((n, n))
    for part in (slice(start, start + _ROWS_AT_ONCE) for start in range(0, n, _ROWS_AT_ONCE)):
        if limits.late():
            return False
        gram[part] = kernel.matrix(points[part], points)
    ridge = _ROUNDING * abs(np.trace(gram))
    if centred:
        size = max(float(gram.max()), -float(gram.min()))
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, np.newaxis]
        ridge = _ROUNDING * abs(np.trace(gram)) + n * float(np.finfo(np.float64).eps) * size
    gram.flat[:: n + 1] += ridge
    with single_threaded_blas():
        return bool(lapack.dpotrf(gram.T, overwrite_a=1)[1] == 0)


def _is_conditional(kernel: Kernel, problem: Problem, limits: Limits) -> bool:
    """Whether a kernel that was worth trying is definite for sums of zero alone."""
    return kernel.in_python and not _is_definite(problem, kernel, limits, centred=False)


def solve_exactly(
    model: KernelExpansion,
    problem: Problem,
    how: Polishing,
    budget: int,
    alpha: _Vector | None,
    *,
    kept: Kept | None = None,
    patient: bool = True,
) -> Outcome | None:
    """Solve the full problem, from α if there is one; None: not within the budget, or not at this price.

    Where all rows may be terms, what was not solved to the end is returned, too: the best of all attempts. `kept` is
    what was kept of the same problem with another C: then there is one attempt, however far it comes. Who is not
    `patient` may have other terms instead, and does not want what takes longer than it usually does.
    """

    on_blocks = _on_blocks(problem, how, budget)

    def attempt(problem: Problem, alpha: _Vector | None) -> Outcome | None:
        if on_blocks and _on_blocks(problem, how, budget):  # in double precision they may not fit
            found = _attempt_on_blocks(model, problem, how, alpha, kept)
            if found is not None:
                return found
            if _is_conditional(model.kernel, problem, how.limits):
                # Nobody else takes this kernel: what has been reached is better than nothing.
                return _attempt_on_blocks(model, problem, how, alpha, Kept())
            if not patient:
                return None
        few = may_have_few_terms(problem, model.kernel, budget, intercept=how.intercept)
        if few and not on_blocks:
            found = solve_on_candidates(model, problem, how, budget, alpha)
            if found is not None or is_scarce(problem, budget, how.limits):
                return found
        return _attempt(model, problem, how, budget, alpha)

    with single_threaded_blas():
        found = attempt(problem, alpha)
        if found is None or found.polished.converged or (on_blocks and kept is not None):
            return found
        if problem.rows.dtype == np.float32 and how.may_widen and not how.limits.late():
            problem = in_double(problem)
            if worth_trying(problem, model.kernel, budget, how.limits, intercept=how.intercept):
                found = better_outcome(found, attempt(problem, found.polished.alpha))
    # What is not done is better than nothing, but not where phase 1 would find something.
    return found if found.polished.converged or len(problem.rows) <= budget else None


def better_outcome(one: Outcome, other: Outcome | None) -> Outcome:
    """Return the one that is solved, or has the smaller P, of two attempts at the same problem.

    C may mean something else in a span (`factor`): then they cannot be compared, and it is the first one.
    """
    if other is None or one.factor != other.factor:
        return one
    if one.polished.converged != other.polished.converged:
        return one if one.polished.converged else other
    return one if one.polished.primal <= other.polished.primal else other


def _attempt(
    model: KernelExpansion, problem: Problem, how: Polishing, budget: int, alpha: _Vector | None
) -> Outcome | None:
    """Solve the full problem in the precision of its rows."""
    ascent, tol = Ascent(model.kernel, problem, how, budget), how.limits.tol
    expansion: Expansion | None = None
    with suppress(OutOfTime):
        ascent.begin(alpha)
        if not ascent.climb_to(_OF_TOLERANCE * tol):
            return None
        expansion = ascent.expansion()
        if len(expansion.terms) > budget:
            good, diagonal = _OF_TOLERANCE * tol, ascent.diagonal
            if choose_terms(ascent.values, ascent.duals, diagonal, budget, good) is None:
                return None
            if not ascent.climb_to(_BEFORE_REDUCTION * tol):
                return None
            how.observer.in_task(LEAVE_OUT)
            expansion = fewer_terms(ascent.values, ascent.duals, diagonal, budget, good)
    if len(ascent.duals) < problem.targets.count:  # the time is up before there is anything to show
        return None
    if expansion is None:  # the time is up, or there are too many terms
        expansion = ascent.expansion()
    if len(expansion.terms) > budget:
        return None
    how.observer.in_task(CERTIFY)
    return certified_outcome(problem, how, ascent, expansion)


def _on_blocks(problem: Problem, how: Polishing, budget: int) -> bool:
    """Whether all rows may be terms, and all kernel values that are wanted at the same time be held."""
    if len(problem.rows) > budget or not suits(problem, intercept=how.intercept):
        return False
    size = np.dtype(problem.rows.dtype).itemsize
    most = min(_MOST_HELD, HELD_SHARE * how.limits.memory)
    return size * held_values(problem.targets) <= most


def _attempt_on_blocks(
    model: KernelExpansion,
    problem: Problem,
    how: Polishing,
    alpha: _Vector | None,
    kept: Kept | None = None,
) -> Outcome | None:
    """Solve the full problem with all kernel values at hand; None: that is not the way."""
    observer, goal = how.observer, min(_OF_TOLERANCE * how.limits.tol, _CLOSER)
    count = problem.targets.count
    observer.expect(tasks(problem, len(problem.rows), how.limits.n_threads))
    observer.in_task(CLIMB)
    latest: dict[int, SolvedDual] = {}

    def show(c: int, now: SolvedDual) -> None:
        latest[c] = now
        share = len(latest) - 1 + share_by_gap(now.found.gap, goal)
        observer.in_task(CLIMB, share / count)
        objective, state = None, None
        if count == 1:
            objective = now.found.primal, now.found.dual
            state = partial(state_of, model, problem, now)
        observer.in_polish(PolishMoment(now.found.gap, now.passes, objective, state))

    try:
        limits = how.limits
        duals = solve_blocks(model.kernel, problem, limits, goal, show, start=alpha, kept=kept)
    except OutOfTime:  # what there is is better than nothing
        # In their order: threads show them in any.
        shown = [latest[c] for c in range(count)] if len(latest) == count else []
        duals = SolvedDuals.joined(shown) if shown else None
    if duals is None:
        return None
    observer.in_task(CERTIFY)
    return outcome_of_blocks(model, problem, how, duals)

"""The full problem where its support vectors may be few beside the rows, however few terms there are beside these.

Both phases take many passes over n rows and B terms. On candidates (`rounds.py`) the full problem takes a few over n rows and as many
support vectors as there are. So it is solved where these are no more than the terms, or half as many again: then some can
be left out, as a rule. A small sample tells, before any work is done.
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import Limits, OutOfTime
from budgetsvm._exact.ascent import CERTIFY, CLIMB, HELD_SHARE, LEAVE_OUT, tasks
from budgetsvm._exact.blocks import suits
from budgetsvm._exact.candidates.elimination import MOST, without_some
from budgetsvm._exact.candidates.rounds import Bounds, Candidates
from budgetsvm._exact.certified import outcome_of_blocks, outcome_of_fewer
from budgetsvm._exact.dual import Certificate
from budgetsvm._exact.fewer_terms import Expansion, choose_terms, model_of, nearest_model, whole
from budgetsvm._exact.solved import SolvedDual, SolvedDuals
from budgetsvm._exact.values.anew import ValuesAnew
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.outlook import share_by_gap
from budgetsvm._polish.polish import Outcome, Polishing, polish_model
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import kernel_diagonal
from budgetsvm.kernels import Kernel, Sigmoid
from budgetsvm.monitoring._observer import PolishMoment

_Vector = NDArray[np.float64]

_LEAST_SHARE = 4  # where the budget is not small against the rows, it is at least one in so many
_MOST_VALUES = 4_000_000_000  # bytes of kernel values of all candidates with each other
# Of the tolerance, how near to come, as it takes little time; and what will do where some terms are left out.
_NEAR, _CLOSE, _ENOUGH, _OF_TOLERANCE = 0.1, 1e-3, 0.25, 0.9
_AIM = 0.5  # of the gap that will do, where terms are left out
_LEAST_TERMS = 256  # with fewer of them, both phases take next to no time
# Times the terms, the support vectors that may be expected, and that may be in the end: some can be left out.
_EXPECTED, _AT_MOST = 4 / 3, 1.5


def is_scarce(problem: Problem, budget: int, limits: Limits) -> bool:
    """Whether all n² kernel values are too many: the budget is small against the rows, or the memory."""
    n, size = len(problem.rows), np.dtype(problem.rows.dtype).itemsize
    values, points = n * n * size, n * problem.rows.point_cost * size
    fits = max(values / HELD_SHARE, points / (1 - HELD_SHARE)) <= limits.memory
    return _LEAST_SHARE * budget < n or not fits


def may_have_few_terms(problem: Problem, kernel: Kernel, budget: int, *, intercept: bool) -> bool:
    """Whether it can be asked how many support vectors there are."""
    known = not (kernel.in_python or isinstance(kernel, Sigmoid))
    single = problem.targets.count == 1 and suits(problem, intercept=intercept)
    return known and single and budget >= _LEAST_TERMS


def solve_on_candidates(
    model: KernelExpansion, problem: Problem, how: Polishing, budget: int, alpha: _Vector | None
) -> Outcome | None:
    """Solve the full problem on the rows that may be support vectors; None: they are too many, or cannot be left out."""
    limits, observer, n = how.limits, how.observer, len(problem.rows)
    scarce, size = is_scarce(problem, budget, limits), np.dtype(problem.rows.dtype).itemsize
    # Of these values few are held at the same time, as a rule.
    room = int((min(_MOST_VALUES, HELD_SHARE * limits.memory) / size) ** 0.5)
    goal = min(_CLOSE, _NEAR * limits.tol)
    few, more = (max(budget, min(int(by * budget), MOST)) for by in (_EXPECTED, _AT_MOST))
    bounds = Bounds(goal, room, more, few) if scarce else Bounds(goal, room, n, np.inf)
    observer.expect(tasks(problem, budget, limits.n_threads))
    observer.in_task(CLIMB)

    def show(now: SolvedDual) -> None:
        observer.in_task(CLIMB, share_by_gap(now.found.gap, goal))
        state = partial(state_of, model, problem, now)
        objective = now.found.primal, now.found.dual
        observer.in_polish(PolishMoment(now.found.gap, now.passes, objective, state))

    in_time = replace(limits, deadline=min(limits.deadline, limits.doubtful))
    with suppress(OutOfTime):
        way = Candidates(model.kernel, problem, in_time, alpha)
        found = way.solve(bounds, budget, show)
        if found is not None and found.found.gap <= _ENOUGH * limits.tol:
            return _outcome_of_candidates(model, problem, how, found, budget)
    return None


def _outcome_of_candidates(
    model: KernelExpansion, problem: Problem, how: Polishing, found: SolvedDual, budget: int
) -> Outcome | None:
    """Return a model of no more terms than the budget, certified; None: those to be left out would cost too much.

    Where leaving out costs more than the tolerance, the terms that are left are still better than those that phase 1 learns: the
    certificate is one of their span, then.
    """
    if len(found.support) <= budget:
        how.observer.in_task(CERTIFY)
        return outcome_of_blocks(model, problem, how, SolvedDuals.joined([found]))
    how.observer.in_task(LEAVE_OUT)
    values = ValuesAnew(problem.rows, model.kernel, how.limits)
    good = _OF_TOLERANCE * how.limits.tol
    chosen_well = len(found.support) <= MOST
    fewer = (
        without_some(values, found, budget)
        if chosen_well
        else _near_by(values, found, budget, good)
    )
    if fewer is not None and fewer[1].gap <= good:
        how.observer.in_task(CERTIFY)
        return outcome_of_fewer(model, problem, how, found, fewer)
    if fewer is None or not chosen_well:
        return None
    return polish_model(model_of(model.kernel, problem.rows, fewer[0]), problem, how, None)


def _near_by(
    values: ValuesAnew, found: SolvedDual, budget: int, good: float
) -> tuple[Expansion, Certificate] | None:
    """Return the nearest model with terms that are chosen by what is new in them; None: there is much new in the others."""
    diagonal = kernel_diagonal(values.rows, values.kernel, found.rows)
    terms = choose_terms(values, [found], diagonal, budget, good)
    if terms is None:
        return None
    coef, known = nearest_model(values, found, terms, _AIM * good)
    return Expansion(terms, coef[np.newaxis], np.array([found.bias])), known


def state_of(
    model: KernelExpansion, problem: Problem, dual: SolvedDual
) -> tuple[KernelExpansion, _Vector]:
    """Return the model of a single output, and its α."""
    expansion = whole([dual], len(problem.rows))
    return model_of(model.kernel, problem.rows, expansion), dual.alpha

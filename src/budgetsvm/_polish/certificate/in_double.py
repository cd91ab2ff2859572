"""P and D of a solution as double precision evaluates them, where single precision cannot tell how large its gap is."""

from dataclasses import replace

import numpy as np

from budgetsvm._common.limits import Limits
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.result import Polished
from budgetsvm._polish.span_problem import SpanProblem, relative_gap
from budgetsvm._problem.problem import Problem


def in_double(problem: Problem) -> Problem:
    """Return the same problem, with kernel values in double precision."""
    return replace(problem, rows=replace(problem.rows, dtype=np.float64))


def stated_in_double(
    problem: Problem, polished: Polished, matrix: Matrix, limits: Limits
) -> Polished:
    """Return the same model of a single output with its true P, and D of its dual point; `matrix` has the values for both.

    Errors of kernel values add up to another w(α), by as much as the inverse of K_ZZ amplifies them: only a product
    with all rows shows it.
    """
    targets, basis = problem.targets.of_output(0), matrix.basis
    evidence, alpha = polished.evidence, polished.alpha
    assert evidence is not None
    assert alpha is not None
    constant = polished.bias[: basis.dimension - len(basis)]
    w = basis.coordinates(np.append(polished.coef[0], constant))
    f, point = matrix.exactly(w, alpha * targets.y)
    point = basis.costly(point)
    primal = SpanProblem(matrix, targets).objective(w, f)
    dual = targets.gain(alpha) - 0.5 * float(point @ point)
    gap, scale = relative_gap(primal, dual), targets.scale(primal, dual)
    return replace(
        polished,
        primal=primal,
        dual=min(dual, primal) if gap == 0 else dual,
        gap=gap,
        converged=relative_gap(primal, dual, scale) <= limits.tol,
        evidence=replace(evidence, scale=scale),
    )

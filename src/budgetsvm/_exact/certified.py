"""The certificate of a solution of the full problem: P and D by their definition, in float64."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._exact.ascent import Ascent
from budgetsvm._exact.dual import Certificate, certificate
from budgetsvm._exact.fewer_terms import Expansion, model_of
from budgetsvm._exact.solved import SolvedDuals
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.audit import sample_rows, sharp, trustworthy
from budgetsvm._polish.polish import Outcome, Polishing
from budgetsvm._polish.result import Evidence, Polished
from budgetsvm._polish.span_problem import relative_gap
from budgetsvm._problem.problem import Problem

_Matrix = NDArray[np.float64]

_KERNEL_WORK = 16  # of a kernel value beyond its dot product, in multiplications


def certified_outcome(
    problem: Problem, how: Polishing, ascent: Ascent, expansion: Expansion
) -> Outcome:
    """Return a model for the solution of an ascent, or its like with fewer terms, certified and audited."""
    solution, tol = ascent.expansion(), how.limits.tol
    values = _values(problem, how, ascent, expansion)
    same = len(solution.terms) == len(expansion.terms)
    of_alpha = values if same else _values(problem, how, ascent, solution)
    outputs = [
        _certificate(ascent, (expansion, values), (solution, of_alpha), c)
        for c in range(len(ascent.duals))
    ]
    model = ascent.model(expansion)
    alpha = ascent.duals[0].alpha if len(outputs) == 1 else None
    passes = max(one.passes for one in ascent.duals)
    polished = _put_together(model, alpha, passes, outputs, tol)
    rows = sample_rows(len(problem.rows), how.rng)
    scale = sum(one.scale for one in outputs)
    polished = replace(polished, evidence=Evidence(rows, values[rows], scale, 0.0))
    trusted = not polished.converged or trustworthy(problem, model, polished, tol)
    polished = replace(polished, converged=polished.converged and trusted)
    return Outcome(
        model, polished, problem, trusted, complete=True, full=True, terms=expansion.terms
    )


def _values(problem: Problem, how: Polishing, ascent: Ascent, expansion: Expansion) -> _Matrix:
    """Return f of all rows, (rows, outputs), in float64; if there is no time for it, those of the ascent."""
    X, limits = problem.rows.X, how.limits
    work = X.shape[0] * len(expansion.terms) * (problem.rows.row_cost + _KERNEL_WORK)
    try:
        limits.tick(work)
    except OutOfTime:
        values = np.zeros((len(problem.rows), len(ascent.duals)))
        for c, dual in enumerate(ascent.duals):
            values[dual.rows, c] = dual.f + dual.bias
        return values
    return ascent.model(expansion).in_precision(np.float64).decision(X, limits.n_threads)


def _certificate(
    ascent: Ascent, model: tuple[Expansion, _Matrix], solution: tuple[Expansion, _Matrix], c: int
) -> Certificate:
    """Return P of a model and D of the solution, for one output, each given with its values."""
    dual = ascent.duals[c]
    norms = (_squared_norm(expansion, values, c) for expansion, values in (model, solution))
    norm, norm_of_alpha = norms
    return certificate(dual.targets, model[1][dual.rows, c], norm, dual.alpha, norm_of_alpha)


def _squared_norm(expansion: Expansion, values: _Matrix, c: int) -> float:
    return float(expansion.coef[c] @ (values[expansion.terms, c] - expansion.bias[c]))


def outcome_of_blocks(
    of: KernelExpansion, problem: Problem, how: Polishing, duals: SolvedDuals
) -> Outcome:
    """Return a model for the solution of all outputs, audited: P and D are those of the kernel values it was found with."""
    n, tol = len(problem.rows), how.limits.tol
    expansion = Expansion(*duals.coefficients(n), duals.bias)
    model = model_of(of.kernel, problem.rows, expansion)
    outputs = [Certificate(*one) for one in duals.certificates.tolist()]
    polished = _put_together(model, duals.alpha, duals.passes, outputs, tol)
    rows = sample_rows(n, how.rng)
    values = duals.values(rows, n)
    scale = sum(one.scale for one in outputs)
    polished = replace(polished, evidence=Evidence(rows, values, scale, 0.0))
    trusted = not polished.converged or (
        sharp(model, tol) and trustworthy(problem, model, polished, tol)
    )
    polished = replace(polished, converged=polished.converged and trusted)
    return Outcome(
        model, polished, problem, trusted, complete=True, full=True, terms=expansion.terms
    )


def _put_together(
    model: KernelExpansion,
    alpha: NDArray[np.float64] | None,
    passes: int,
    outputs: list[Certificate],
    tol: float,
) -> Polished:
    """Return the result of all outputs; what each of them has of a certificate adds up."""
    primal, dual, scale = (
        sum(getattr(one, name) for one in outputs) for name in ("primal", "dual", "scale")
    )
    gap = relative_gap(primal, dual)
    return Polished(
        points=model.points.astype(np.float64),
        coef=model.coef,
        bias=model.bias,
        alpha=alpha,
        primal=primal,
        dual=min(dual, primal) if gap == 0 else dual,  # it exceeds P by rounding
        gap=gap,
        converged=relative_gap(primal, dual, scale) <= tol,
        passes=passes,
    )

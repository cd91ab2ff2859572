"""The certificate of a solution of the full problem: P and D by their definition, in float64."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._exact.ascent import Ascent
from budgetsvm._exact.dual import Certificate, certificate
from budgetsvm._exact.fewer_terms import Dual, Expansion, model_of
from budgetsvm._exact.solved import SolvedDual, SolvedDuals
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.certificate.audit import (
    clear,
    doubt,
    half_norm,
    precise,
    sample_rows,
    sharp,
    trustworthy,
)
from budgetsvm._polish.certificate.in_double import in_double
from budgetsvm._polish.polish import Outcome, Polishing
from budgetsvm._polish.result import Evidence, Polished
from budgetsvm._polish.span_problem import relative_gap
from budgetsvm._problem.problem import Problem

_Matrix = NDArray[np.float64]
_Solution: TypeAlias = tuple[KernelExpansion, Expansion, Iterable[Dual]]

_KERNEL_WORK = 16  # of a kernel value beyond its dot product, in multiplications


def certified_outcome(
    problem: Problem, how: Polishing, ascent: Ascent, expansion: Expansion
) -> Outcome:
    """Return a model for the solution of an ascent, or its like with fewer terms, certified and audited."""
    solution, duals = ascent.expansion(), ascent.duals
    values = _values(problem, how, ascent, expansion)
    same = len(solution.terms) == len(expansion.terms)
    of_alpha = values if same else _values(problem, how, ascent, solution)
    outputs = [
        _certificate(ascent, (expansion, values), (solution, of_alpha), c)
        for c in range(len(duals))
    ]
    model, rows = ascent.model(expansion), sample_rows(len(problem.rows), how.rng)
    # f is that of double precision, but of points that are rounded: so is ‖w(α)‖².
    sizes = np.linalg.norm(model.coef, axis=1)
    rounded = 0.0 if model.is_double else float(model.rounding @ sizes)
    alpha = duals[0].alpha if len(duals) == 1 else None
    evidence, passes = Evidence(rows, values[rows], 0.0, 0.0), max(one.passes for one in duals)
    found = _put_together(model, (alpha, passes), outputs, evidence, how)
    return _audited(problem, how, (model, expansion, duals), found, rounded)


def _values(problem: Problem, how: Polishing, ascent: Ascent, expansion: Expansion) -> _Matrix:
    """Return f of all rows, (rows, outputs), in float64; if there is no time for it, those of the ascent."""
    X, limits = problem.rows.X, how.limits
    try:
        limits.tick(_work(problem, X.shape[0], len(expansion.terms)))
    except OutOfTime:
        values = np.zeros((len(problem.rows), len(ascent.duals)))
        for c, dual in enumerate(ascent.duals):
            values[dual.rows, c] = dual.f + dual.bias
        return values
    return ascent.model(expansion).in_precision(np.float64).decision(X, limits.n_threads)


def _work(problem: Problem, n_rows: int, n_terms: int) -> float:
    """Return the multiplications of so many kernel values."""
    return n_rows * n_terms * (problem.rows.row_cost + _KERNEL_WORK)


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
    """Return a model for the solution of all outputs, audited: P and D are those of the kernel values it was found with.

    Where errors of these are not small beside the gap, they are those of double precision.
    """
    n = len(problem.rows)
    expansion, rows = Expansion(*duals.coefficients(n), duals.bias), sample_rows(n, how.rng)
    model = model_of(of.kernel, problem.rows, expansion)
    outputs = [Certificate(*one) for one in duals.certificates.tolist()]
    evidence = Evidence(rows, duals.values(rows, n), 0.0, 0.0)
    found = _put_together(model, (duals.alpha, duals.passes), outputs, evidence, how)
    return _audited(problem, how, (model, expansion, duals.each(problem.targets)), found, 0.0)


def outcome_of_fewer(
    of: KernelExpansion,
    problem: Problem,
    how: Polishing,
    solved: SolvedDual,
    fewer: tuple[Expansion, Certificate],
) -> Outcome:
    """Return a model of fewer terms than the solution of a single output has, audited; P is its own."""
    expansion, known = fewer
    model = model_of(of.kernel, problem.rows, expansion)
    rows = sample_rows(len(problem.rows), how.rng)
    values = model.decision(problem.rows.given(rows), how.limits.n_threads)
    evidence, reached = Evidence(rows, values, 0.0, 0.0), (solved.alpha, solved.passes)
    found = _put_together(model, reached, [known], evidence, how)
    return _audited(problem, how, (model, expansion, [solved]), found, 0.0)


def _audited(
    problem: Problem, how: Polishing, solution: _Solution, found: Polished, rounded: float
) -> Outcome:
    """Look at a solution in other arithmetic, and say in that what it is worth, if it matters.

    An error is known already: what rounded points make of D.
    """
    (model, expansion, _), tol, trusted = solution, how.limits.tol, True
    if found.converged:
        error = max(rounded, doubt(problem, model, found, can_state=not model.is_double))
        if model.is_double or precise(found, error):
            trusted = sharp(model, tol) and trustworthy(model, found, error, tol)
        else:
            evidence, outputs = found.evidence, _in_double(problem, how, solution)
            if outputs is not None:
                reached = found.alpha, found.passes
                found = _put_together(model, reached, outputs, evidence, how)
            trusted = outputs is not None and found.converged and clear(model, tol)
    found = replace(found, converged=found.converged and trusted)
    return Outcome(model, found, problem, trusted, complete=True, full=True, terms=expansion.terms)


def _in_double(problem: Problem, how: Polishing, solution: _Solution) -> list[Certificate] | None:
    """Return P of a model and D of all outputs as double precision has them; None: there is no time for that.

    P is that of the points of the model, which are rounded, D that of the rows.
    """
    model, expansion, duals = solution
    rows, limits, outputs = in_double(problem).rows, how.limits, []
    for c, dual in enumerate(duals):
        targets, alpha = dual.targets, dual.alpha
        terms, known = np.flatnonzero(expansion.coef[c]), dual.rows
        own = KernelExpansion(
            model.kernel,
            model.points[terms].astype(np.float64),
            model.coef[c : c + 1, terms],
            model.bias[c : c + 1],
            model.centre,
        )
        try:
            limits.tick(_work(problem, len(known) + 2 * len(terms), len(terms)))
        except OutOfTime:
            return None
        f = own.decision(rows.given(known), limits.n_threads)[:, 0]
        if how.intercept:
            alpha = targets.balanced(alpha, targets.slack(f))
        support, none = np.flatnonzero(alpha), np.zeros(1)
        beta = (alpha * targets.y)[np.newaxis, support]
        true = model_of(model.kernel, rows, Expansion(known[support], beta, none))
        norms = 2 * half_norm(own), 2 * half_norm(true)
        outputs.append(certificate(targets, f, norms[0], alpha, norms[1]))
    return outputs


def _put_together(
    model: KernelExpansion,
    reached: tuple[NDArray[np.float64] | None, int],
    outputs: list[Certificate],
    evidence: Evidence | None,
    how: Polishing,
) -> Polished:
    """Return the result of all outputs, with α of a single one, and passes; what each has of a certificate adds up."""
    alpha, passes = reached
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
        converged=relative_gap(primal, dual, scale) <= how.limits.tol,
        passes=passes,
        evidence=None if evidence is None else replace(evidence, scale=scale),
    )

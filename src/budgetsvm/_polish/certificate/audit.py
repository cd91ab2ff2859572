"""A second look at a polished model, and what to do if it does not hold.

The certificate of a polish is about the kernel values that it worked with. In single precision, or for rows
far from the origin, these may be wrong, and large coefficients amplify their errors. So what some rows cost
is computed anew in float64, from differences of features. To first order, that says by how much D is wrong, too:
Σ_i β_i δf_i is what errors δf change of ‖w(α)‖², and it is what they change of the costs where α belongs to the slopes
of the loss. Where it is not small beside the gap, P and D are computed anew (`in_double.py`).

Terms that were left out of a basis, because their coefficients would have been too large, are asked what they
would have contributed: in the larger span the certificate of a dual point α is D(α) less ½‖u‖², u being the
coordinates of w(α) along what is new in the other terms; no model in the larger span is better than that. So
where ½‖u‖² is small beside the gap that is asked for, leaving those terms out has cost nothing.

And when a polish is cut short, the model that it began with may be the better one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.result import Evidence, Polished
from budgetsvm._problem.pair_targets import PairTargets, of_known_pairs
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._interface import TrainingData
from budgetsvm.monitoring._objectives import Objectives

_TOLERATED = 0.5  # of the gap that is asked for
_UNSEEN = 0.1  # of the gap that is reported: errors that it would not show ...
_LEAST = 1e-7  # ... and of P, errors that nobody asks for
# Errors of rows may cancel each other in the sample, and not in all rows: so many standard deviations of their
# sum come on top. And none of them may be large: this share of all, as if none cancelled.
_DEVIATIONS, _OF_ALL = 2.0, 0.1
_BLURRED = 0.01  # likewise: ‖w‖² adds up products of coefficients, which may be large
_SOON = 8  # times the sample, rows whose values in the core's arithmetic take no longer than those of the sample
_FEATURES = 256  # beyond, differences of features take too long
_WORK, _FEWEST = 5e6, 128  # features of all pairs of rows and terms; rows at least


_ROWS = 1024  # of a sample


def sample_rows(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose rows to look at."""
    return np.sort(rng.choice(n, _ROWS, replace=False)) if n > _ROWS else np.arange(n)


def doubt(
    problem: Problem, model: KernelExpansion, polished: Polished, *, can_state: bool
) -> float:
    """Estimate by how much P and D are wrong; of few rows where that is enough to see that nothing is.

    Whoever can state them anew in double precision may do so at once, where that takes little more than to ask.
    """
    evidence = polished.evidence
    if evidence is None:
        return 0.0
    some = -(-len(evidence.rows) // int(max(_FEWEST, _WORK / max(1, model.points.size))))
    found = _error(problem, model, evidence, some)
    # Of few rows, much of that is doubt: before it costs a second attempt, the whole sample is asked.
    soon = can_state and len(problem.rows) <= _SOON * len(evidence.rows)
    if some > 1 and not soon and not precise(polished, found):
        found = _error(problem, model, evidence, 1)
    return found


def precise(polished: Polished, error: float) -> bool:
    """Whether an error of P and D is so small that their gap is what it says."""
    return error <= max(_UNSEEN * (polished.primal - polished.dual), _LEAST * polished.primal)


def trustworthy(model: KernelExpansion, polished: Polished, error: float, tol: float) -> bool:
    """Whether the objective of a polished model, which may be wrong by an error, is what the polish says it is."""
    evidence = polished.evidence
    if evidence is None:
        return True
    return clear(model, tol) and error <= _TOLERATED * tol * evidence.scale


def clear(model: KernelExpansion, tol: float) -> bool:
    """Whether double precision will do for these points.

    What a sample shows would be wrong in the same way: rows that are sparse, or wide, and ‖w‖² are computed from norms, as in the core.
    """
    return _blur(model, np.float64) <= _BLURRED * tol


def sharp(model: KernelExpansion, tol: float) -> bool:
    """Whether kernel values in the precision of a model will do for a dual point in its span.

    The costs of a sample say that P is right, however wrong the values were that led there. ‖w(α)‖², and with it D,
    is made of those values alone.
    """
    return _blur(model, model.points.dtype) <= tol


def _blur(model: KernelExpansion, precision: Any) -> float:
    """Return the error of kernel values of points side by side, in a precision."""
    return model.kernel.relative_error(model.points) * float(np.finfo(precision).eps)


def complete(polished: Polished, tol: float) -> bool:
    """Whether the terms that were left out would have contributed nothing that counts."""
    evidence = polished.evidence
    return evidence is None or evidence.pull <= tol * evidence.scale


def _error(problem: Problem, model: KernelExpansion, evidence: Evidence, stride: int) -> float:
    """Estimate by how much the costs of all rows differ from what the polish has seen; `stride` picks rows of its sample.

    A row that weighs more than others may not be among them: its value is as wrong as theirs.
    """
    n = len(problem.rows)
    rows, seen = evidence.rows[::stride], evidence.values[::stride]
    targets = problem.targets.some(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        now, before = targets.costs(_values(problem, model, rows)), targets.costs(seen)
        errors = now - before
        unseen = 1 - len(rows) / n
        spread = float(np.std(errors)) * (unseen * len(rows)) ** 0.5 * n / len(rows)
        of_a_row = float(np.sqrt(np.mean((errors / targets.box) ** 2)))
        heavy = of_a_row * unseen**0.5 * float(np.linalg.norm(problem.targets.box))
        total, each = (
            n / len(rows) * abs(float(sums)) for sums in (errors.sum(), abs(errors).sum())
        )
        error = max(total + _DEVIATIONS * max(spread, heavy), _OF_ALL * each)
    return error if np.isfinite(error) else np.inf  # then the answer is no


def _values(
    problem: Problem, model: KernelExpansion, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return f of some rows in float64."""
    X = problem.rows.X[rows]
    wide = model.in_precision(np.float64)
    if sparse.issparse(X) or X.shape[1] > _FEATURES:
        return wide.decision(X)
    X = X.astype(np.float64) if model.centre is None else X - model.centre
    kernel_values = np.asarray(model.kernel.matrix(X, wide.points))
    targets = problem.targets
    if not isinstance(targets, PairTargets):
        return np.asarray(kernel_values @ model.coef.T + model.bias)
    labels, n_classes = targets.labels[rows], targets.n_classes
    return of_known_pairs(kernel_values, model.coef, labels, n_classes, model.bias)


class LeftOutTerms:
    """The terms that a basis lacks: `basis` has them as they are, None where there are none."""

    def __init__(self, of: Basis) -> None:
        self._kept = len(of)
        self._lower: NDArray[np.float64] = np.empty((0, self._kept))
        self.basis: Basis | None = None
        if of.left_out is not None:
            self._lower = of.left_out.lower
            self.basis = Basis.plain(of.left_out.points, of.kernel)

    def pull(self, sums: NDArray[np.float64], point: NDArray[np.float64]) -> float:
        """Return ½‖u‖² of a dual point, given Σ_i α_i y_i k(x_i, z_j) for these terms, and its w(α)."""
        known, new = self._lower[:, : self._kept], self._lower[:, self._kept :]
        u = solve_triangular(new, sums - known @ point[: self._kept], lower=True)
        return 0.5 * float(u @ u)


_EFFORT = 1.5e8  # kernel values: a fraction of a second


def better_of(
    problem: Problem, before: KernelExpansion, after: KernelExpansion, rng: np.random.Generator
) -> KernelExpansion:
    """Return the better one of two models, on a sample of the rows.

    Several classes: the one that is right more often. Phase 1 trains them jointly, so that its P, of each
    class against the rest, says little. Otherwise: the one with the smaller P.
    """
    if not before.coef.any():
        return after
    chosen = sample_rows(len(problem.rows), rng)
    X = problem.rows.X[chosen]
    targets = problem.targets.some(chosen, len(problem.rows) / len(chosen))

    def quality(model: KernelExpansion) -> float:
        values = model.decision(X)
        if problem.targets.has_classes:
            return targets.score(values)
        bias = float(model.bias @ model.bias) if targets.bias_costs else 0.0
        return -(float(targets.costs(values).sum()) + half_norm(model) + 0.5 * bias)

    with np.errstate(over="ignore", invalid="ignore"):
        return before if not quality(after) >= quality(before) else after


def half_norm(model: KernelExpansion) -> float:
    """Return ½‖w‖² without the bias."""
    wide = replace(model.in_precision(np.float64), bias=np.zeros(len(model.coef)))
    values: NDArray[np.float64] = wide.decision(wide.original_points())
    return 0.5 * float(np.vdot(model.coef.T, values))


def restated(
    problem: Problem,
    model: KernelExpansion,
    polished: Polished,
    rng: np.random.Generator,
    *,
    intercept: bool,
) -> Polished:
    """Return the result of a polish that gives way to another model; nothing is certified of that."""
    data = TrainingData(problem.rows, problem.targets, intercept)
    objectives = Objectives(data, _EFFORT, rng)
    estimate = objectives.primal(model)
    primal = estimate.value if estimate.error == 0 else np.nan  # too dear to compute
    return replace(
        polished,
        points=model.points.astype(np.float64),
        coef=model.coef,
        bias=model.bias,
        primal=primal,
        gap=np.inf if np.isnan(primal) else max(0.0, (primal - polished.dual) / primal),
        converged=False,
        evidence=None,
    )

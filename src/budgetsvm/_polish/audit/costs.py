"""A second look at a polished model, in other arithmetic than that which led to it.

The certificate of a polish is about the kernel values that it worked with. In single precision, or for rows
far from the origin, these may be wrong, and large coefficients amplify their errors. So what some rows cost
is computed anew in float64, from differences of features; and terms that were left out because their
coefficients would have been too large are asked what they would have contributed (`left_out.py`).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.result import Evidence, Polished
from budgetsvm._problem.problem import Problem

_TOLERATED = 0.5  # of the gap that is asked for
_FEATURES = 256  # beyond, differences of features take too long
_WORK, _FEWEST = 5e6, 128  # features of all pairs of rows and terms; rows at least


def trustworthy(problem: Problem, model: KernelExpansion, polished: Polished, tol: float) -> bool:
    """Whether the objective of a polished model is what the polish says it is."""
    evidence = polished.evidence
    if evidence is None:
        return True
    return _error(problem, model, evidence) <= _TOLERATED * tol * evidence.scale


def complete(polished: Polished, tol: float) -> bool:
    """Whether the terms that were left out would have contributed nothing that counts."""
    evidence = polished.evidence
    return evidence is None or evidence.pull <= tol * evidence.scale


def _error(problem: Problem, model: KernelExpansion, evidence: Evidence) -> float:
    """Estimate by how much the costs of all rows differ from what the polish has seen."""
    count = int(max(_FEWEST, _WORK / max(1, model.points.size)))
    stride = -(-len(evidence.rows) // count)
    rows, seen = evidence.rows[::stride], evidence.values[::stride]
    outputs = problem.outputs.some(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        now, before = outputs.costs(_values(problem, model, rows)), outputs.costs(seen)
        error = len(problem.rows) / len(rows) * abs(float((now - before).sum()))
    return error if np.isfinite(error) else np.inf  # then the answer is no


def _values(
    problem: Problem, model: KernelExpansion, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return f of some rows in float64."""
    X = problem.rows.X[rows]
    wide = replace(model, points=model.points.astype(np.float64))
    if sparse.issparse(X) or X.shape[1] > _FEATURES:
        return wide.decision(X)
    X = X.astype(np.float64) if model.centre is None else X - model.centre
    return np.asarray(model.kernel.matrix(X, wide.points) @ model.coef.T + model.bias)

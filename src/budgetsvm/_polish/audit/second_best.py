"""When a polish is cut short, the model that it began with may be the better one."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.result import Polished, sample_rows
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._interface import TrainingData
from budgetsvm.monitoring._objectives import Objectives

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
    outputs = problem.outputs.some(chosen, len(problem.rows) / len(chosen))

    def quality(model: KernelExpansion) -> float:
        values = model.decision(X)
        if problem.outputs.has_classes:
            return outputs.score(values)
        return -(float(outputs.costs(values).sum()) + half_norm(model))

    with np.errstate(over="ignore", invalid="ignore"):
        return before if not quality(after) >= quality(before) else after


def half_norm(model: KernelExpansion) -> float:
    """Return ½‖w‖², the bias included."""
    wide = replace(model, points=model.points.astype(np.float64), bias=np.zeros(len(model.coef)))
    values: NDArray[np.float64] = wide.decision(wide.original_points())
    return 0.5 * (float(np.vdot(model.coef.T, values)) + float(model.bias @ model.bias))


def restated(
    problem: Problem,
    model: KernelExpansion,
    polished: Polished,
    rng: np.random.Generator,
    *,
    intercept: bool,
) -> Polished:
    """Return the result of a polish that gives way to another model; nothing is certified of that."""
    data = TrainingData(problem.rows, problem.outputs, intercept)
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

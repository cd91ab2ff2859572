"""What an observer gets to see of phase 2."""

from typing import Any

import numpy as np
import pytest
from polish.spans import LITTLE, PLENTY, Seen, basis_of, several_outputs, solve_in_span

from budgetsvm._common.limits import Limits
from budgetsvm._problem.problem import Problem


def limits(tol: float = 1e-3, memory: float = PLENTY) -> Limits:
    return Limits(tol, 500, np.inf, memory, 1)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_a_single_output_is_seen_with_its_model(memory: float) -> None:
    """The certificate at every moment, and at the last one the result."""
    many = several_outputs("logistic")
    problem, seen = Problem(many.rows, many.targets.of_output(1)), Seen()
    polished = solve_in_span(problem, basis_of(problem), limits(memory=memory), observer=seen)
    last = seen.moments[-1]
    assert (last.gap, last.passes) == (polished.gap, polished.passes)
    assert last.objective == (polished.primal, polished.dual)
    assert last.state is not None
    model, alpha = last.state()
    np.testing.assert_array_equal(model.coef, polished.coef)
    np.testing.assert_array_equal(model.bias, polished.bias)
    np.testing.assert_array_equal(model.points, polished.points)
    np.testing.assert_array_equal(alpha, polished.alpha)
    objectives: Any = [moment.objective for moment in seen.moments]
    assert (np.diff(np.array(objectives), axis=0) * [1, -1] <= 0).all()
    assert (np.diff([moment.passes for moment in seen.moments]) >= 0).all()


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_of_several_outputs_the_gap_is_seen(memory: float) -> None:
    problem, seen = several_outputs(), Seen()
    polished = solve_in_span(problem, basis_of(problem), limits(memory=memory), observer=seen)
    assert polished.converged
    assert len(seen.moments) >= problem.targets.count
    assert seen.moments[-1].gap <= 1e-3 * (1 + 1e-9)
    assert all(moment.objective is moment.state is None for moment in seen.moments)

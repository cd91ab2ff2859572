"""Coordinate ascent on working sets: how much work a round is."""

import numpy as np
import pytest
from oracles.problems import moons

from budgetsvm import kernels
from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget


@pytest.mark.parametrize("rows", [3, 20, 100, 500])
def test_a_round_of_ascent_is_a_bounded_amount_of_work(rows: int) -> None:
    """With all patience, too: on few rows a pass is nothing, but hundreds of thousands are not."""
    X, y = moons(rows, 0)
    basis = Basis.of(X, kernels.Gaussian(1.0))
    matrix = KernelMatrix(Rows(X, np.float64, None), basis, 1, 1e9)
    span = SpanProblem(matrix, SingleTarget.of_labels(y, np.ones(rows)))
    nothing = np.zeros(rows)
    ascent = WorkingSetAscent(span, matrix, nothing.copy(), nothing, np.random.default_rng(0))
    few = ascent._most_passes(rows)
    ascent.effort = 512.0
    most = ascent._most_passes(rows)
    assert few < most <= 10_000
    assert most * rows * len(basis) <= max(1e8, 1e4 * rows * len(basis))

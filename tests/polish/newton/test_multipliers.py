"""The loss smoothed around a dual point: the method of multipliers."""

import numpy as np
import pytest
from polish.spans import KINDS, PLENTY, basis_of, several_outputs, smoothed

from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.smooth_problem import SmoothProblem, newton_step
from budgetsvm._polish.span_problem import SpanProblem

WITH_KINKS = [name for name, loss in KINDS.items() if loss.has_kinks]


def problem_of(name: str) -> SpanProblem:
    outputs = several_outputs(name)
    matrix = KernelMatrix(outputs.rows, basis_of(outputs, constant=False), 1, PLENTY)
    return SpanProblem(matrix, outputs.targets.of_output(0))


def some_alpha(span: SpanProblem) -> np.ndarray:
    """Dual variables inside their boxes, and at both ends."""
    low, high = span.targets.loss.slopes
    shares = np.random.default_rng(3).uniform(1.4 * low - 0.2, 1.2 * high, len(span.targets))
    return span.targets.box * np.clip(shares, low, high)


@pytest.mark.parametrize("name", WITH_KINKS)
@pytest.mark.parametrize("width", [4.0, 0.5, 0.02])
def test_rows_at_their_kink_have_the_dual_point_itself(name: str, width: float) -> None:
    span = problem_of(name)
    alpha, targets = some_alpha(span), span.targets
    kink = max(targets.loss.kinks)
    side = np.where(alpha < 0, -1.0, 1.0)
    f = targets.y * (targets.target - side * kink)  # the slack is that of the kink on the side of α
    problem = smoothed(span, width)
    problem.smooth_around(alpha, f)
    if name == "hinge" or width < kink:  # otherwise the two kinks of regression overlap
        np.testing.assert_allclose(problem.alpha(f), alpha, atol=1e-9)


@pytest.mark.parametrize("name", WITH_KINKS)
@pytest.mark.parametrize("width", [2.0, 0.5, 0.02])
def test_the_gap_is_the_residual_and_the_excess(name: str, width: float) -> None:
    """P(w) − D(α) = ½‖w − w(α)‖² + excess, around whatever dual point."""
    span = problem_of(name)
    w = 0.3 * np.random.default_rng(2).standard_normal(span.matrix.basis.dimension)
    f, problem = span.values(w), smoothed(span, width)
    problem.smooth_around(some_alpha(span), f)
    alpha = problem.alpha(f)
    point = span.point(alpha)
    gap = span.objective(w, f) - (span.targets.gain(alpha) - 0.5 * point @ point)
    assert gap == pytest.approx(0.5 * (w - point) @ (w - point) + problem.excess(f), rel=1e-9)


def test_offsets_follow_the_width_and_the_rows() -> None:
    span = problem_of("hinge")
    f, alpha = np.zeros(len(span.targets)), some_alpha(span)
    problem = smoothed(span, 0.5)
    problem.smooth_around(alpha, f)
    chosen = np.arange(7, 90)
    nothing = np.zeros(span.matrix.basis.dimension)
    for width in (0.5, 0.1, 0.5):
        problem.width = width
        expected = np.clip(alpha / span.targets.box + 1 / (2 * width), 0, 1)  # the slack is 1
        np.testing.assert_allclose(problem.alpha(f), span.targets.box * expected)
        some = span.matrix.some(chosen), span.targets.some(chosen)
        assert problem.offsets is not None
        part = SmoothProblem(*some, width, nothing, problem.offsets[chosen])
        np.testing.assert_allclose(part.alpha(f[chosen]), problem.alpha(f)[chosen])


@pytest.mark.parametrize("name", WITH_KINKS)
def test_the_gap_vanishes_at_a_width_that_does_not(name: str) -> None:
    """Smoothed around kinks the excess stays; around ever better dual points it goes."""
    span, width = problem_of(name), 0.05
    solver = HessianSolver(span.matrix.basis)
    solver.precision = 1e-6
    problem, gaps = smoothed(span, width), []
    w = np.zeros(span.matrix.basis.dimension)
    f = span.values(w)
    for round_ in range(30):
        for _ in range(8):
            step = newton_step(problem, w, f, problem.gradient(w, f), solver)
            w, f = step.w, step.f
        alpha = problem.alpha(f)
        span.offer_primal(w, f)
        span.offer_dual(alpha, span.point(alpha))
        gaps.append(span.gap)
        if round_ >= 2:  # until then the solution of the smoothed problem
            problem.smooth_around(alpha, f)
    assert gaps[2] > 1e-4
    assert gaps[-1] < 1e-2 * gaps[2]

"""The smoothed loss: its derivatives, its excess, and Newton's steps."""

import numpy as np
import pytest
from polish.spans import KINDS, PLENTY, basis_of, several_outputs, smoothed, span_problem

from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.smooth_problem import (
    SmoothProblem,
    go_along,
    newton_direction,
    newton_step,
)
from budgetsvm._polish.span_problem import SpanProblem


@pytest.mark.parametrize("width", [4.0, 0.5, 0.02])
def test_the_dual_point_is_the_derivative_of_the_smooth_loss(width: float) -> None:
    """d loss / d f_i = −y_i α_i, and 0 ≤ α_i ≤ C_i."""
    problem = smoothed(span_problem(), width)
    f = 1.5 * np.random.default_rng(0).standard_normal(400)
    alpha = problem.alpha(f)
    assert (alpha >= 0).all()
    assert (alpha <= problem.targets.box).all()
    w, h = np.zeros(problem.matrix.basis.dimension), 1e-6
    for i in range(0, 400, 7):
        step = np.zeros(400)
        step[i] = h
        up, down = problem.objective(w, f + step), problem.objective(w, f - step)
        assert (up - down) / (2 * h) == pytest.approx(-problem.targets.y[i] * alpha[i], abs=1e-3)


def test_the_gradient_of_a_part_with_the_rest_fixed() -> None:
    span = span_problem()
    w = np.random.default_rng(1).standard_normal(span.matrix.basis.dimension)
    f = span.values(w)
    whole, chosen = smoothed(span, 0.5), np.arange(50, 170)
    rest = whole.alpha(f)
    rest[chosen] = 0
    fixed = span.point(rest)
    some = span.matrix.some(chosen)
    part = SmoothProblem(some, span.targets.some(chosen), 0.5, fixed)
    gradient = part.gradient(w, f[chosen])
    np.testing.assert_allclose(gradient, whole.gradient(w, f), atol=1e-9)
    h = 1e-6
    for k in range(0, len(w), 5):
        step = np.zeros(len(w))
        step[k] = h
        up, down = (part.objective(v, some.times(v)) for v in (w + step, w - step))
        assert (up - down) / (2 * h) == pytest.approx(gradient[k], abs=1e-3)


@pytest.mark.parametrize("width", [4.0, 0.5, 0.02])
def test_the_smooth_loss_is_close_to_the_hinge(width: float) -> None:
    problem = span_problem()
    w = np.random.default_rng(1).standard_normal(problem.matrix.basis.dimension)
    f = problem.values(w)
    excess = smoothed(problem, width).objective(w, f) - problem.objective(w, f)
    assert 0 <= excess <= problem.targets.box.sum() * width / 4


@pytest.mark.parametrize("width", [4.0, 0.5, 0.1])
def test_the_gap_is_the_residual_and_the_excess(width: float) -> None:
    """P(w) − D(α) = ½‖w − w(α)‖² + Σ C |t| (ε − |t|) / 2ε, anywhere."""
    span = span_problem()
    w = 0.3 * np.random.default_rng(2).standard_normal(span.matrix.basis.dimension)
    f, problem = span.values(w), smoothed(span, width)
    alpha = problem.alpha(f)
    point = span.point(alpha)
    gap = span.objective(w, f) - (alpha.sum() - 0.5 * point @ point)
    assert gap == pytest.approx(0.5 * (w - point) @ (w - point) + problem.excess(f), rel=1e-9)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("width", [4.0, 0.25, 1 / 64])
def test_newton_steps_decrease_the_smooth_objective(width: float, C: float) -> None:
    span = span_problem(C)
    problem, solver = smoothed(span, width), HessianSolver(span.matrix.basis)
    w = np.random.default_rng(2).standard_normal(span.matrix.basis.dimension)
    f = span.values(w)
    last = problem.objective(w, f)
    for _ in range(40):
        step = newton_step(problem, w, f, problem.gradient(w, f), solver)
        w, f = step.w, step.f
        np.testing.assert_allclose(f, span.values(w), rtol=0, atol=1e-6 * (1 + abs(f).max()))
        value = problem.objective(w, f)
        assert value <= last * (1 + 1e-9)
        last = value
    if width >= 0.25 and C <= 1:  # it has converged
        assert step.decrease < 1e-6 * last


def test_what_rows_weigh_follows_the_values_and_the_width() -> None:
    problem = smoothed(span_problem(), 0.5)
    f = np.random.default_rng(5).standard_normal(400)
    for width in (0.5, 0.25, 1.0, 0.5):
        problem.width = width
        slack = problem.targets.slack(f)
        np.testing.assert_array_equal(problem.inside(f).rows, np.flatnonzero(abs(slack) < width))
    assert len(problem.inside(f + 9).rows) < len(problem.inside(f).rows)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("width", [4.0, 0.5, 0.05])
def test_the_dual_point_after_a_step_is_feasible_and_certifies(name: str, width: float) -> None:
    """D(α) ≤ min P for any w; and where no α ends at a bound, w(α) = w + step."""
    outputs, loss = several_outputs(name), KINDS[name]
    matrix = KernelMatrix(outputs.rows, basis_of(outputs, constant=False), 1, PLENTY)
    span = SpanProblem(matrix, outputs.targets.of_output(0))
    problem, solver = smoothed(span, width), HessianSolver(span.matrix.basis)
    solver.precision = 1e-9
    w = np.zeros(span.matrix.basis.dimension)
    f, free = span.values(w), 0
    for _ in range(12):
        alpha = problem.alpha(f)
        gradient = problem.gradient(w, f)
        step, _ = newton_direction(problem, f, gradient, solver)
        after = problem.alpha_after(alpha, f, step)
        rows, weights = problem.inside(f)
        own = weights[rows] * problem.scale * span.targets.y[rows] * span.matrix.times(step)[rows]
        if np.allclose(after[rows], alpha[rows] - own, rtol=1e-6, atol=1e-9):
            np.testing.assert_allclose(span.point(after), w + step, atol=1e-5)
            free += 1
        np.testing.assert_array_equal(np.delete(after, rows), np.delete(alpha, rows))
        span.offer_dual(after, span.point(after))
        taken = go_along(problem, w, f, (step, 0.0))
        w, f = taken.w, taken.f
        span.offer_primal(w, f)
    assert free > 0
    assert np.isfinite(span.gap)  # an infinite one says that D exceeds P
    if width == 0.05 or not loss.has_kinks:
        assert span.gap < 0.05

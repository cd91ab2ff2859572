"""Newton's method on samples, on all rows and on parts of them."""

import numpy as np
import pytest
from polish.spans import LITTLE, PLENTY, smoothed, span_problem

from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.method import NewtonMethod, newton_on_samples


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_newtons_method_reaches_the_tolerance_by_itself(
    tol: float, C: float, memory: float
) -> None:
    """On samples, on all rows and on parts of them; its values belong to its point."""
    problem = span_problem(C, n=3000, memory=memory)
    gaps: list[float] = []

    def finished() -> bool:
        gaps.append(problem.gap)
        return problem.gap <= tol

    solver = HessianSolver(problem.matrix.basis)
    w, width = newton_on_samples(problem, solver, np.random.default_rng(0), finished, tol)
    assert w.any() == (memory == PLENTY) or problem.matrix.most_some >= 300
    newton = NewtonMethod(problem, solver, tol, w, problem.values(w), width)
    newton.run(finished)
    assert problem.gap <= tol
    assert (np.diff(gaps) <= 0).all()
    np.testing.assert_allclose(newton.f, problem.values(newton.w), rtol=0, atol=1e-6)
    best = problem.objective(problem.w, problem.values(problem.w))
    assert best == pytest.approx(problem.primal, rel=1e-9)


def test_a_part_that_leads_astray_does_no_harm() -> None:
    """Far from the solution, with rows that do not matter: all rows decide how far to go."""
    span = span_problem(100.0, n=1000)
    solver = HessianSolver(span.matrix.basis)
    w = np.random.default_rng(5).standard_normal(span.matrix.basis.dimension)
    newton = NewtonMethod(span, solver, 1e-2, w, span.values(w), 0.1)
    before = smoothed(span, 0.1)
    alpha = before.alpha(newton.f)
    start = before.objective(w, newton.f)
    newton._steps_on_part(np.arange(20), alpha, span.point(alpha), lambda: False)
    after = smoothed(span, newton.width)
    assert newton.caution > 2
    assert after.objective(newton.w, newton.f) <= start
    np.testing.assert_allclose(newton.f, span.values(newton.w), rtol=0, atol=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_ascent_goes_on_from_newtons_method(C: float) -> None:
    problem = span_problem(C)
    solver = HessianSolver(problem.matrix.basis)
    w = np.zeros(problem.matrix.basis.dimension)
    newton = NewtonMethod(problem, solver, 0.1, w, problem.values(w), 4.0)
    newton.run(lambda: problem.gap <= 0.1)
    rng = np.random.default_rng(0)
    ascent = WorkingSetAscent(problem, problem.matrix, newton.alpha(), newton.f, rng)
    for _ in range(30):
        ascent.round()
    assert problem.gap < 0.02

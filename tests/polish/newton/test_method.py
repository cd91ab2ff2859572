"""Newton's method on samples, on all rows and on parts of them."""

import numpy as np
import pytest
from polish.spans import LITTLE, PLENTY, smoothed, span_problem

from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.newton.approach import Approach
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.method import NewtonMethod


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
    near = Approach(problem, solver, np.random.default_rng(0), finished, tol).from_nothing()
    assert near.w.any() == (memory == PLENTY) or problem.matrix.most_some >= 300
    newton = NewtonMethod(problem, solver, tol, *near)
    newton.run(finished)
    assert problem.gap <= tol
    assert (np.diff(gaps) <= 0).all()
    np.testing.assert_allclose(newton.f, problem.values(newton.w), rtol=0, atol=1e-6)
    best = problem.objective(problem.w, problem.values(problem.w))
    assert best == pytest.approx(problem.primal, rel=1e-9)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0, 1e9])
def test_newtons_method_reaches_the_tolerance_from_any_guess(
    size: float, C: float, memory: float
) -> None:
    """A good direction or none at all, of any size: the certificate does not hang on it."""
    problem, tol = span_problem(C, n=3000, memory=memory), 1e-2
    guess = size * np.random.default_rng(1).standard_normal(problem.matrix.basis.dimension)

    def finished() -> bool:
        return problem.gap <= tol

    solver, rng = HessianSolver(problem.matrix.basis), np.random.default_rng(0)
    near = Approach(problem, solver, rng, finished, tol).from_guess(guess)
    size = max(1.0, abs(near.f).max())
    np.testing.assert_allclose(near.f, problem.values(near.w), rtol=0, atol=1e-6 * size)
    NewtonMethod(problem, solver, tol, *near).run(finished)
    assert problem.gap <= tol


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("rows", [400, 3000])
def test_a_guess_is_taken_at_its_best_size(rows: int, size: float) -> None:
    """Up to a largest multiple; without a sample nothing else happens to it."""
    problem = span_problem(1.0, n=rows)
    solver, never = HessianSolver(problem.matrix.basis), lambda: False
    reference = NewtonMethod(problem, solver, 1e-3, problem.w, problem.f, 4.0)
    reference.run(lambda: problem.gap <= 1e-3)
    guess, start = size * problem.w, problem.objective(0 * problem.w, 0 * problem.f)
    rng = np.random.default_rng(0)
    w, f, _ = Approach(problem, solver, rng, never, 1e-2).from_guess(guess)
    found = problem.objective(w, f)
    assert found <= start
    if size >= 1:
        assert found <= 1.5 * problem.primal


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

"""How far to go along a line."""

import numpy as np
import pytest
from polish.spans import smoothed, span_problem

from budgetsvm._common.matrices import vectors
from budgetsvm._polish.lines.line import Line, exact_length, rough_length
from budgetsvm._polish.lines.shift import best_shift


@pytest.mark.parametrize("stretch", [0.1, 1.0, 30.0, 1e6])
def test_the_step_length_is_the_best(stretch: float) -> None:
    span = span_problem()
    problem, rng = smoothed(span, 0.3), np.random.default_rng(4)
    w = rng.standard_normal(span.matrix.basis.dimension)
    f = span.values(w)
    step = -stretch * 1e-3 * problem.gradient(w, f)
    change = span.values(step)
    length = problem.step_length(w, f, (step, change))
    best = min(
        problem.objective(w + s * step, f + s * change)
        for s in np.append(np.linspace(0, 1, 1001), np.geomspace(1e-9, 1, 1001))
    )
    start, found = (problem.objective(w + s * step, f + s * change) for s in (0, length))
    assert start - found > 0.99 * (start - best)


@pytest.mark.parametrize("width", [0.0, 0.3])
@pytest.mark.parametrize("stretch", [-1.0, 0.01, 1.0, 30.0, 1e6])
def test_both_searches_find_the_minimum(stretch: float, width: float) -> None:
    """Exactly, or nearly and not beyond it; no step where the objective rises, all where it falls."""
    span = span_problem()
    problem, rng = smoothed(span, 0.3), np.random.default_rng(4)
    w = rng.standard_normal(span.matrix.basis.dimension)
    f = span.values(w)
    step = -stretch * 1e-2 * problem.gradient(w, f)
    change = span.values(step)
    quadratic = float(w @ step), float(step @ step)
    exact, rough = (
        search(Line(span.targets, width, f, change, quadratic))
        for search in (exact_length, rough_length)
    )

    def derivative(length: float) -> float:
        alpha = span.targets.alpha(span.targets.slack(f + length * change), width)
        return float((w + length * step) @ step - alpha @ (span.targets.y * change))

    assert (exact == 0) == (derivative(0) >= 0)
    assert (exact == rough == 1) == (derivative(1) <= 0)
    if 0 < exact < 1:
        assert derivative(exact - 1e-8) <= 0 <= derivative(exact + 1e-8)
        assert derivative(rough) <= 0
        assert 0.9 * exact <= rough <= exact + 1e-8


@pytest.mark.parametrize("piece", [1, 7, 100])
@pytest.mark.parametrize("width", [0.0, 0.3])
def test_pieces_of_the_rows_change_nothing(
    monkeypatch: pytest.MonkeyPatch, width: float, piece: int
) -> None:
    span, rng = span_problem(), np.random.default_rng(5)
    targets = span.targets
    f, change = rng.standard_normal((2, len(targets)))

    def found() -> list[float]:
        line = Line(targets, width, f, change, (-3.0, 50.0))
        ways = exact_length(line), rough_length(line), best_shift(targets, width, f)
        alpha, near = targets.alpha_of(f, width), targets.near_kinks(f, 0.4)
        return [*ways, targets.cost_of(f), *alpha, *near]

    whole = found()
    np.testing.assert_allclose(whole[3], targets.cost(targets.slack(f)))
    monkeypatch.setattr(vectors, "PIECE", piece)
    np.testing.assert_allclose(found(), whole, rtol=1e-9)

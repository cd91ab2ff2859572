"""The best points so far, and the certificate between them."""

import numpy as np
import pytest
from polish.spans import span_problem

from budgetsvm._polish.lines.shift import best_shift
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.losses import EpsilonInsensitive, Hinge, Loss


def test_offers_never_make_it_worse() -> None:
    problem = span_problem()
    rng = np.random.default_rng(3)
    for _ in range(20):
        before = problem.primal, problem.dual
        w = rng.standard_normal(problem.matrix.basis.dimension)
        problem.offer_primal(w, problem.values(w))
        alpha = problem.targets.box * rng.random(400)
        problem.offer_dual(alpha, problem.point(alpha))
        assert problem.primal <= before[0]
        assert problem.dual >= before[1]
        kept = problem.objective(problem.w, problem.values(problem.w))
        assert kept == pytest.approx(problem.primal, rel=1e-9)
        point = problem.point(problem.alpha)
        np.testing.assert_allclose(problem.point_of_alpha, point, atol=1e-9 * abs(point).max())
        kept = problem.alpha.sum() - 0.5 * point @ point
        assert kept == pytest.approx(problem.dual, rel=1e-9)
        assert (problem.alpha >= 0).all()
        assert (problem.alpha <= problem.targets.box).all()
    problem.offer_primal(problem.w, problem.f)  # a step of length zero
    problem.offer_dual(problem.alpha, problem.point_of_alpha)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_kept_is_the_best_between(seed: int) -> None:
    problem = span_problem()
    rng = np.random.default_rng(seed)
    shares = np.linspace(0, 1, 2001)
    for scale in (0.1, 1.0, 10.0):
        w0, f0, a0, p0 = problem.w, problem.f, problem.alpha, problem.point_of_alpha
        w = scale * rng.standard_normal(problem.matrix.basis.dimension)
        f = problem.values(w)
        alpha = problem.targets.box * rng.random(400)
        point = problem.point(alpha)
        problem.offer_primal(w, f)
        problem.offer_dual(alpha, point)
        P = [problem.objective(w0 + s * (w - w0), f0 + s * (f - f0)) for s in shares]
        points = [p0 + s * (point - p0) for s in shares]
        D = [
            (a0 + s * (alpha - a0)).sum() - 0.5 * p @ p for s, p in zip(shares, points, strict=True)
        ]
        assert problem.primal <= min(P) + 1e-9
        assert problem.dual >= max(D) - 1e-9


LOSSES: list[Loss] = [Hinge(), EpsilonInsensitive(0.0), EpsilonInsensitive(0.3)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_no_constant_is_better_than_the_best_shift(loss: Loss, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, box = 21 + seed % 2, rng.choice([1.0, 2.0, 0.5], 21 + seed % 2)
    f = rng.standard_normal(n)
    if loss.of_regression:
        targets = SingleTarget(box, loss, np.ones(n), rng.standard_normal(n).round(1))
    else:
        targets = SingleTarget.of_labels(rng.choice([-1.0, 1.0], n), box, loss)

    def cost(shift: float) -> float:
        return targets.cost(targets.slack(f + shift))

    best = best_shift(targets, 0.0, f)
    assert cost(best) <= min(map(cost, np.linspace(-6, 6, 4001))) + 1e-12


def test_of_equal_constants_the_middle() -> None:
    """Targets 0 and 1: any constant between costs the same; and two classes with no value yet."""
    y = np.repeat([0.0, 1.0], 10)
    of_values = SingleTarget(np.ones(20), EpsilonInsensitive(0.1), np.ones(20), y)
    assert best_shift(of_values, 0.0, np.zeros(20)) == pytest.approx(0.5)
    of_labels = SingleTarget.of_labels(2 * y - 1, np.ones(20), Hinge())
    assert best_shift(of_labels, 0.0, np.zeros(20)) == pytest.approx(0.0)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e7])
@pytest.mark.parametrize("offset", [0.0, 0.3, -40.0, 1e5])
def test_the_best_shift_is_found_near_and_far(size: float, offset: float) -> None:
    """Whatever the scale of the values: places are looked at in a window that grows."""
    rng = np.random.default_rng(3)
    y, box = rng.choice([-1.0, 1.0], 501), rng.uniform(0.1, 2, 501)
    f = size * rng.standard_normal(501).round(2) + offset
    targets = SingleTarget.of_labels(y, box, Hinge())
    costs = [targets.cost(targets.slack(f + shift)) for shift in y - f]  # it is at a kink
    best = targets.cost(targets.slack(f + best_shift(targets, 0.0, f)))
    assert best <= min(costs) * (1 + 1e-9)

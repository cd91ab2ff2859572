"""The best points so far, and the certificate between them."""

import numpy as np
import pytest
from polish.spans import span_problem


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

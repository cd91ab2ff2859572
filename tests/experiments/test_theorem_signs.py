"""Where the bounds of Theorem 1 are equalities, or are made to fail: a wrong sign or constant shows there.

On random states (test_bounds.py) a bound that is too loose by mistake goes unnoticed.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("experiments", reason="the experiments are not part of what is installed")

from experiments.theory.dual_progress import Gains
from experiments.theory.small_problems import SmallProblem, medium, narrow, rings
from experiments.theory.small_qp import solve
from experiments.theory.theorem.bounds import SUMS, VARIANTS, Bounds
from experiments.theory.theorem.counterexample import contradict
from experiments.theory.trajectory import Trajectory, follow
from experiments.theory.watching import Setup


def _changed(run: Trajectory, **values: Any) -> Trajectory:
    return Trajectory({**run.values, **values})


def test_a_visit_is_an_equality_for_points_far_apart_without_a_box() -> None:
    """κ = λ = 1, and all steps are inside: (2), (5) and (6) leave nothing."""
    problem = SmallProblem("far", np.array([[0.0], [10.0]]), np.array([1.0, -1.0]), 1e3, 1.0)
    optimum = solve(problem.Q, problem.C)
    run = follow(problem, optimum, Setup(1, "paper", 8, seed=0))
    bounds = Bounds(problem, optimum.value)
    assert run["departure"].max() > 0
    np.testing.assert_allclose(run["departure"], run["distance"], atol=1e-9)
    after, n = run["gap"] - run["gain"], len(problem)
    promised = (1 - 1 / n) * run["gap"] + run["departure"] / (2 * n)
    np.testing.assert_allclose(after, promised, atol=1e-9)
    finite = np.isfinite(run["mean"]) & (run["gap"] > 1e-9)
    factors = bounds.factors(run, "mended")[finite]
    np.testing.assert_allclose(after[finite], factors * run["gap"][finite], atol=1e-9)
    for name in SUMS:
        assert not bounds.step_fails(run, name).any()
        less = run["gain"] - 1e-6 * np.maximum(1, run["departure"])
        assert bounds.step_fails(_changed(run, gain=less), name).all()


def test_a_bound_that_is_exceeded_is_noticed() -> None:
    problem = narrow(25)
    optimum = solve(problem.Q, problem.C)
    run = follow(problem, optimum, Setup(None, epochs=2))
    bounds = Bounds(problem, optimum.value)
    for name in (*VARIANTS, *SUMS):
        assert not bounds.broken([run], name).any(), name
        assert bounds.broken([_changed(run, gap=1e6 * (1 + run["gap"]))], name).all(), name


@pytest.mark.parametrize("seed", range(20))
def test_the_mean_error_lies_between_its_bounds(seed: int) -> None:
    """0 ≤ Ē ≤ E with the minimum, Ē ≤ S / 2 Σ J(w) ≤ S / 2κΔD, and r > 0."""
    rng, problem = np.random.default_rng(seed), rings(25)
    alpha = np.clip(rng.uniform(-0.5, 1.5, 25), 0, 1) * problem.C
    margin = problem.Q @ alpha
    gains = Gains.of(problem, alpha, margin, margin + rng.normal(0, 0.3, 25))
    worst, mean = np.inf if gains.spoils else gains.worst_error(), gains.mean_error()
    assert 0 <= mean <= worst + 1e-12
    assert Gains.of(problem, alpha, margin, margin.copy()).mean_error() == 0
    kappa, largest = problem.spectrum
    assert kappa <= 1 <= largest
    departure, gain = gains.departure.sum(), gains.exact.sum()
    gap = solve(problem.Q, problem.C).value - problem.dual(alpha)
    assert mean <= departure / (2 * gain) + 1e-12
    assert gain >= kappa * gap
    assert 1 - kappa * (1 - min(mean, 1.0)) / 25 > 0


def test_the_excess_is_zero_where_the_bound_is_tight() -> None:
    problem = replace(narrow(25), C=1e9)
    alpha = np.full(25, 1e6)
    margin = problem.Q @ alpha / 1e6
    gains = Gains.of(problem, alpha, margin, margin + 0.1)
    assert gains.excess() == pytest.approx(0, abs=1e-6)  # steps have the rounding of α


def test_the_gap_of_the_model_is_its_own() -> None:
    problem = medium(25)
    optimum = solve(problem.Q, problem.C)
    run = follow(problem, optimum, Setup(None, epochs=40))
    assert run["primal_gap"][0] == pytest.approx(problem.C * 25 - optimum.value)
    assert (run["primal_gap"] >= -1e-9).all()
    assert run["primal_gap"][-1] < 0.01 * optimum.value


def test_the_drift_is_the_change_of_half_the_squared_distance() -> None:
    problem = medium(25)
    optimum = solve(problem.Q, problem.C)
    run = follow(problem, optimum, Setup(None, epochs=1))
    steps, one = np.full(25, min(1.0, problem.C)), np.eye(25)  # from α = 0
    half = [((steps[i] * one[i] - optimum.alpha) ** 2).sum() / 2 for i in range(25)]
    assert run["drift"][0] == pytest.approx(np.mean(half) - (optimum.alpha**2).sum() / 2)


def test_the_counterexample_is_as_printed() -> None:
    found = contradict(similarity=0.5, etas=[1.0, 0.5, 0.1], visits=400)
    assert [curve["first"] for curve in found["curves"]] == [None, 36, 73]
    assert all(curve["mended_holds"] for curve in found["curves"])
    assert found["curves"][1]["mended"][-1] < 1e-10
    assert found["first_gain"] == pytest.approx(1 / 2)
    assert found["first_promise"] == pytest.approx(2 / 3)

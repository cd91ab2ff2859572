"""The theory of the paper, and the tools that check it on problems with an exact answer."""

import json
from collections.abc import Callable
from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest
from scipy.optimize import minimize

pytest.importorskip("experiments", reason="the experiments are not part of what is installed")

from experiments.report.content import Section, Table
from experiments.running.jobs import Results
from experiments.scope import Scope
from experiments.theory import lemma_one, theorem_one
from experiments.theory.dual_progress import Gains, lemma_progress
from experiments.theory.small_problems import SmallProblem, medium, narrow, pair, rings
from experiments.theory.small_qp import duality_gap, solve
from experiments.theory.theorem.bounds import Bounds
from experiments.theory.theorem.counterexample import expected_gaps
from experiments.theory.trajectory import follow
from experiments.theory.watching import KernelValues, Setup, watch

from budgetsvm.monitoring import View

QUICK = Scope((), None, quick=True, seeds=2)


def _random_gains(seed: int) -> tuple[SmallProblem, np.ndarray, np.ndarray, np.ndarray]:
    """A problem, α with coordinates at both bounds, its margins, and wrong ones."""
    rng = np.random.default_rng(seed)
    problem = rings(30)
    alpha = np.clip(rng.uniform(-0.5, 1.5, 30), 0, 1) * problem.C
    margin = problem.Q @ alpha
    return problem, alpha, margin, margin + rng.normal(0, 0.3, 30)


@pytest.mark.parametrize("budget", [None, 8])
def test_lemma_1_is_exact_at_every_step(budget: int | None) -> None:
    problem = rings(30)
    alphas = [np.zeros(30)]

    def look(view: View) -> None:
        assert view.alpha is not None
        alphas.append(view.alpha)

    watch(problem, Setup(budget, epochs=3), look)
    assert len(alphas) == 1 + 90
    for before, after in pairwise(alphas):
        for i in np.flatnonzero(before != after):
            J = lemma_progress(1.0, 1 - problem.Q[i] @ before, after[i] - before[i])
            assert problem.dual(after) - problem.dual(before) == pytest.approx(J, abs=1e-12)


def test_both_forms_of_lemma_1_agree() -> None:
    problem, alpha, margin, wrong = _random_gains(0)
    gains = Gains.of(problem, alpha, margin, wrong)
    for i in range(len(alpha)):
        J = lemma_progress(1.0, 1 - margin[i], gains.budgeted_step[i])
        assert gains.budgeted[i] == pytest.approx(J, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_relative_error_against_its_definition(seed: int) -> None:
    problem, alpha, margin, wrong = _random_gains(seed)
    ratios = []
    for i in range(len(alpha)):
        best, model = (1 - margin[i]) / problem.Q[i, i], (1 - wrong[i]) / problem.Q[i, i]
        exact = min(max(alpha[i] + best, 0), problem.C) - alpha[i]
        budgeted = min(max(alpha[i] + model, 0), problem.C) - alpha[i]
        if exact != 0:
            J = [problem.Q[i, i] / 2 * (best**2 - (d - best) ** 2) for d in (budgeted, exact)]
            ratios.append(J[0] / J[1])
    gains = Gains.of(problem, alpha, margin, wrong)
    assert len(ratios) < len(alpha)  # some fulfil their KKT conditions
    assert gains.worst_error() == pytest.approx(1 - min(ratios))
    assert gains.printed_error() == pytest.approx(1 - max(ratios))
    assert 0 <= gains.printed_error() <= gains.worst_error()


def test_the_relative_error_vanishes_for_the_exact_model() -> None:
    problem, alpha, margin, _ = _random_gains(0)
    gains = Gains.of(problem, alpha, margin, margin)
    assert gains.worst_error() == gains.printed_error() == gains.mean_error() == 0
    assert not gains.spoils


def test_moving_an_optimal_coordinate_is_noticed() -> None:
    problem = pair()
    optimum = solve(problem.Q, problem.C).alpha
    margin = problem.Q @ optimum
    assert not Gains.of(problem, optimum, margin, margin).spoils
    assert Gains.of(problem, optimum, margin, margin + 0.1).spoils


@pytest.mark.parametrize("make", [narrow, medium, rings])
def test_the_optimum_agrees_with_another_solver(make: Callable[[int], SmallProblem]) -> None:
    problem = make(49)
    optimum = solve(problem.Q, problem.C)
    found = minimize(
        lambda alpha: (-problem.dual(alpha), problem.Q @ alpha - 1),
        np.zeros(len(problem)),
        jac=True,
        bounds=[(0, problem.C)] * len(problem),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    assert optimum.value == pytest.approx(-found.fun, rel=1e-9)
    assert -found.fun <= optimum.value * (1 + 1e-14)
    assert 0 <= optimum.gap <= 1e-13 * optimum.value
    assert (optimum.alpha >= 0).all()
    assert (optimum.alpha <= problem.C).all()


def test_the_duality_gap_is_that_of_primal_and_dual() -> None:
    problem, alpha, margin, _ = _random_gains(1)
    primal = alpha @ margin / 2 + problem.C * np.maximum(0, 1 - margin).sum()
    gap = duality_gap(problem.Q, alpha, problem.C)
    assert gap == pytest.approx(primal - problem.dual(alpha))


def test_kernel_values_are_kept_up_to_date() -> None:
    problem, rng = rings(20), np.random.default_rng(0)
    kernel, points = KernelValues(problem), rng.normal(size=(5, 2))
    for size in (3, 5, 5, 2, 4):
        points = points.copy()
        points[rng.integers(size)] = rng.normal(size=2)
        rows, terms = kernel.update(points[:size])
        np.testing.assert_array_equal(rows, problem.kernel(problem.X, points[:size]))
        np.testing.assert_allclose(terms, problem.kernel(points[:size], points[:size]), rtol=1e-15)


@pytest.mark.parametrize("budget", [None, 10])
def test_the_mended_step_holds_and_the_exact_progress_is_between_the_eigenvalues(
    budget: int | None,
) -> None:
    problem = narrow(49)
    optimum = solve(problem.Q, problem.C)
    run = follow(problem, optimum, Setup(budget, epochs=4))
    kappa, largest = problem.spectrum
    total, rounding = len(problem) * run["exact_gain"], 1e-10
    assert (total >= kappa * run["gap"] - rounding).all()
    assert (total <= largest * run["gap"] + rounding).all()
    bounds = Bounds(problem, optimum.value)
    assert not bounds.step_fails(run, "mended").any()
    assert not bounds.broken([run], "mended").any()
    if budget is None:  # Nesterov's theorem, as it is
        assert not bounds.nesterov_fails(run).any()
        assert run["worst"].max() < 1e-9
        assert run["distance"].max() < 1e-12


def test_the_expected_progress_is_that_of_all_visits() -> None:
    problem = medium(49)
    optimum = solve(problem.Q, problem.C)
    looks: list[View] = []
    watch(problem, Setup(10, epochs=1), looks.append, every=30)
    run = follow(problem, optimum, Setup(10, epochs=1))
    alpha, values = looks[0].alpha, looks[0].estimator().decision_function(problem.X)
    assert alpha is not None
    changes = []
    for i in range(len(problem)):
        after = alpha.copy()
        after[i] = np.clip(alpha[i] + 1 - problem.y[i] * values[i], 0, problem.C)
        changes.append(problem.dual(after) - problem.dual(alpha))
    assert run["gain"][30] == pytest.approx(np.mean(changes), abs=1e-10)


def test_two_points_contradict_the_single_step_and_the_theorem() -> None:
    problem = pair()  # k = ½: κ = ½, and both α* are 2
    optimum = solve(problem.Q, problem.C)
    np.testing.assert_allclose(optimum.alpha, 2)
    run = follow(problem, optimum, Setup(None, epochs=1))
    assert run["gain"][0] == pytest.approx(1 / 2)
    assert Bounds(problem, optimum.value).step_fails(run, "worst")[0]
    gaps = expected_gaps(problem.Q, -optimum.alpha, 0.5, 60)
    theorem = (2 + problem.C**2) * (1 - 2 / 3 * 0.75 / 2) ** np.arange(61)
    assert gaps[60] > 1.9 * theorem[60]
    # the recursion against all ways of four visits
    alphas = [np.zeros(2)]
    for _ in range(4):
        gradients = [(alpha, 1 - problem.Q @ alpha) for alpha in alphas]
        alphas = [a + 0.5 * g[i] * np.eye(2)[i] for a, g in gradients for i in range(2)]
    mean = np.mean([problem.dual(alpha) for alpha in alphas])
    assert optimum.value - mean == pytest.approx(gaps[4])


@pytest.fixture(scope="module", params=[lemma_one, theorem_one])
def finished(request: pytest.FixtureRequest) -> tuple[ModuleType, Results]:
    module = request.param
    results = {}
    for job in module.jobs(QUICK):
        assert json.loads(json.dumps(job.arguments)) == job.arguments
        assert job.cost > 0
        results[job.name] = json.loads(json.dumps(job.function(**job.arguments), allow_nan=False))
    return module, results


@pytest.mark.slow
def test_quick_sections_have_nothing_empty(finished: tuple[ModuleType, Results]) -> None:
    module, results = finished
    section: Section = module.section(QUICK, results)
    assert section.title
    assert all(section.paragraphs)
    assert section.claims
    for part in section.parts:
        assert part.name
        assert part.caption
        assert part.data.rows
        assert all(len(row) == len(part.data.columns) for row in part.data.rows)
        if isinstance(part, Table):
            assert all(len(row) == len(part.shown.columns) for row in part.shown.rows)
        else:
            assert all(axes.lines for axes in part.draw().axes if axes.get_title())
    for claim in section.claims:
        assert claim.seen
        assert claim.where.startswith("section ")


def test_full_jobs_have_names_of_their_own() -> None:
    full = Scope((), None, quick=False, seeds=5)
    names = [job.name for module in (lemma_one, theorem_one) for job in module.jobs(full)]
    assert len(names) == len(set(names))

"""The exact SVM of the experiments, and what the report says by means of it."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracles.problems import blobs, moons, noisy_xor
from scipy import sparse
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

pytest.importorskip("experiments", reason="the experiments are not part of what is installed")

from experiments.exact import dual
from experiments.exact.dual import GaussianRows, Solution, solve_dual
from experiments.exact.projected_newton import violations
from experiments.exact.solution import exact_job
from experiments.further import all_rows
from experiments.problems import MADE, load
from experiments.report.parts import make_ready
from experiments.scope import Scope
from experiments.tables import rates, search, table_one

from budgetsvm import BudgetSVC

QUICK = Scope((MADE,), None, quick=True, seeds=2)


def twice() -> tuple[Any, Any]:
    """Points that occur twice, some of them with both labels: Q is singular."""
    X, y = noisy_xor(60, 3, flips=0.1)
    return np.vstack([X, X]), np.concatenate([y, np.where(np.arange(60) < 10, -y, y)])


PROBLEMS = {
    "overlapping": (*blobs(120, 3, 0), 0.5),
    "moons": (*moons(100, 1), 2.0),
    "twice": (*twice(), 1.0),
    "wide kernel": (*blobs(100, 2, 4), 1e-3),
}


def matrix(X: Any, y: Any, gamma: float) -> Any:
    return y[:, np.newaxis] * rbf_kernel(X, gamma=gamma) * y


def best_dual(Q: Any, C: float) -> float:
    """The optimum by SciPy, in units of C so that its step sizes fit."""
    found = minimize(
        lambda a: (0.5 * C * a @ Q @ a - a.sum(), C * (Q @ a) - 1),
        np.full(len(Q), 0.5),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, 1)] * len(Q),
        options={"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50},
    )
    return float(-C * found.fun)


def check(solution: Solution, Q: Any, C: float) -> None:
    """The point is feasible, and the certificate is what it says."""
    alpha = solution.alpha
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    gradient = 1 - Q @ alpha
    scale = 1 + np.abs(Q) @ alpha
    np.testing.assert_allclose((solution.gradient - gradient) / scale, 0, atol=1e-12)
    value = alpha.sum() - 0.5 * alpha @ Q @ alpha
    assert solution.dual == pytest.approx(value, rel=1e-9)
    primal = 0.5 * alpha @ Q @ alpha + C * np.maximum(0, gradient).sum()
    assert solution.primal == pytest.approx(primal, rel=1e-9)
    assert solution.gap <= 1e-6 * solution.primal


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("C", [1e-3, 1.0, 32.0, 1e4])
def test_the_exact_solution_is_that_of_scipy(name: str, C: float) -> None:
    X, y, gamma = PROBLEMS[name]
    Q = matrix(X, y, gamma)
    solution = solve_dual(GaussianRows(X, gamma), y, C, np.zeros(len(y)), 1e-6)
    check(solution, Q, C)
    best = best_dual(Q, C)
    assert solution.primal >= best * (1 - 1e-9)  # P is never below D, whoever found it
    assert solution.dual >= best * (1 - 2e-6)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_solving_in_small_parts(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual, "_PART", 20)
    monkeypatch.setattr(dual, "_BLOCK", 7)
    X, y, gamma = PROBLEMS["moons"]
    rows = sparse.csr_array(X) if form == "sparse" else X
    solution = solve_dual(GaussianRows(rows, gamma), y, 2.0, np.zeros(len(y)), 1e-6)
    assert solution.parts > 3
    check(solution, matrix(X, y, gamma), 2.0)


def test_the_start_does_not_matter() -> None:
    X, y, gamma = PROBLEMS["overlapping"]
    svc = SVC(C=4.0, gamma=gamma).fit(X, y)
    start = np.zeros(len(y))
    start[svc.support_] = np.abs(svc.dual_coef_[0])
    rows = GaussianRows(X, gamma)
    a, b = (solve_dual(rows, y, 4.0, s, 1e-9) for s in (start, np.full(len(y), 9.0)))
    np.testing.assert_allclose(a.alpha, b.alpha, atol=1e-3)


def test_agreement_with_coordinate_ascent() -> None:
    X, y, gamma = PROBLEMS["moons"]
    rows = GaussianRows(X, gamma)
    solution = solve_dual(rows, y, 2.0, np.zeros(len(y)), 1e-9)
    options: dict[str, Any] = {"budget": None, "polish": False, "epochs": 1000}
    model = BudgetSVC(C=2.0, gamma=gamma, precision="double", random_state=0, **options).fit(X, y)
    f = rows.expand(rows, solution.alpha * y)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-4)


def test_the_violations_add_up_to_the_gap() -> None:
    X, y, gamma = PROBLEMS["overlapping"]
    Q, alpha = matrix(X, y, gamma), np.random.default_rng(0).uniform(0, 3, len(y))
    gradient = 1 - Q @ alpha
    shares = violations(alpha, gradient, 3.0)
    assert (shares >= 0).all()
    gap = alpha @ Q @ alpha - alpha.sum() + 3 * np.maximum(0, gradient).sum()
    assert shares.sum() == pytest.approx(gap)


def test_the_exact_job() -> None:
    job = exact_job(QUICK, MADE)
    result = job.function(**job.arguments)
    json.dumps(result, allow_nan=False)
    assert result["relative_gap"] <= 1e-6
    assert result["p_sgd"] == pytest.approx(
        (result["bounded"] + sum(_middles(result))) / result["rows"], abs=0.003
    )
    assert 80 < result["accuracy"] <= 100
    assert 80 < result["svc_accuracy"] <= 100


def _middles(result: Any) -> list[float]:
    """The free variables over C, from their histogram."""
    counts = result["alpha_counts"]
    return [count * (place + 0.5) / len(counts) for place, count in enumerate(counts)]


@cache
def run(experiment: Any) -> dict[str, Any]:
    """Do the quick jobs; results come from files of JSON."""
    done = {job.name: job.function(**job.arguments) for job in experiment.jobs(QUICK)}
    return {name: json.loads(json.dumps(found, allow_nan=False)) for name, found in done.items()}


@pytest.mark.parametrize("experiment", [rates, table_one, search])
def test_quick_sections_have_no_empty_parts(experiment: Any) -> None:
    names = [job.name for job in experiment.jobs(QUICK)]
    assert len(set(names)) == len(names)
    section = experiment.section(QUICK, run(experiment))
    ready = make_ready([section])[0]
    assert len(ready) == len(section.parts) >= 2
    assert all(text.strip() for text in section.paragraphs)


def test_the_rates_of_lemma_two() -> None:
    """Steps are at the rates predicted; margins below 1 are more frequent, by the points at C."""
    results = run(rates)
    exact = results[exact_job(QUICK, MADE, 500).name]
    late = {
        (solver, what): np.mean(results[f"rates/{MADE.name}-{solver}-0"][what][-50:])
        for solver in ("sca", "sgd")
        for what in ("steps", "violations")
    }
    assert late["sgd", "steps"] == late["sgd", "violations"]
    assert late["sgd", "steps"] == pytest.approx(exact["p_sgd"], abs=0.01)
    assert late["sca", "steps"] == pytest.approx(exact["p_sca"], abs=0.01)
    both = exact["p_bounded"] + exact["p_sca"]
    assert exact["p_bounded"] - 0.01 < late["sca", "violations"] < both + 0.01
    verdicts = [claim.verdict for claim in rates.section(QUICK, results).claims]
    assert verdicts[:2] == ["held", "held"]


def test_golden_section_and_table_agree() -> None:
    jobs = {job.name: job for job in table_one.jobs(QUICK)}
    for method in ("bsgd", "bsca"):
        job = jobs[f"table-one/{MADE.name}-{method}-golden"]
        found = job.function(**job.arguments)
        assert found["visits"] == 1000
        assert found["golden_merges"] == pytest.approx(found["table_merges"], rel=0.02)
        assert found["golden_accuracy"] == pytest.approx(found["table_accuracy"], abs=1)


def test_the_best_cells_of_a_grid() -> None:
    results = run(search)
    for row, kind in zip(
        search.section(QUICK, results).parts[-1].data.rows, ("svc", "budget"), strict=True
    ):
        gammas = (-1, 0, 1)
        columns = [results[f"search/{MADE.name}-{kind}-{gamma}"]["folds"] for gamma in gammas]
        means = np.mean(columns, axis=2).T  # a row per C
        i, j = np.unravel_index(np.argmax(means), means.shape)
        assert row[3:5] == ([2.0, 4.0, 8.0][i], 2.0 ** gammas[j])
        assert row[5:8] == pytest.approx(
            (means.max(), means[1, 1], 1 + (means > means[1, 1]).sum())
        )
        folds = np.array(columns)  # by gamma, C and fold
        differences = []
        for fold in range(5):  # the best cell by the others, compared on this one
            others = np.delete(folds, fold, axis=2).mean(axis=2).T
            C, gamma = np.unravel_index(np.argmax(others), others.shape)
            differences.append(folds[gamma, C, fold] - folds[1, 1, fold])
        assert row[8] == pytest.approx(np.mean(differences))
        assert row[9] == pytest.approx(np.std(differences, ddof=1) * np.sqrt(1 / 5 + 1 / 4))


def test_a_choice_stands_unless_it_is_worse_by_more_than_luck() -> None:
    def grid(lead: float) -> search.Grid:
        folds = np.full((3, 3, 5), 90.0) + np.array([0.2, -0.2, 0.1, -0.1, 0.0])
        folds[2, 2] += lead + np.array([0.1, -0.1, 0.1, -0.1, 0.0])
        return search.Grid(MADE, "machine", [1, 2, 3], [-1, 0, 1], 100, folds, np.ones((3, 3)))

    assert grid(0.05).stands()
    assert not grid(1.0).stands()
    assert grid(1.0).best == (2, 2)
    assert grid(1.0).choice == (1, 1)
    assert grid(1.0).rank == 2


def test_the_luckiest_of_many_cells_does_not_beat_the_choice() -> None:
    """All 25 cells are as good: the best mean is a matter of luck, and few choices are rejected for it."""
    rng = np.random.default_rng(0)
    grids = [
        search.Grid(
            *(MADE, "machine", [0, 1, 2, 3, 4], [-2, -1, 0, 1, 2], 100),
            rng.normal(90, 0.5, (5, 5, 5)),
            np.ones((5, 5)),
        )
        for _ in range(200)
    ]
    assert np.mean([grid.stands() for grid in grids]) > 0.9


def test_kernel_rows_that_gave_way_are_computed_anew() -> None:
    """Room for three of them: what is asked for is right all the same."""
    X = load(MADE.name, None, 60).X
    some, everything = all_rows.KernelRows(X, 0.5, 3 * 4 * 60), all_rows.KernelRows(X, 0.5)
    for i in np.random.default_rng(0).integers(6, size=100).tolist():
        np.testing.assert_array_equal(some[i], everything[i])


@pytest.mark.parametrize("solver", ["sca", "sgd"])
def test_solvers_that_keep_all_values_make_the_same_steps(solver: str) -> None:
    """With the visits of the software, the shares per epoch are the same."""
    problem = load(MADE.name, None, 300)
    own = {"C": MADE.C, "gamma": MADE.gamma, "epochs": 6, "seed": 0}
    run = all_rows.count_all(name=MADE.name, folder=None, solver=solver, **own)
    assert len(run["steps"]) == 6
    kernel = all_rows.KernelRows(problem.X, MADE.gamma)
    ours = all_rows._SOLVERS[solver](kernel, problem.y, MADE.C, 6, 0)
    model = BudgetSVC(
        MADE.C,
        gamma=MADE.gamma,
        budget=None,
        solver=rates.SOLVERS[solver],
        epochs=6,
        polish=False,
        fit_intercept=False,
        precision="double",
        random_state=0,
    ).fit(problem.X, problem.y)
    theirs = [record["steps"] / record["visits"] for record in model.history_]
    assert np.mean(ours["steps"]) == pytest.approx(np.mean(theirs), abs=0.05)

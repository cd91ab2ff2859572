"""Phase 2 for several outputs."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles import judge, reference
from polish.spans import (
    GAMMA,
    KINDS,
    LITTLE,
    PLENTY,
    basis_of,
    several_outputs,
    solve_in_span,
)
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._common.limits import Limits
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.orthonormal import OrthonormalMatrix
from budgetsvm._polish.outputs import solve_together
from budgetsvm._polish.result import Polished, Solving, Start
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import ManyTargets


def solve(
    problem: Problem, *, tol: float = 1e-4, memory: float = PLENTY, **options: Any
) -> Polished:
    limits = Limits(tol, 500, np.inf, memory, options.pop("n_threads", 1))
    return solve_in_span(problem, basis_of(problem), limits, **options)


def machine_of(problem: Problem, c: int, points: Any) -> tuple[judge.Machine, Any]:
    """The problem of one output in features of plain NumPy, and the Cholesky factor behind them."""
    kernel, targets = reference.Kernel("rbf", GAMMA), problem.targets.of_output(c)
    lower = np.linalg.cholesky(kernel(points, points))
    G = np.linalg.solve(lower, kernel(problem.rows.X, points).T).T
    G = np.column_stack([G, np.ones(len(G))])
    name, epsilon = targets.loss.core()
    return judge.Machine(name, G, targets.y, targets.target, targets.box, epsilon), lower


@pytest.mark.sampled(3)
@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("name", KINDS)
def test_every_output_is_solved(name: str, C: float, memory: float) -> None:
    """Each to the tolerance, as scipy sees it; the certificate is the sum of all."""
    problem, tol = several_outputs(name, C=C), 1e-3
    found = solve(problem, tol=tol, memory=memory)
    assert found.converged
    total = 0.0
    for c in range(problem.targets.count):
        machine, lower = machine_of(problem, c, found.points)
        w = np.append(lower.T @ found.coef[c], found.bias[c])
        best, upper = machine.optimum()
        primal = machine.primal(w)
        assert best * (1 - 1e-9) <= primal <= upper * (1 + tol) + 1e-9
        assert primal == pytest.approx(upper, rel=0.02)
        total += primal
    assert found.primal == pytest.approx(total, rel=1e-9)
    assert found.dual <= found.primal
    assert found.gap == pytest.approx((found.primal - found.dual) / found.primal)


@pytest.mark.parametrize("name", KINDS)
def test_together_as_each_alone(name: str) -> None:
    problem = several_outputs(name)
    together = solve(problem)
    for c in range(problem.targets.count):
        alone = solve(Problem(problem.rows, problem.targets.of_output(c)))
        machine, lower = machine_of(problem, c, together.points)
        w = np.append(lower.T @ together.coef[c], together.bias[c])
        assert alone.dual * (1 - 1e-9) <= machine.primal(w) <= alone.primal * (1 + 1e-4)
        np.testing.assert_allclose(together.bias[c], alone.bias[0], atol=0.05)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("name", ["hinge", "insensitive"])
def test_the_number_of_threads_does_not_change_a_bit(name: str, memory: float) -> None:
    problem = several_outputs(name)
    results = [solve(problem, memory=memory, tol=1e-2, n_threads=k) for k in (1, 2, 5)]
    for other in results[1:]:
        np.testing.assert_array_equal(other.coef, results[0].coef)
        np.testing.assert_array_equal(other.bias, results[0].bias)
        assert (other.primal, other.dual) == (results[0].primal, results[0].dual)


@pytest.mark.parametrize("name", ["hinge", "logistic", "insensitive"])
def test_a_start_at_the_solution_needs_little(name: str) -> None:
    problem = several_outputs(name, C=10.0)
    found = solve(problem)
    kept = basis_of(problem).kept
    coef = np.zeros((problem.targets.count, 25))
    coef[:, kept] = found.coef
    again = solve(problem, start=Start(coef, found.bias, None))
    assert again.primal <= found.primal * (1 + 1e-12)  # what it is given is never made worse
    assert again.passes <= found.passes + 1


def test_a_sample_comes_first_where_there_are_many_rows() -> None:
    """More rows than four per dimension, and a smaller working set at first."""
    problem = several_outputs("hinge", n=2000)
    found = solve(problem, tol=1e-3)
    assert found.converged
    machine, lower = machine_of(problem, 2, found.points)
    w = np.append(lower.T @ found.coef[2], found.bias[2])
    assert machine.primal(w) == pytest.approx(machine.optimum()[1], rel=5e-3)


def test_rows_are_forgotten() -> None:
    """For many outputs there is no room for a number of each row."""
    problem = several_outputs()
    matrix = OrthonormalMatrix(KernelMatrix(problem.rows, basis_of(problem), 1, PLENTY))
    how = Solving(Limits(0.01, 500, np.inf, PLENTY, 1), np.random.default_rng(0))
    kept = solve_together(matrix, problem.targets, how, lambda span, _: (span.gap, span.w))
    assert len(kept) == 4
    for gap, w in kept:
        assert gap <= 0.01
        assert w.shape == (matrix.basis.dimension,)


def test_it_stops_when_told_to() -> None:
    problem = several_outputs(C=1e4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        limits = Limits(1e-9, 6, np.inf, PLENTY, 1)
        found = solve_in_span(problem, basis_of(problem), limits)
    assert not found.converged
    assert found.passes <= 10
    assert 0 <= found.dual <= found.primal


def test_estimators_with_several_outputs() -> None:
    problem = several_outputs("insensitive")
    assert isinstance(problem.targets, ManyTargets)
    X, Y = problem.rows.X, problem.targets.values
    options: dict[str, Any] = {"basis": X[:25], "gamma": GAMMA, "tol": 1e-4, "random_state": 0}
    options |= {"budget": 25, "fit_intercept": True, "precision": "double"}
    model = BudgetSVR(**options).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    for c in range(3):
        alone = BudgetSVR(**options).fit(X, Y[:, c])
        np.testing.assert_allclose(model.predict(X)[:, c], alone.predict(X), atol=0.05)
    labels = several_outputs().targets.labels  # type: ignore[attr-defined]
    for loss in ("hinge", "squared_hinge", "logistic"):
        several = BudgetSVC(loss=loss, multi_class="ovr", **options).fit(X, labels)
        alone_c = BudgetSVC(loss=loss, **options).fit(X, labels == 2)
        f = several.decision_function(X)
        assert f.shape == (300, 4)
        np.testing.assert_allclose(f[:, 2], alone_c.decision_function(X), atol=0.05)
        if loss == "logistic":
            np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("multi_class", ["ovr", "weston-watkins"])
def test_warm_start_with_several_classes(multi_class: Any) -> None:
    problem = several_outputs()
    X, labels = problem.rows.X, problem.targets.labels  # type: ignore[attr-defined]
    model = BudgetSVC(
        budget=20, gamma=GAMMA, warm_start=True, random_state=0, multi_class=multi_class
    )
    first = model.fit(X, labels).support_vectors_.copy()
    model.set_params(C=2.0).fit(X, labels)
    np.testing.assert_allclose(np.sort(model.support_vectors_, axis=0), np.sort(first, axis=0))
    assert model.converged_
    fresh = BudgetSVC(model.C_, budget=20, gamma=GAMMA, basis=first, multi_class=multi_class)
    fresh.fit(X, labels)
    assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=0.02)

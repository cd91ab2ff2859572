"""Preconditioners of groups of terms, where most kernel values are zero; and what happens if they do not help."""

from typing import Any

import numpy as np
import pytest

from budgetsvm import kernels
from budgetsvm._model.pruning import OrderedTerms
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix import panel_groups
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.panel_store import PanelStore
from budgetsvm._polish.matrix.panels import PanelMatrix
from budgetsvm._polish.newton import hessian
from budgetsvm._polish.newton.groups import Groups
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.newton.samples import Sample
from budgetsvm._polish.newton.system import System
from budgetsvm._problem.rows import Rows

N, TERMS, GROUP = 1500, 400, 64


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel_groups, "_GROUP", GROUP)


def make(gamma: float, *, constant: bool = False, n_threads: int = 1) -> PanelMatrix:
    """Rows in clouds far from each other; gamma says how well terms of one of them see each other."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (N, 3)) + 4 * rng.integers(0, 3, (N, 3))
    basis = Basis.of(X[:TERMS].copy(), kernels.Gaussian(gamma), constant=constant)
    rows = Rows(X, np.float64, None)
    store = PanelStore(
        rows, OrderedTerms(basis.points, np.zeros(len(basis)), basis.kernel), 1e-6, 1e9
    )
    store.keep(n_threads)
    return PanelMatrix(store, basis, n_threads, lambda: KernelMatrix(rows, basis, 1, 1e9))


def hessian_of(matrix: PanelMatrix, c: Any) -> Any:
    """I + Σ c g gᵀ in orthonormal coordinates."""
    G = matrix.feature_rows(np.arange(N)).rows
    return np.eye(matrix.basis.dimension) + (G.T * c) @ G


def error(matrix: PanelMatrix, c: Any, s: Any, v: Any) -> float:
    """The error of s in the norm of the system, relative to the solution."""
    H = hessian_of(matrix, c)
    exact = np.linalg.solve(H, v)
    return float(np.sqrt((s - exact) @ H @ (s - exact) / (exact @ H @ exact)))


@pytest.mark.parametrize("constant", [False, True])
def test_blocks_are_those_of_the_matrix(constant: bool) -> None:
    matrix = make(3.0, constant=constant)
    weights, v = np.random.default_rng(1).random(N), np.ones(matrix.basis.dimension)
    weights[::3] = 0
    groups = Groups(matrix.basis, matrix.groups)
    half = Sample(0.5 * weights, 2.0, complete=False)
    for sample in (Sample(weights), half):  # the second time by what has changed
        ours = groups.factorise(matrix, sample, 4.0)(v)
        K = matrix.basis.gram + matrix.gram(np.arange(N), 4 * weights)
        for group in matrix.groups:
            theirs = np.linalg.solve(K[np.ix_(group, group)], v[group])
            np.testing.assert_allclose(ours[group], theirs, rtol=1e-6)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("gamma", [1.0, 10.0, 100.0])
def test_steps_are_precise_enough_and_no_matrix_is_factorised(
    gamma: float, constant: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = make(gamma, constant=constant)
    weights = np.random.default_rng(1).random(N)
    weights[200:900] = 0
    monkeypatch.setattr(hessian, "cholesky", None)  # it is not called
    solver, rng = HessianSolver(matrix.basis), np.random.default_rng(2)
    for scale in (0.1, 1.0, 10.0):
        # As in Newton's method: gradients are sums over rows.
        v = matrix.transposed_times(rng.standard_normal(N))
        s = solver.solve(matrix, weights, scale, v)
        assert error(matrix, scale * weights, s, v) < 0.5


def test_groups_that_do_not_help_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = make(1.0)
    weights, v = np.ones(N), np.random.default_rng(2).standard_normal(matrix.basis.dimension)
    tried: list[float] = []
    iterate = System.iterate

    def count(self: System, x: Any, precondition: Any, worth: float, precision: float) -> Any:
        tried.append(precision)
        if precision == hessian._OF_GROUPS:
            return np.zeros_like(x), 1.0, 5
        return iterate(self, x, precondition, worth, precision)

    monkeypatch.setattr(System, "iterate", count)
    solver = HessianSolver(matrix.basis)
    for _ in range(4):
        s = solver.solve(matrix, weights, 1.0, v)
        assert error(matrix, weights, s, v) < 0.4
    assert tried.count(hessian._OF_GROUPS) == hessian._MOST_FAILURES


def test_threads_change_no_bit() -> None:
    steps = []
    for n_threads in (1, 3):
        matrix = make(10.0, constant=True, n_threads=n_threads)
        v = matrix.transposed_times(np.ones(N))
        steps.append(HessianSolver(matrix.basis).solve(matrix, np.ones(N), 1.0, v))
    np.testing.assert_array_equal(*steps)

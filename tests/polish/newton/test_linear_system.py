"""Newton's linear systems, exactly for few rows and well for many."""

from typing import Any

import numpy as np
import pytest
from polish.spans import PLENTY
from sklearn.metrics.pairwise import rbf_kernel

from budgetsvm import kernels
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._problem.rows import Rows


def random_system(n: int, gamma: float = 0.7) -> tuple[KernelMatrix, Any, Any]:
    """A matrix of many rows, its features by plain NumPy, and boxes of very different size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    basis = Basis.of(X[:20].copy(), kernels.Gaussian(gamma))
    matrix = KernelMatrix(Rows(X, np.float64, None), basis, 1, PLENTY)
    K = rbf_kernel(X, basis.points, gamma)
    return matrix, K @ basis.inverse, 10.0 ** rng.uniform(-2, 2, n)


def energy_error(G: Any, c: Any, s: Any, v: Any) -> float:
    """The error of s in the norm of H = I + Σ c g gᵀ, relative to the solution of H s = v."""
    H = np.eye(G.shape[1]) + (G.T * c) @ G
    exact = np.linalg.solve(H, v)
    return float(np.sqrt((s - exact) @ H @ (s - exact) / (exact @ H @ exact)))


def only(chosen: Any, box: Any) -> Any:
    """The weights of the chosen rows; of others, zero."""
    weights = np.zeros_like(box)
    weights[chosen] = box[chosen]
    return weights


@pytest.mark.parametrize(("count", "precision"), [(0, 1e-6), (10, 1e-6), (60, 1e-6), (3000, 0.2)])
def test_systems_of_few_rows_are_solved_exactly_and_others_well(
    count: int, precision: float
) -> None:
    matrix, G, box = random_system(4000)
    rng = np.random.default_rng(1)
    solver = HessianSolver(matrix.basis)
    for _ in range(3):  # the second time there is a factor
        chosen = np.sort(rng.permutation(4000)[:count])
        v = rng.standard_normal(matrix.basis.dimension)
        s = solver.solve(matrix, only(chosen, box), 3.0, v)
        assert energy_error(G[chosen], 3 * box[chosen], s, v) < precision


def test_a_useless_factor_is_replaced() -> None:
    matrix, G, box = random_system(4000)
    v = np.random.default_rng(2).standard_normal(matrix.basis.dimension)
    solver = HessianSolver(matrix.basis)
    solver.solve(matrix, only(np.arange(30), box), 1e-9, v)
    s = solver.solve(matrix, box, 1e5, v)
    assert energy_error(G, 1e5 * box, s, v) < 0.2


def test_rows_that_come_and_go() -> None:
    """The sum is updated; also where the matrix is another, and where nearly all rows change."""
    matrix, G, box = random_system(200)
    other = matrix.some(np.arange(100, 200))
    rng = np.random.default_rng(3)
    solver, v = HessianSolver(matrix.basis), rng.standard_normal(matrix.basis.dimension)
    members = rng.permutation(200)
    for round_ in range(30):
        size = 30 + 3 * (round_ % 5)
        rng.shuffle(members[size - (20 if round_ % 7 == 6 else 2) :])
        chosen = np.sort(members[:size])
        s = solver.solve(matrix, only(chosen, box), 2.0, v)
        assert energy_error(G[chosen], 2 * box[chosen], s, v) < 1e-6
        if round_ % 5 == 4:
            some = np.arange(0, 100, 3)
            s = solver.solve(other, only(some, box[100:]), 2.0, v)
            assert energy_error(G[100 + some], 2 * box[100 + some], s, v) < 1e-6

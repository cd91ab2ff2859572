"""Reduction by projection: the least squares solution, whatever the kernel and the terms."""

from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import KERNELS
from tools.core.arguments import core_problem, core_rows, store
from tools.core.reductions import GAUSSIAN, PLAIN, random_terms, reduce, state

from budgetsvm import _core, kernels
from budgetsvm._model.term_store import TermStore
from budgetsvm.maintenance import Project


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_projection_is_the_least_squares_solution(kernel: str) -> None:
    ours, gram = KERNELS[kernel]
    rng = np.random.default_rng(12)
    for size in (2, 5, 20):
        points, coef = random_terms(rng, size, 12, 0.7)
        terms = store(points, coef, ours)
        degradation = reduce(terms, ours, Project())
        a = int(np.argmin(abs(coef)))
        rest = np.delete(np.arange(size), a)
        K = gram(points, points)
        # ‖φ_a − Σ x_j φ_j‖² = ‖L⁻¹ k_a − Lᵀ x‖² + const. with K = L Lᵀ
        L = np.linalg.cholesky(K[np.ix_(rest, rest)])
        x, *_ = np.linalg.lstsq(L.T, np.linalg.solve(L, K[rest, a]), rcond=None)
        expected = coef[rest] + coef[a] * x
        after = dict(zip(map(tuple, terms.points()), terms.coef[: terms.size], strict=True))
        np.testing.assert_allclose([after[tuple(points[j])] for j in rest], expected, rtol=1e-6)
        residual = K[a, a] - K[rest, a] @ x
        assert degradation == pytest.approx(coef[a] ** 2 * residual, rel=1e-6)


RANK_DEFICIENT = {
    "linear": (kernels.Linear(), reference.Kernel("linear"), 3),
    "poly": (kernels.Polynomial(2, 1.0, 1.0), reference.Kernel("poly", 1.0, 1.0, 2), 2),
    "duplicates": (GAUSSIAN, PLAIN, 3),
    "smooth": (kernels.Gaussian(1e-3), reference.Kernel("rbf", 1e-3), 2),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", RANK_DEFICIENT)
def test_projection_with_dependent_terms(case: str, dtype: Any) -> None:
    """More terms than dimensions in feature space: nothing is lost, and nothing explodes."""
    ours, plain, d = RANK_DEFICIENT[case]
    rng = np.random.default_rng(13)
    points, coef = random_terms(rng, 30, d)
    if case == "duplicates":
        points = points[np.arange(30) % 5]
    terms = store(points, coef, ours, dtype)
    start = state(terms)
    probes = rng.standard_normal((20, d))
    f = plain(probes, start[1]) @ start[0]
    while terms.size > 20:
        assert 0 <= reduce(terms, ours, Project()) <= 1e-5
    coef_after, points_after = state(terms)
    # Coefficients stay bounded by the ridge; the function does not change.
    assert abs(coef_after).max() < 1e4 * abs(coef).max()
    tolerance = 2e-2 if dtype == np.float32 else 1e-4
    np.testing.assert_allclose(
        plain(probes, points_after) @ coef_after, f, rtol=0, atol=tolerance * abs(f).max()
    )


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
def test_projection_stays_accurate_over_many_reductions(kernel: str) -> None:
    """Inserting and reducing hundreds of times in one call: its Cholesky factor is only updated."""
    ours, gram = KERNELS[kernel]
    plain = reference.Kernel(
        ours.name,
        float(getattr(ours, "gamma", 1.0)),
        float(getattr(ours, "coef0", 0.0)),
        int(getattr(ours, "degree", 1)),
    )
    rng = np.random.default_rng(14)
    n, d, budget = 600, 8, 12
    X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
    X[100:110] = X[:10]  # duplicates
    C = rng.uniform(1, 2, n)
    order = np.concatenate([rng.permutation(n), rng.permutation(n)[:200]])
    diagonal = gram(X, X).diagonal()[order].copy()
    terms = TermStore(budget + 1, d, np.float64)
    alpha, slots = np.zeros(n), np.zeros(0, np.int32)
    problem = core_problem(order, diagonal, y, C, alpha, slots)
    terms.size, steps, _, _, merges, *_ = _core.bsca(
        core_rows(X[order], float),
        problem,
        terms.arrays,
        0,
        budget,
        ours.core(),
        Project().core(),
        (16, 1),
    )
    assert merges > 300
    solver = reference.BSCA(plain, X, y, C, budget, reference.Project())
    assert sum(solver.visit(int(i)) for i in order) == steps
    expected = reference.decision(solver.model, plain, X)
    out = np.zeros(n)
    _core.decision(core_rows(X, float), terms.arrays, terms.size, ours.core(), out)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-5 * abs(expected).max())
    np.testing.assert_allclose(alpha, solver.alpha, rtol=0, atol=1e-5)


def test_projection_with_an_indefinite_kernel_stays_finite() -> None:
    ours = kernels.Sigmoid(1.0, -0.5)
    terms = store(*random_terms(np.random.default_rng(15), 25, 4), ours)
    while terms.size > 1:
        degradation = reduce(terms, ours, Project())
        assert np.isfinite(degradation)
        assert degradation >= 0
        assert np.isfinite(terms.coef[: terms.size]).all()


def test_projection_of_zero_points() -> None:
    """With the linear kernel the origin is the zero function."""
    terms = store(
        np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]]), [0.5, 0.25, 1.0], kernels.Linear()
    )
    for _ in range(2):
        assert reduce(terms, kernels.Linear(), Project()) == 0
    assert terms.coef[0] == pytest.approx(1.0)
    np.testing.assert_array_equal(terms.points(), [[1.0, 2.0]])

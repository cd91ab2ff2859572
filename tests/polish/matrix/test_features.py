"""Orthonormal features say the same as kernel values, held in memory or not."""

from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import KERNELS, sparse_rows
from polish.spans import GAMMA, LITTLE, PLENTY, basis_of, several_outputs

from budgetsvm import kernels
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.orthonormal import OrthonormalMatrix
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.rows import Rows


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_features_and_kernel_values_say_the_same(
    name: str, dtype: Any, form: str, constant: bool
) -> None:
    kernel, gram = KERNELS[name]
    X = sparse_rows(200, 6, 5, 0.6)
    basis = Basis.of(X.toarray()[10:25].astype(dtype), kernel, constant=constant)
    rows = Rows(X if form == "csr" else X.toarray(), dtype, None)
    matrix = KernelMatrix(rows, basis, 2, PLENTY)
    features = OrthonormalMatrix(matrix)
    Z = basis.points.astype(np.float64)
    G = np.linalg.solve(np.linalg.cholesky(gram(Z, Z)), gram(X.toarray(), Z).T).T
    if constant:
        G = np.column_stack([G, np.ones(200)])
    assert matrix.basis.dimension == features.basis.dimension == G.shape[1]
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(matrix.basis.dimension), rng.standard_normal(200)
    tolerance = (2e-3 if dtype == np.float32 else 1e-8) * abs(G).max()
    for some in (matrix, features):
        np.testing.assert_allclose(some.times(w), G @ w, rtol=0, atol=20 * tolerance)
        np.testing.assert_allclose(some.transposed_times(v), G.T @ v, rtol=0, atol=100 * tolerance)
        chosen = np.array([3, 190, 17, 18])
        block, where = some.feature_rows(chosen)
        np.testing.assert_allclose(block[where], G[chosen], rtol=0, atol=tolerance)
        norms = some.squared_norms(block)[where]
        np.testing.assert_allclose(norms, (G[chosen] ** 2).sum(axis=1), rtol=20 * tolerance)
    part = features.some(chosen)
    np.testing.assert_allclose(part.times(w), (G @ w)[chosen], rtol=0, atol=20 * tolerance)


@pytest.mark.parametrize("constant", [False, True])
def test_values_need_not_be_held(constant: bool) -> None:
    problem = several_outputs()
    basis = basis_of(problem, constant)
    held = KernelMatrix(problem.rows, basis, 1, PLENTY)
    matrix = KernelMatrix(problem.rows, basis, 1, PLENTY, hold=False)
    assert held.at_hand
    assert matrix.fits
    assert not matrix.at_hand
    w = np.random.default_rng(0).standard_normal(matrix.basis.dimension)
    np.testing.assert_array_equal(matrix.times(w), held.times(w))
    np.testing.assert_allclose(OrthonormalMatrix(matrix).times(w), held.times(w), atol=1e-9)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_a_constant_with_a_python_function_as_kernel(memory: float) -> None:
    problem = several_outputs()
    kernel = reference.Kernel("rbf", GAMMA)
    ours = KernelMatrix(problem.rows, basis_of(problem), 1, memory)
    function = Basis.of(problem.rows.X[:25].copy(), kernels.Callback(kernel), constant=True)
    theirs = KernelMatrix(problem.rows, function, 1, memory)
    for chosen in (np.arange(300), np.array([5, 100, 7])):
        found, expected = (matrix.feature_rows(chosen).rows for matrix in (ours, theirs))
        np.testing.assert_allclose(found, expected, atol=1e-7)
    assert theirs.value_rows(np.arange(4)).rows[0, -1] == 1


def test_a_problem_on_features_is_the_same_problem() -> None:
    """Objectives, line searches and offers do not depend on how rows are stored."""
    problem = several_outputs()
    matrix = KernelMatrix(problem.rows, basis_of(problem), 1, PLENTY)
    spans = [
        SpanProblem(some, problem.targets.of_output(1))
        for some in (matrix, OrthonormalMatrix(matrix))
    ]
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, alpha = 0.2 * rng.standard_normal(matrix.basis.dimension), rng.random(300)
        alpha *= problem.targets.box
        for span in spans:
            span.offer_primal(w, span.values(w))
            span.offer_dual(alpha, span.point(alpha))
        assert spans[0].primal == pytest.approx(spans[1].primal, rel=1e-8)
        assert spans[0].dual == pytest.approx(spans[1].dual, rel=1e-8)

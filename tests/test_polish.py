"""Phase 2: the span of a basis, Newton's method, and the certificate that proves the optimum."""

import warnings
from typing import Any

import numpy as np
import pytest
from problems import KERNELS, blobs, moons, noisy_xor, sparse_rows
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from budgetsvm import BudgetSVC, kernels, polish
from budgetsvm._ascent import WorkingSetAscent
from budgetsvm._basis import Basis
from budgetsvm._features import FeatureMatrix, KernelMatrix
from budgetsvm._newton import _newton_step, _smooth_objective, newton_path, smooth_alpha
from budgetsvm._rows import Rows
from budgetsvm._span import SpanProblem

PLENTY, LITTLE = 1e9, 1e4  # bytes: hold the kernel values, compute them in every pass


# ---- the basis ----


def basis_error(basis: Basis, gram: Any) -> float:
    """‖L Lᵀ − K_ZZ‖ and ‖L⁻ᵀ Lᵀ − 1‖, at most."""
    K = gram(basis.points.astype(np.float64), basis.points.astype(np.float64))
    identity = basis.inverse @ basis.lower.T
    return float(
        max(
            abs(basis.lower @ basis.lower.T - K).max() / abs(K).max(),
            abs(identity - np.eye(len(basis))).max(),
        )
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_independent_points_are_all_kept(name: str, dtype: Any) -> None:
    kernel, gram = KERNELS[name]
    Z = np.random.default_rng(0).standard_normal((30, 6)).astype(dtype)
    basis = Basis.of(Z, kernel)
    assert len(basis) == 30
    assert basis.points.dtype == dtype
    assert basis_error(basis, gram) < 1e-9
    np.testing.assert_array_equal(np.sort(basis.points, axis=0), np.sort(Z, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_are_left_out(dtype: Any) -> None:
    kernel, gram = KERNELS["rbf"]
    Z = np.random.default_rng(1).standard_normal((10, 3)).astype(dtype)
    close = Z + dtype(1e-4 if dtype == np.float32 else 1e-7)
    basis = Basis.of(np.vstack([Z, Z, close]), kernel)
    assert len(basis) == 10
    assert basis_error(basis, gram) < 1e-9


@pytest.mark.parametrize(("name", "rank"), [("linear", 4), ("poly", 20)])
def test_kernels_of_finite_rank(name: str, rank: int) -> None:
    """Linear: d. Polynomial of degree 3 in three variables: C(6, 3)."""
    kernel, gram = KERNELS[name]
    Z = np.random.default_rng(2).standard_normal((60, 4 if name == "linear" else 3))
    basis = Basis.of(Z, kernel)
    assert len(basis) == rank
    assert basis_error(basis, gram) < 1e-9


@pytest.mark.parametrize("gamma", [1e-12, 1e-300])
def test_a_tiny_gamma_leaves_one_term(gamma: float) -> None:
    Z = np.random.default_rng(3).standard_normal((50, 4))
    basis = Basis.of(Z, kernels.Gaussian(gamma))
    assert len(basis) == 1
    assert np.isfinite(basis.inverse).all()


def test_a_kernel_that_vanishes_leaves_none() -> None:
    assert len(Basis.of(np.zeros((5, 3)), kernels.Linear())) == 0
    X, y = blobs(40, 3, 0)
    result = polish(X, y, np.zeros((5, 3)), kernel="linear", maintenance="remove", C=2.0)
    assert result.primal == result.dual == 2 * 40
    assert len(result.coef) == 0
    model = BudgetSVC(kernel="linear", maintenance="remove", budget=3).fit(np.zeros((40, 3)), y)
    assert (model.decision_function(X) == 0).all()
    assert model.converged_


@pytest.mark.parametrize("coef0", [-1.0, 0.1, 1.0])
def test_an_indefinite_kernel_is_cut_to_its_positive_part(coef0: float) -> None:
    kernel = kernels.Sigmoid(0.5, coef0)
    Z = np.random.default_rng(4).standard_normal((40, 3))
    basis = Basis.of(Z, kernel)
    assert len(basis) < 40
    assert np.isfinite(basis.inverse).all()
    X, y = noisy_xor(200, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(X, y, X[:40], kernel=kernel, maintenance="remove")
    assert np.isfinite(result.coef).all()
    assert result.dual <= result.primal * (1 + 1e-12)


# ---- matrices ----


def make_matrix(
    name: str = "rbf",
    memory: float = PLENTY,
    n_threads: int = 1,
    form: str = "dense",
    dtype: Any = np.float64,
) -> tuple[KernelMatrix, Any]:
    """A kernel matrix, and the features that it stands for, by plain NumPy."""
    kernel, gram = KERNELS[name]
    X = sparse_rows(300, 6, 5, 0.6)
    Z = X.toarray()[10:25].astype(dtype)
    basis = Basis.of(Z, kernel)
    rows = Rows(X if form == "csr" else X.toarray(), dtype, None)
    matrix = KernelMatrix(rows, basis, n_threads, memory)
    K = gram(X.toarray(), basis.points.astype(np.float64))
    K_ZZ = gram(basis.points.astype(np.float64), basis.points.astype(np.float64))
    return matrix, np.linalg.solve(np.linalg.cholesky(K_ZZ), K.T).T


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "linear"])
def test_products_with_the_kernel_matrix(
    name: str, memory: float, n_threads: int, form: str
) -> None:
    matrix, G = make_matrix(name, memory, n_threads, form)
    assert (matrix._held is not None) == (memory == PLENTY)
    assert len(matrix.parts(matrix.n)) == (1 if memory == PLENTY else 5)
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(matrix.width), rng.standard_normal(300)
    v[64:128] = 0  # a part without work
    scale = 1e-9 * abs(G).max()
    np.testing.assert_allclose(matrix.times(w), G @ w, rtol=0, atol=20 * scale)
    np.testing.assert_allclose(matrix.transposed_times(v), G.T @ v, rtol=0, atol=300 * scale)
    chosen, weights = rng.permutation(300)[:100], rng.uniform(0, 3, 100)
    hessian = np.eye(matrix.width) + (G[chosen].T * weights) @ G[chosen]
    np.testing.assert_allclose(
        matrix.solve_hessian(chosen, weights, w), np.linalg.solve(hessian, w), rtol=0, atol=1e-8
    )
    features = matrix.features(chosen)
    np.testing.assert_allclose(features.values, G[chosen], rtol=0, atol=scale)


def test_a_hessian_without_rows_is_the_identity() -> None:
    matrix, G = make_matrix()
    v = np.arange(float(matrix.width))
    none = np.empty(0, np.int64)
    for m in (matrix, FeatureMatrix(G, 1, 1e6)):
        np.testing.assert_allclose(m.solve_hessian(none, np.empty(0), v), v, atol=1e-9)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_products_with_features(n_threads: int) -> None:
    rng = np.random.default_rng(1)
    G, w, v = rng.standard_normal((500, 8)), rng.standard_normal(8), rng.standard_normal(500)
    matrix = FeatureMatrix(G, n_threads, 64 * 8 * 8)
    assert len(matrix.parts(500)) == 8
    np.testing.assert_allclose(matrix.times(w), G @ w, atol=1e-12)
    np.testing.assert_allclose(matrix.transposed_times(v), G.T @ v, atol=1e-11)
    weights = rng.uniform(0, 1, 500)
    expected = np.linalg.solve(np.eye(8) + (G.T * weights) @ G, w)
    np.testing.assert_allclose(
        matrix.solve_hessian(np.arange(500), weights, w), expected, atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_features_are_orthonormal(name: str, dtype: Any) -> None:
    """G_Z G_Zᵀ = K_ZZ for the terms themselves."""
    kernel, gram = KERNELS[name]
    Z = np.random.default_rng(2).standard_normal((20, 5)).astype(dtype)
    basis = Basis.of(Z, kernel)
    matrix = KernelMatrix(Rows(basis.points, dtype, None), basis, 1, PLENTY)
    G = matrix.features(np.arange(20)).values.astype(np.float64)
    K = gram(basis.points.astype(np.float64), basis.points.astype(np.float64))
    np.testing.assert_allclose(G @ G.T, K, atol=1e-5 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_a_python_function_as_kernel(memory: float) -> None:
    X, y = moons(300, 0)
    options: dict[str, Any] = {"C": 2.0, "maintenance": "remove", "precision": "double"}
    options |= {"tol": 1e-5, "memory_limit": memory, "random_state": 0}
    built_in = polish(X, y, X[:20], kernel=kernels.Gaussian(0.7), **options)
    function = polish(X, y, X[:20], kernel=KERNELS["rbf"][1], **options)
    assert function.primal == pytest.approx(built_in.primal, rel=2e-5)


# ---- Newton's method ----


def span_problem(C: float = 5.0, seed: int = 0) -> SpanProblem:
    X, y = noisy_xor(400, seed)
    basis = Basis.of(X[:30].copy(), kernels.Gaussian(0.7))
    matrix = KernelMatrix(Rows(X, np.float64, None), basis, 1, PLENTY)
    return SpanProblem(matrix, y, C * np.random.default_rng(seed).uniform(0.5, 1.5, 400))


@pytest.mark.parametrize("width", [4.0, 0.5, 0.02])
def test_the_dual_point_is_the_derivative_of_the_smooth_loss(width: float) -> None:
    """d loss / d f_i = −y_i α_i, and 0 ≤ α_i ≤ C_i."""
    problem = span_problem()
    f = 1.5 * np.random.default_rng(0).standard_normal(400)
    alpha = smooth_alpha(problem, f, width)
    assert (alpha >= 0).all()
    assert (alpha <= problem.box).all()
    w, h = np.zeros(problem.matrix.width), 1e-6
    for i in range(0, 400, 7):
        step = np.zeros(400)
        step[i] = h
        up = _smooth_objective(problem, w, f + step, width)
        down = _smooth_objective(problem, w, f - step, width)
        assert (up - down) / (2 * h) == pytest.approx(-problem.y[i] * alpha[i], abs=1e-3)


@pytest.mark.parametrize("width", [4.0, 0.5, 0.02])
def test_the_smooth_loss_is_close_to_the_hinge(width: float) -> None:
    problem = span_problem()
    w = np.random.default_rng(1).standard_normal(problem.matrix.width)
    f = problem.values(w)
    excess = _smooth_objective(problem, w, f, width) - problem.objective(w, f)
    assert 0 <= excess <= problem.box.sum() * width / 4


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("width", [4.0, 0.25, 1 / 64])
def test_newton_steps_decrease_the_smooth_objective(width: float, C: float) -> None:
    problem = span_problem(C)
    w = np.random.default_rng(2).standard_normal(problem.matrix.width)
    f = problem.values(w)
    last = _smooth_objective(problem, w, f, width)
    for _ in range(40):
        gradient = w - problem.point(smooth_alpha(problem, f, width))
        w, f, predicted = _newton_step(problem, w, f, width, gradient)
        np.testing.assert_allclose(f, problem.values(w), rtol=0, atol=1e-6 * (1 + abs(f).max()))
        value = _smooth_objective(problem, w, f, width)
        assert value <= last * (1 + 1e-9)
        last = value
    if width >= 0.25 and C <= 1:  # it has converged
        assert predicted < 1e-6


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_path_of_newtons_method_comes_close(C: float) -> None:
    problem = span_problem(C)
    gaps = []

    def finished() -> bool:
        gaps.append(problem.gap)
        return False

    w, f, width = newton_path(problem, np.zeros(problem.matrix.width), 4.0, finished)
    np.testing.assert_allclose(f, problem.values(w), rtol=0, atol=1e-6 * (1 + abs(f).max()))
    assert (np.diff(gaps) <= 0).all()
    ascent = WorkingSetAscent(
        problem, problem.matrix, smooth_alpha(problem, f, width), f, np.random.default_rng(0)
    )
    reached = problem.primal
    for _ in range(30):
        ascent.round()
    assert problem.gap < 0.02
    assert reached < 1.1 * problem.primal  # Newton's w was close, whatever its dual point
    assert 1 / 128 < width < 4.0


def test_offers_never_make_it_worse() -> None:
    problem = span_problem()
    rng = np.random.default_rng(3)
    for _ in range(20):
        before = problem.primal, problem.dual
        w = rng.standard_normal(problem.matrix.width)
        problem.offer_primal(w, problem.values(w))
        alpha = problem.box * rng.random(400)
        problem.offer_dual(alpha, problem.point(alpha))
        assert problem.primal <= before[0]
        assert problem.dual >= before[1]
        kept = problem.objective(problem.w, problem.values(problem.w))
        assert kept == pytest.approx(problem.primal, rel=1e-9)
    problem.offer_primal(problem.w, problem.f)  # a step of length zero


# ---- the certificate ----


def bounds_by_scipy(G: Any, y: Any, box: Any) -> tuple[float, float]:
    """Bounds on the optimum of the SVM with features G: D of L-BFGS-B's point, and P of its w."""
    A = G * y[:, np.newaxis]
    with threadpool_limits(1):
        found = minimize(
            lambda a: (0.5 * np.sum((A.T @ a) ** 2) - a.sum(), A @ (A.T @ a) - 1),
            0.5 * box,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, c) for c in box],
            options={"maxiter": 120, "maxfun": 500, "ftol": 1e-15, "gtol": 1e-9},
        )
    w = A.T @ found.x
    hinge = np.maximum(0, 1 - A @ w)
    return float(found.x.sum() - 0.5 * w @ w), float(0.5 * w @ w + box @ hinge)


def check_certificate(X: Any, y: Any, result: Any, *, box: Any, gamma: float, rel: float) -> None:
    """All that a result claims, recomputed in float64 from what it gives."""
    Z, alpha = result.points, result.alpha
    K, K_ZZ = rbf_kernel(X, Z, gamma), rbf_kernel(Z, Z, gamma)
    signs = np.where(y == np.max(y), 1.0, -1.0)
    assert result.gap == pytest.approx((result.primal - result.dual) / result.primal, abs=1e-12)
    assert -1e-12 <= result.gap <= 1
    hinge = np.maximum(0, 1 - signs * (K @ result.coef))
    primal = 0.5 * result.coef @ K_ZZ @ result.coef + box @ hinge
    assert primal == pytest.approx(result.primal, rel=rel)
    assert (alpha >= 0).all()
    assert (alpha <= box * (1 + 1e-12)).all()
    v = K.T @ (alpha * signs)
    dual = alpha.sum() - 0.5 * v @ np.linalg.solve(K_ZZ, v)
    assert dual == pytest.approx(result.dual, rel=rel, abs=rel * result.primal)
    G = np.linalg.solve(np.linalg.cholesky(K_ZZ), K.T).T
    lower, upper = bounds_by_scipy(G, signs, box)
    assert result.dual <= upper * (1 + rel)
    assert result.primal >= lower * (1 - rel)


PROBLEMS = {
    "blobs": lambda: blobs(150, 3, 0),
    "moons": lambda: moons(200, 1),
    "xor": lambda: noisy_xor(180, 2),
    "far apart": lambda: blobs(100, 2, 3, distance=20.0),
    "one rare": lambda: (blobs(100, 2, 4)[0], np.where(np.arange(100) < 3, 1.0, -1.0)),
    "duplicates": lambda: (np.repeat(blobs(20, 2, 5)[0], 10, axis=0), np.tile([-1.0, 1.0], 100)),
    "two rows": lambda: (np.array([[0.0, 0.0], [1.0, 0.5]]), np.array([-1.0, 1.0])),
    "more terms than rows": lambda: blobs(12, 2, 6),
}


@pytest.mark.parametrize(("precision", "rel"), [("double", 1e-6), ("single", 1e-3)])
@pytest.mark.parametrize("C", [1e-6, 0.1, 10.0, 1e3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_lies_between_dual_and_primal(
    name: str, C: float, precision: Any, rel: float
) -> None:
    X, y = PROBLEMS[name]()
    rng = np.random.default_rng(0)
    Z = np.vstack([X[:20], X[:5], X[:5].mean(axis=0, keepdims=True)])
    weights = rng.uniform(0.5, 1.5, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(
            X, y, Z, C=C, gamma=0.8, precision=precision, random_state=0, sample_weight=weights
        )
    assert result.converged == (result.gap <= 1e-2)
    if C <= 10:
        assert result.converged
    check_certificate(X, y, result, box=C * weights, gamma=0.8, rel=rel)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_one_sided_weights(C: float, side: int) -> None:
    X, y = moons(200, 3)
    weights = np.where(y == y[side], 1e4, 1e-4)
    result = polish(
        X, y, X[:25], C=C, gamma=1.0, precision="double", sample_weight=weights, random_state=0
    )
    assert result.converged
    check_certificate(X, y, result, box=C * weights, gamma=1.0, rel=1e-6)


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_extreme_C(C: float, memory: float) -> None:
    X, y = noisy_xor(300, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(X, y, X[:30], C=C, gamma=1.0, precision="double", memory_limit=memory)
    assert np.isfinite(result.coef).all()
    assert 0 <= result.dual <= result.primal <= C * 300
    check_certificate(X, y, result, box=np.full(300, C), gamma=1.0, rel=1e-4)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("gamma", [1e-8, 1e-3, 0.3])
@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_ill_conditioned_problems_do_not_fail(C: float, gamma: float, precision: Any) -> None:
    """Smooth kernels and large C: the Hessian has a condition of 10¹⁵ and more."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(3000) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(
            X, y, X[:60], C=C, gamma=gamma, precision=precision, max_passes=40, random_state=0
        )
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.alpha).all()
    assert 0 <= result.dual <= result.primal <= C * 3000


@pytest.mark.parametrize("kernel", ["poly", "sigmoid", "linear", "laplacian"])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_other_kernels_do_not_fail(kernel: str, C: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 4))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(3000) > 0
    options: dict[str, Any] = {"kernel": kernel, "gamma": 10.0, "coef0": 0.5, "max_passes": 40}
    for precision in ("single", "double"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = polish(X, y, X[:60], C=C, precision=precision, maintenance="remove", **options)
        assert np.isfinite(result.coef).all()
        assert 0 <= result.dual <= result.primal * (1 + 1e-12)


@pytest.mark.parametrize(
    ("C", "tol"),
    [(0.1, 1e-4), (1.0, 1e-6), (10.0, 1e-2), (10.0, 1e-3), (10.0, 1e-4)]
    + [(100.0, tol) for tol in (1e-3, 1e-4)]
    + [(1000.0, tol) for tol in (1e-2, 1e-3)],
)
def test_tolerances_are_reached(C: float, tol: float) -> None:
    """And the gap is about the right problem: scipy finds nothing better."""
    X, y = moons(400, 7, noise=0.3)
    result = polish(X, y, X[:30], C=C, gamma=1.0, tol=tol, precision="double", random_state=0)
    assert result.converged
    assert result.gap <= tol
    check_certificate(X, y, result, box=np.full(400, C), gamma=1.0, rel=1e-6)


@pytest.mark.parametrize("tol", [1e-3, 1e-4])
def test_tolerances_are_reached_in_single_precision_and_many_rows(tol: float) -> None:
    X, y = noisy_xor(20_000, 8)
    result = polish(X, y, X[:50], C=10.0, gamma=1.0, tol=tol, random_state=0)
    assert result.gap <= tol


def test_too_few_passes_and_too_little_time() -> None:
    X, y = moons(500, 9, noise=0.3)
    for limit in ({"max_passes": 1}, {"time_limit": 1e-9}):
        model = BudgetSVC(C=10, gamma=1.0, budget=30, random_state=0, tol=1e-6, **limit)
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X, y)
        message = str(caught[0].message)
        for word in ("gap", "tol=1e-06", "max_passes", "time_limit"):
            assert word in message
        assert caught[0].filename == __file__  # it points at the user's line
        assert not model.converged_
        assert model.duality_gap_ > 1e-6
        P, D = model.objective_
        assert D <= P
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) > 0.5
        model.set_params(tol=0.9, max_passes=500, time_limit=None).fit(X, y)
        assert model.converged_


def test_polish_is_a_function_of_its_own() -> None:
    X, y = moons(300, 10)
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    Z = X[::10]
    result = polish(X, labels, Z, C=5.0, gamma=2.0, tol=1e-5, precision="double", random_state=0)
    assert len(result.points) <= len(Z)
    assert all(np.isclose(Z, point).all(axis=1).any() for point in result.points)
    model = BudgetSVC(
        C=5.0, gamma=2.0, tol=1e-5, basis=Z, budget=30, precision="double", random_state=0
    ).fit(X, labels)
    assert model.objective_ == (result.primal, result.dual)
    np.testing.assert_array_equal(model.dual_coef_[0], result.coef)
    np.testing.assert_array_equal(model.support_vectors_, result.points)


def test_alpha_belongs_to_the_rows_given() -> None:
    """Also where some have weight zero."""
    X, y = moons(200, 11)
    weights = np.where(np.arange(200) % 3 == 0, 0.0, 1.0)
    result = polish(X, y, X[:20], C=2.0, gamma=1.0, sample_weight=weights, precision="double")
    assert result.alpha.shape == (200,)
    assert (result.alpha[weights == 0] == 0).all()
    check_certificate(X, y, result, box=2.0 * weights, gamma=1.0, rel=1e-6)


def test_sparse_and_dense_rows_agree() -> None:
    X = sparse_rows(400, 20, 12)
    y = np.sign(X.toarray()[:, :3].sum(axis=1) + 0.1)
    options: dict[str, Any] = {"C": 3.0, "gamma": 0.2, "tol": 1e-5, "precision": "double"}
    a = polish(X, y, X[:30].toarray(), random_state=0, **options)
    b = polish(X.toarray(), y, X[:30].toarray(), random_state=0, **options)
    assert a.primal == pytest.approx(b.primal, rel=2e-5)
    assert a.gap <= 1e-5

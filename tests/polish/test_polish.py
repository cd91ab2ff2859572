"""Phase 2: the span of a basis, Newton's method, and the certificate that proves the optimum."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, blobs, moons, noisy_xor, sparse_rows
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from budgetsvm import BudgetSVC, _core, kernels, polish
from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix, SomeRows
from budgetsvm._polish.newton.linear_system import HessianSolver
from budgetsvm._polish.newton.method import NewtonMethod, newton_on_samples
from budgetsvm._polish.newton.smooth_problem import SmoothProblem, newton_step, step_length
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import Targets

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
    features = matrix.features(np.arange(50, 250))
    np.testing.assert_allclose(features, G[50:250], rtol=0, atol=scale)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_sums_over_some_rows(n_threads: int, memory: float) -> None:
    matrix, _ = make_matrix(memory=memory, n_threads=n_threads)
    K = KERNELS["rbf"][1](np.asarray(matrix.rows.X), matrix.basis.points)
    rng = np.random.default_rng(1)
    weights, v = rng.uniform(0, 3, 300), rng.standard_normal(matrix.width)
    w = rng.standard_normal(matrix.width)
    for chosen in (np.sort(rng.permutation(300)[:101]), np.arange(300), np.arange(7, 8)):
        c, rows = weights[chosen], K[chosen]
        np.testing.assert_allclose(
            matrix.normal_times(chosen, c, v), rows.T @ (c * (rows @ v)), rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(matrix.gram(chosen, c), (rows.T * c) @ rows, rtol=0, atol=1e-9)
        some = SomeRows(matrix, chosen)
        assert some.at_hand
        np.testing.assert_allclose(some.times(w), matrix.times(w)[chosen], rtol=0, atol=1e-12)
        spread = np.zeros(300)
        spread[chosen] = c
        np.testing.assert_allclose(
            some.transposed_times(c), matrix.transposed_times(spread), rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("width", [1, 3, 4, 15, 16, 17, 33, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_of_the_core(dtype: Any, width: int) -> None:
    """All remainders: of rows in a group, and of values in a register."""
    rng = np.random.default_rng(width)
    block = rng.standard_normal((11, width)).astype(dtype)
    exact, coef = block.astype(np.float64), rng.standard_normal(width)
    for count in range(12):
        chosen = rng.permutation(11)[:count]
        scale = rng.standard_normal(count)
        out, sums, normal = np.empty(count), np.ones(width), np.ones(width)
        _core.times(block, chosen, coef, out)
        _core.add_transposed_times(block, chosen, scale, sums)
        _core.add_normal_times(block, chosen, scale, coef, normal)
        np.testing.assert_allclose(out, exact[chosen] @ coef, atol=1e-12)
        np.testing.assert_allclose(sums, 1 + scale @ exact[chosen], atol=1e-12)
        np.testing.assert_allclose(normal, 1 + (scale * out) @ exact[chosen], atol=1e-11)


def test_passes_of_the_core_check_their_arguments() -> None:
    block, sums, one = np.zeros((5, 3)), np.zeros(3), np.zeros(1)
    for row in (-1, 5, 2**40):
        with pytest.raises(ValueError, match="out of range"):
            _core.times(block, np.array([row]), sums, one)
        with pytest.raises(ValueError, match="out of range"):
            _core.add_transposed_times(block, np.array([row]), one, sums)
    with pytest.raises(ValueError, match="shapes differ"):
        _core.times(block, np.array([0]), sums, np.zeros(2))
    with pytest.raises(ValueError, match="shapes differ"):
        _core.add_transposed_times(block, np.array([0]), np.zeros(2), sums)
    with pytest.raises(ValueError, match="shapes differ"):
        _core.add_normal_times(block, np.array([0]), one, np.zeros(4), sums)


# ---- Newton's systems ----


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
        v = rng.standard_normal(matrix.width)
        s = solver.solve(matrix, only(chosen, box), 3.0, v)
        assert energy_error(G[chosen], 3 * box[chosen], s, v) < precision


def test_a_useless_factor_is_replaced() -> None:
    matrix, G, box = random_system(4000)
    v = np.random.default_rng(2).standard_normal(matrix.width)
    solver = HessianSolver(matrix.basis)
    solver.solve(matrix, only(np.arange(30), box), 1e-9, v)
    s = solver.solve(matrix, box, 1e5, v)
    assert energy_error(G, 1e5 * box, s, v) < 0.2


def test_rows_that_come_and_go() -> None:
    """The sum is updated; also where the matrix is another, and where nearly all rows change."""
    matrix, G, box = random_system(200)
    other = SomeRows(matrix, np.arange(100, 200))
    rng = np.random.default_rng(3)
    solver, v = HessianSolver(matrix.basis), rng.standard_normal(matrix.width)
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_features_are_orthonormal(name: str, dtype: Any) -> None:
    """G_Z G_Zᵀ = K_ZZ for the terms themselves."""
    kernel, gram = KERNELS[name]
    Z = np.random.default_rng(2).standard_normal((20, 5)).astype(dtype)
    basis = Basis.of(Z, kernel)
    matrix = KernelMatrix(Rows(basis.points, dtype, None), basis, 1, PLENTY)
    G = matrix.features(np.arange(20)).astype(np.float64)
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


def span_problem(C: float = 5.0, seed: int = 0, n: int = 400, memory: float = PLENTY) -> Any:
    X, y = noisy_xor(n, seed)
    basis = Basis.of(X[:30].copy(), kernels.Gaussian(0.7))
    matrix = KernelMatrix(Rows(X, np.float64, None), basis, 1, memory)
    box = C * np.random.default_rng(seed).uniform(0.5, 1.5, n)
    return SpanProblem(matrix, Targets.of_labels(y, box))


def smoothed(problem: SpanProblem, width: float) -> SmoothProblem:
    """The problem of all rows."""
    nothing = np.zeros(problem.matrix.width)
    return SmoothProblem(problem.matrix, problem.targets, width, nothing)


@pytest.mark.parametrize("width", [4.0, 0.5, 0.02])
def test_the_dual_point_is_the_derivative_of_the_smooth_loss(width: float) -> None:
    """d loss / d f_i = −y_i α_i, and 0 ≤ α_i ≤ C_i."""
    problem = smoothed(span_problem(), width)
    f = 1.5 * np.random.default_rng(0).standard_normal(400)
    alpha = problem.alpha(f)
    assert (alpha >= 0).all()
    assert (alpha <= problem.targets.box).all()
    w, h = np.zeros(problem.matrix.width), 1e-6
    for i in range(0, 400, 7):
        step = np.zeros(400)
        step[i] = h
        up, down = problem.objective(w, f + step), problem.objective(w, f - step)
        assert (up - down) / (2 * h) == pytest.approx(-problem.targets.y[i] * alpha[i], abs=1e-3)


def test_the_gradient_of_a_part_with_the_rest_fixed() -> None:
    span = span_problem()
    w = np.random.default_rng(1).standard_normal(span.matrix.width)
    f = span.values(w)
    whole, chosen = smoothed(span, 0.5), np.arange(50, 170)
    rest = whole.alpha(f)
    rest[chosen] = 0
    fixed = span.point(rest)
    some = SomeRows(span.matrix, chosen)
    part = SmoothProblem(some, span.targets.some(chosen), 0.5, fixed)
    gradient = part.gradient(w, f[chosen])
    np.testing.assert_allclose(gradient, whole.gradient(w, f), atol=1e-9)
    h = 1e-6
    for k in range(0, len(w), 5):
        step = np.zeros(len(w))
        step[k] = h
        up, down = (part.objective(v, some.times(v)) for v in (w + step, w - step))
        assert (up - down) / (2 * h) == pytest.approx(gradient[k], abs=1e-3)


@pytest.mark.parametrize("width", [4.0, 0.5, 0.02])
def test_the_smooth_loss_is_close_to_the_hinge(width: float) -> None:
    problem = span_problem()
    w = np.random.default_rng(1).standard_normal(problem.matrix.width)
    f = problem.values(w)
    excess = smoothed(problem, width).objective(w, f) - problem.objective(w, f)
    assert 0 <= excess <= problem.targets.box.sum() * width / 4


@pytest.mark.parametrize("width", [4.0, 0.5, 0.1])
def test_the_gap_is_the_residual_and_the_excess(width: float) -> None:
    """P(w) − D(α) = ½‖w − w(α)‖² + Σ C |t| (ε − |t|) / 2ε, anywhere."""
    span = span_problem()
    w = 0.3 * np.random.default_rng(2).standard_normal(span.matrix.width)
    f, problem = span.values(w), smoothed(span, width)
    alpha = problem.alpha(f)
    point = span.point(alpha)
    gap = span.objective(w, f) - (alpha.sum() - 0.5 * point @ point)
    assert gap == pytest.approx(0.5 * (w - point) @ (w - point) + problem.excess(f), rel=1e-9)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("width", [4.0, 0.25, 1 / 64])
def test_newton_steps_decrease_the_smooth_objective(width: float, C: float) -> None:
    span = span_problem(C)
    problem, solver = smoothed(span, width), HessianSolver(span.matrix.basis)
    w = np.random.default_rng(2).standard_normal(span.matrix.width)
    f = span.values(w)
    last = problem.objective(w, f)
    for _ in range(40):
        step = newton_step(problem, w, f, problem.gradient(w, f), solver)
        w, f = step.w, step.f
        np.testing.assert_allclose(f, span.values(w), rtol=0, atol=1e-6 * (1 + abs(f).max()))
        value = problem.objective(w, f)
        assert value <= last * (1 + 1e-9)
        last = value
    if width >= 0.25 and C <= 1:  # it has converged
        assert step.decrease < 1e-6 * last


@pytest.mark.parametrize("stretch", [0.1, 1.0, 30.0, 1e6])
def test_the_step_length_is_the_best(stretch: float) -> None:
    span = span_problem()
    problem, rng = smoothed(span, 0.3), np.random.default_rng(4)
    w = rng.standard_normal(span.matrix.width)
    f = span.values(w)
    step = -stretch * 1e-3 * problem.gradient(w, f)
    change = span.values(step)
    length = step_length(problem, w, f, (step, change))
    best = min(
        problem.objective(w + s * step, f + s * change)
        for s in np.append(np.linspace(0, 1, 1001), np.geomspace(1e-9, 1, 1001))
    )
    start, found = (problem.objective(w + s * step, f + s * change) for s in (0, length))
    assert start - found > 0.99 * (start - best)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_newtons_method_reaches_the_tolerance_by_itself(
    tol: float, C: float, memory: float
) -> None:
    """On samples, on all rows and on parts of them; its values belong to its point."""
    problem = span_problem(C, n=3000, memory=memory)
    gaps: list[float] = []

    def finished() -> bool:
        gaps.append(problem.gap)
        return problem.gap <= tol

    solver = HessianSolver(problem.matrix.basis)
    w, width = newton_on_samples(problem, solver, np.random.default_rng(0), finished, tol)
    assert w.any() == (memory == PLENTY) or problem.matrix.most_some >= 300
    newton = NewtonMethod(problem, solver, tol, w, problem.values(w), width)
    newton.run(finished)
    assert problem.gap <= tol
    assert (np.diff(gaps) <= 0).all()
    np.testing.assert_allclose(newton.f, problem.values(newton.w), rtol=0, atol=1e-6)
    best = problem.objective(problem.w, problem.values(problem.w))
    assert best == pytest.approx(problem.primal, rel=1e-9)


def test_a_part_that_leads_astray_does_no_harm() -> None:
    """Far from the solution, with rows that do not matter: all rows decide how far to go."""
    span = span_problem(100.0, n=1000)
    solver = HessianSolver(span.matrix.basis)
    w = np.random.default_rng(5).standard_normal(span.matrix.width)
    newton = NewtonMethod(span, solver, 1e-2, w, span.values(w), 0.1)
    before = smoothed(span, 0.1)
    alpha = before.alpha(newton.f)
    start = before.objective(w, newton.f)
    newton._steps_on_part(np.arange(20), alpha, span.point(alpha), lambda: False)
    after = smoothed(span, newton.width)
    assert newton.caution > 2
    assert after.objective(newton.w, newton.f) <= start
    np.testing.assert_allclose(newton.f, span.values(newton.w), rtol=0, atol=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_ascent_goes_on_from_newtons_method(C: float) -> None:
    problem = span_problem(C)
    solver = HessianSolver(problem.matrix.basis)
    w = np.zeros(problem.matrix.width)
    newton = NewtonMethod(problem, solver, 0.1, w, problem.values(w), 4.0)
    newton.run(lambda: problem.gap <= 0.1)
    rng = np.random.default_rng(0)
    ascent = WorkingSetAscent(problem, problem.matrix, newton.alpha(), newton.f, rng)
    for _ in range(30):
        ascent.round()
    assert problem.gap < 0.02


def test_offers_never_make_it_worse() -> None:
    problem = span_problem()
    rng = np.random.default_rng(3)
    for _ in range(20):
        before = problem.primal, problem.dual
        w = rng.standard_normal(problem.matrix.width)
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
        w = scale * rng.standard_normal(problem.matrix.width)
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
    assert result.gap <= 1e-2 or not result.converged
    # A class of one row leaves little to save: then a gap of 1e-2 is not enough, and single
    # precision may not be, either.
    assert result.converged or result.gap > 1e-2 or precision == "single"
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

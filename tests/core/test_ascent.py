"""Dual coordinate ascent in the core: one pass, shrinking, and the optimum it converges to."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from budgetsvm import _core, kernels
from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget

INFINITE = (np.inf, -np.inf)


@dataclass(eq=False)
class LinearProblem:
    """max Σα − ½‖w(α)‖² over 0 ≤ α_i ≤ C_i, w(α) = Σ α_i y_i g_i, and the state of the ascent."""

    G: Any
    y: Any
    box: Any
    dtype: Any = np.float64

    def __post_init__(self) -> None:
        self.G = np.ascontiguousarray(self.G, self.dtype)
        self.alpha = np.zeros(len(self.y))
        self.w = np.zeros(self.G.shape[1], self.dtype)

    def ascend(self, order: Any, limits: Any = INFINITE) -> tuple[int, float, float]:
        curvature = np.einsum("ij,ij->i", self.G, self.G)
        own = (self.G, curvature, self.y, np.ones(len(self.y)), self.box, self.alpha, self.w)
        return _core.ascend(("hinge", 0.0), *own, order, *limits)

    def point(self, alpha: Any) -> Any:
        return self.G.astype(np.float64).T @ (alpha * self.y)

    def dual(self, alpha: Any) -> float:
        w = self.point(alpha)
        return float(alpha.sum() - 0.5 * w @ w)

    def primal(self, w: Any) -> float:
        slack = 1 - self.y * (self.G.astype(np.float64) @ w)
        return float(0.5 * w @ w + self.box @ np.maximum(0, slack))

    def converge(self, precision: float = 1e-9) -> None:
        """Passes over all rows until the projected gradients vanish."""
        rng = np.random.default_rng(0)
        for _ in range(20_000):
            _, upper, lower = self.ascend(rng.permutation(len(self.y)))
            if upper - lower <= precision:
                return
        raise AssertionError("no convergence")


def make(n: int = 60, d: int = 5, seed: int = 0, scale: float = 1.0, **options: Any) -> Any:
    """Overlapping classes, weights that differ, and two rows that are zero."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    G = rng.standard_normal((n, d))
    G[:, 0] += 0.7 * y
    G[[3, 7]] = 0
    return LinearProblem(G, y, scale * rng.uniform(0.5, 1.5, n), **options)


def reference_pass(problem: Any, alpha: Any, w: Any, order: Any, limits: Any) -> Any:
    """Algorithm 3 of Hsieh et al. (2008), one pass, row by row."""
    (upper, lower), kept, largest, smallest = limits, [], 0.0, 0.0
    for i in order:
        g, y, C = problem.G[i].astype(np.float64), problem.y[i], problem.box[i]
        gradient = 1 - y * (g @ w)
        if (alpha[i] == 0 and gradient < lower) or (alpha[i] == C and gradient > upper):
            continue
        kept.append(i)
        if alpha[i] < C:
            largest = max(largest, gradient)
        if alpha[i] > 0:
            smallest = min(smallest, gradient)
        curvature = g @ g
        if curvature > 0:
            target = min(max(alpha[i] + gradient / curvature, 0.0), C)
        else:
            target = C if gradient > 0 else 0.0
        w += (target - alpha[i]) * y * g
        alpha[i] = target
    return kept, float(largest), float(smallest)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 1e-4)])
@pytest.mark.parametrize(("d", "seed"), [(1, 0), (5, 1), (17, 2), (64, 3), (100, 4)])
def test_passes_agree_with_the_reference(d: int, seed: int, dtype: Any, tolerance: float) -> None:
    problem = make(d=d, seed=seed, dtype=dtype)
    alpha, w = np.zeros(60), np.zeros(d)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        order = rng.permutation(60)
        kept, upper, lower = reference_pass(problem, alpha, w, order, INFINITE)
        found = problem.ascend(order.copy())
        assert found[0] == len(kept) == 60
        np.testing.assert_allclose(found[1:], (upper, lower), rtol=0, atol=tolerance)
        np.testing.assert_allclose(problem.alpha, alpha, rtol=0, atol=tolerance)
        np.testing.assert_allclose(problem.w, w, rtol=0, atol=tolerance * (1 + abs(w).max()))
    assert problem.alpha[3] == problem.box[3]  # zero rows: nothing holds them back


def test_shrinking_agrees_with_the_reference() -> None:
    problem = make(n=200, d=4, seed=5, scale=0.2)
    alpha, w = np.zeros(200), np.zeros(4)
    active, limits = np.arange(200), INFINITE
    rng = np.random.default_rng(0)
    for _ in range(12):
        order = rng.permutation(active)
        kept, upper, lower = reference_pass(problem, alpha, w, order, limits)
        before = problem.alpha.copy()
        mine = order.copy()
        count, *found = problem.ascend(mine, limits)
        np.testing.assert_array_equal(mine[:count], kept)
        np.testing.assert_allclose(found, (upper, lower), rtol=0, atol=1e-10)
        np.testing.assert_allclose(problem.alpha, alpha, rtol=0, atol=1e-10)
        left = np.setdiff1d(np.arange(200), kept)
        np.testing.assert_array_equal(problem.alpha[left], before[left])
        active, limits = mine[:count], (upper or np.inf, lower or -np.inf)
    assert len(active) < 150  # most variables of this problem are at a bound
    assert problem.dual(problem.alpha) > 0


def test_every_pass_raises_the_dual_and_stays_in_the_box() -> None:
    problem, rng = make(n=120, seed=6, scale=3.0), np.random.default_rng(1)
    last = 0.0
    for _ in range(20):
        problem.ascend(rng.permutation(120))
        assert (problem.alpha >= 0).all()
        assert (problem.alpha <= problem.box).all()
        assert problem.dual(problem.alpha) > last
        last = problem.dual(problem.alpha)
    np.testing.assert_allclose(problem.w, problem.point(problem.alpha), atol=1e-10)


def test_nothing_to_visit() -> None:
    problem = make()
    assert problem.ascend(np.empty(0, np.int64)) == (0, 0.0, 0.0)
    assert not problem.alpha.any()


def test_a_box_of_zero_and_a_subset_of_the_rows() -> None:
    problem = make()
    problem.box[10] = 0
    problem.ascend(np.array([10, 11, 11, 12]))
    assert problem.alpha[10] == 0
    assert set(np.flatnonzero(problem.alpha)) <= {11, 12}


@pytest.mark.parametrize("order", [[-1], [60], [0, 1, 2**40]])
def test_indices_out_of_range(order: list[int]) -> None:
    with pytest.raises((ValueError, IndexError), match="out of range"):
        make().ascend(np.array(order))


def test_lengths_must_agree() -> None:
    problem = make()
    problem.w = np.zeros(6)
    with pytest.raises(ValueError, match="w has the wrong length"):
        problem.ascend(np.arange(60))
    problem = make()
    problem.box = problem.box[1:]
    with pytest.raises(ValueError, match="differ in length"):
        problem.ascend(np.arange(60))


def test_results_are_never_written_to_a_copy() -> None:
    """An argument that does not fit as it is must not be converted: what is written would be lost."""
    problem = make()
    try:
        problem.ascend(np.arange(60), (np.float64(np.inf), np.float64(-np.inf)))
    except TypeError:
        pass
    else:
        np.testing.assert_allclose(problem.w, problem.point(problem.alpha), atol=1e-10)
        assert problem.w.any()
    out = np.zeros(120)
    with pytest.raises(TypeError):
        _core.times(problem.G, np.arange(60), problem.w, out[::2])
    problem = make()
    problem.w = np.zeros(10)[::2]
    with pytest.raises(TypeError):
        problem.ascend(np.arange(60))


@pytest.mark.parametrize(("seed", "scale"), [(0, 0.1), (1, 1.0), (2, 20.0)])
def test_agreement_with_liblinear(seed: int, scale: float) -> None:
    problem = make(n=300, d=6, seed=seed, scale=scale)
    problem.converge()
    other = LinearSVC(
        C=1.0, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=2_000_000, random_state=0
    ).fit(problem.G, problem.y, sample_weight=problem.box)
    theirs = problem.primal(other.coef_[0])
    assert problem.primal(problem.w) == pytest.approx(theirs, rel=1e-4)
    assert problem.primal(problem.w) == pytest.approx(problem.dual(problem.alpha), rel=1e-7)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-6), (np.float32, 1e-5)])
@pytest.mark.parametrize(("n", "seed", "scale"), [(2, 0, 1.0), (40, 1, 0.3), (80, 2, 5.0)])
def test_agreement_with_scipy(
    n: int, seed: int, scale: float, dtype: Any, tolerance: float
) -> None:
    problem = make(n=max(n, 8), seed=seed, scale=scale, dtype=dtype)
    problem = LinearProblem(problem.G[:n], problem.y[:n], problem.box[:n], dtype)
    G = problem.G.astype(np.float64) * problem.y[:, np.newaxis]
    found = minimize(
        lambda a: (0.5 * np.sum((G.T @ a) ** 2) - a.sum(), G @ (G.T @ a) - 1),
        np.zeros(n),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, c) for c in problem.box],
        options={"maxiter": 100_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30},
    )
    problem.converge(1e-9 if dtype == np.float64 else 1e-5)
    assert problem.dual(problem.alpha) == pytest.approx(-found.fun, rel=tolerance)
    assert problem.primal(problem.point(problem.alpha)) == pytest.approx(-found.fun, rel=tolerance)


# ---- working sets ----


def span_problem(n: int = 500, C: float = 3.0, memory: float = 1e9) -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    basis = Basis.of(X[:25].copy(), kernels.Gaussian(0.5))
    matrix = KernelMatrix(Rows(X, np.float64, None), basis, 1, memory)
    targets = SingleTarget.of_labels(y, C * rng.uniform(0.5, 1.5, n))
    return SpanProblem(matrix, targets), matrix


@pytest.mark.parametrize("memory", [1e9, 1e4])
@pytest.mark.parametrize("C", [0.01, 3.0, 100.0])
def test_rounds_close_the_gap_from_zero(C: float, memory: float) -> None:
    problem, matrix = span_problem(C=C, memory=memory)
    ascent = WorkingSetAscent(
        problem, matrix, np.zeros(500), np.zeros(500), np.random.default_rng(0)
    )
    gaps = [problem.gap]
    while problem.gap > 1e-6 and len(gaps) < 60:
        ascent.round()
        gaps.append(problem.gap)
        assert (ascent.alpha >= 0).all()
        assert (ascent.alpha <= problem.targets.box).all()
    assert (np.diff(gaps) <= 0).all()
    assert gaps[-1] <= 1e-6
    np.testing.assert_allclose(
        problem.point(ascent.alpha), ascent.point, rtol=0, atol=1e-9 * abs(ascent.point).max()
    )


def test_the_working_set_has_all_violators() -> None:
    problem, matrix = span_problem()
    rng = np.random.default_rng(0)
    alpha = problem.targets.box * np.clip(rng.uniform(-1, 2, 500), 0, 1)
    f = problem.values(problem.point(alpha))
    chosen = WorkingSetAscent(problem, matrix, alpha, f, rng)._working_set()
    gradient = 1 - problem.targets.y * f
    free = (alpha > 0) & (alpha < problem.targets.box)
    wrong = ((alpha == 0) & (gradient > 0)) | ((alpha == problem.targets.box) & (gradient < 0))
    np.testing.assert_array_equal(chosen, np.flatnonzero(free | wrong))


# ---- passes until a precision is reached ----


def ascend_until(problem: LinearProblem, precision: float, most: int, seed: int = 0) -> Any:
    """From the state of the problem, over all rows; returns the passes and whether they led there."""
    curvature = np.einsum("ij,ij->i", problem.G, problem.G)
    ones, n = np.ones(len(problem.y)), len(problem.y)
    own = (problem.G, curvature, problem.y, ones, problem.box, problem.alpha, problem.w)
    state = (n, *INFINITE)
    return _core.ascend_until(("hinge", 0.0), *own, np.arange(n), state, precision, most, seed)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_passes_end_where_all_rows_are_near_the_optimum(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    G, y = rng.standard_normal((90, 6)), np.where(rng.random(90) < 0.5, 1.0, -1.0)
    problem = LinearProblem(G, y, np.full(90, 0.7), dtype)
    precision = 1e-3
    passes, settled, _ = ascend_until(problem, precision, 10_000)
    assert settled
    assert passes > 3
    _, upper, lower = problem.ascend(np.arange(90))  # rows that were left out, too
    assert upper - lower <= 1.5 * precision
    best = LinearProblem(G, y, np.full(90, 0.7))
    best.converge()
    assert problem.dual(problem.alpha) == pytest.approx(best.dual(best.alpha), rel=1e-3)


def test_passes_go_on_in_the_next_call_and_depend_on_the_seed() -> None:
    rng = np.random.default_rng(1)
    G, y = rng.standard_normal((60, 4)), np.where(rng.random(60) < 0.5, 1.0, -1.0)

    def after(most: int, seed: int) -> Any:
        problem = LinearProblem(G, y, np.ones(60))
        found = ascend_until(problem, 1e-12, most, seed)
        return found[:2], problem.alpha

    (passes, settled), alpha = after(2, 7)
    assert (passes, settled) == (2, False)
    np.testing.assert_array_equal(after(2, 7)[1], alpha)
    assert (after(2, 8)[1] != alpha).any()


def test_a_state_that_cannot_be_is_refused() -> None:
    problem = make()
    n = len(problem.y)
    own = (problem.G, np.ones(n), problem.y, np.ones(n), problem.box, problem.alpha, problem.w)
    with pytest.raises(ValueError, match="active"):
        _core.ascend_until(("hinge", 0.0), *own, np.arange(n), (n + 1, *INFINITE), 0.1, 1, 0)
    with pytest.raises(ValueError, match="precision"):
        _core.ascend_until(("hinge", 0.0), *own, np.arange(n), (n, *INFINITE), -1.0, 1, 0)

"""The SVM of Weston & Watkins in the span of a basis, against references that share no code with it."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from polish.spans import LITTLE, PLENTY, Seen
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from budgetsvm import kernels
from budgetsvm._common.limits import Limits
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.result import Solving
from budgetsvm._polish.weston_watkins import problem as _weston_watkins
from budgetsvm._polish.weston_watkins.pairs import tournament
from budgetsvm._polish.weston_watkins.problem import WestonWatkins, solve_weston_watkins
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets
from budgetsvm.losses import Hinge

GAMMA = 0.7


def make_problem(
    n: int = 240,
    n_classes: int = 4,
    n_terms: int = 20,
    *,
    memory: float = PLENTY,
    n_threads: int = 1,
    dtype: Any = np.float64,
) -> tuple[KernelMatrix, Any, Any]:
    """A kernel matrix, the features that it stands for, and labels that overlap."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n_classes, 3))[labels] + 0.6 * rng.standard_normal((n, 3))
    basis = Basis.of(X[:n_terms].astype(dtype), kernels.Gaussian(GAMMA))
    matrix = KernelMatrix(Rows(X, dtype, None), basis, n_threads, memory)
    Z = basis.points.astype(np.float64)
    L = np.linalg.cholesky(rbf_kernel(Z, Z, gamma=GAMMA))
    return matrix, np.linalg.solve(L, rbf_kernel(X, Z, gamma=GAMMA).T).T, labels


def classes(labels: Any, n_classes: int, box: Any) -> ClassTargets:
    return ClassTargets(box, Hinge(), labels, n_classes, coupled=True)


def solving(tol: float, most_passes: int = 1000, **options: Any) -> Solving:
    return Solving(Limits(tol, most_passes, np.inf, PLENTY, 1), np.random.default_rng(0), **options)


def solve(
    matrix: KernelMatrix, labels: Any, n_classes: int, box: Any, tol: float = 1e-3
) -> WestonWatkins:
    return solve_weston_watkins(matrix, classes(labels, n_classes, box), solving(tol))


def slacks(G: Any, labels: Any, w: Any) -> Any:
    f = G @ w.T
    t = 1 - (np.take_along_axis(f, labels[:, None], 1) - f)
    np.put_along_axis(t, labels[:, None], -1.0, 1)  # no loss of a class against itself
    return t


def objective(G: Any, labels: Any, box: Any, w: Any) -> float:
    return float(0.5 * np.sum(w * w) + box @ np.maximum(0, slacks(G, labels, w)).sum(axis=1))


def optimum(G: Any, labels: Any, n_classes: int, box: Any) -> float:
    """The smallest P, by L-BFGS on the dual, whose only constraint is its box."""
    n = len(labels)
    others = np.ones((n, n_classes), bool)
    others[np.arange(n), labels] = False
    upper = np.broadcast_to(box[:, None], others.shape)[others]

    def negative_dual(alpha: Any) -> tuple[float, Any]:
        A = np.zeros((n, n_classes))
        A[others] = -alpha
        A[np.arange(n), labels] = -A.sum(axis=1)
        w = A.T @ G
        gradient = slacks(G, labels, w)[others]
        return 0.5 * float(np.sum(w * w)) - float(alpha.sum()), -gradient

    found = minimize(
        negative_dual,
        0.5 * upper,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, C) for C in upper],
        options={"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50},
    )
    return -float(found.fun)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_the_optimum_is_that_of_a_general_solver(C: float, memory: float) -> None:
    matrix, G, labels = make_problem(memory=memory)
    assert matrix.at_hand == (memory == PLENTY)
    box = np.full(matrix.n, C)
    found, expected = solve(matrix, labels, 4, box, tol=1e-5), optimum(G, labels, 4, box)
    assert found.gap <= 1e-5
    assert found.primal == pytest.approx(expected, rel=1e-4)
    assert found.dual <= expected * (1 + 1e-9)
    assert objective(G, labels, box, found.w) == pytest.approx(found.primal, rel=1e-9)


def test_rows_have_weights_of_their_own() -> None:
    matrix, G, labels = make_problem()
    box = np.random.default_rng(1).uniform(0, 5, matrix.n)
    box[::7] = 0
    found = solve(matrix, labels, 4, box, tol=1e-5)
    assert found.primal == pytest.approx(optimum(G, labels, 4, box), rel=1e-4)
    assert objective(G, labels, box, found.w) == pytest.approx(found.primal, rel=1e-9)


def test_a_weight_of_two_is_a_row_twice() -> None:
    matrix, _, labels = make_problem(n=120)
    twice = np.concatenate([np.arange(120), np.arange(60)])
    rows = Rows(np.asarray(matrix.rows.X)[twice], np.float64, None)
    double = KernelMatrix(rows, matrix.basis, 1, PLENTY)
    box = np.where(np.arange(120) < 60, 2.0, 1.0)
    weighted = solve(matrix, labels, 4, box, tol=1e-6)
    repeated = solve(double, labels[twice], 4, np.ones(180), tol=1e-6)
    assert weighted.primal == pytest.approx(repeated.primal, rel=1e-5)


def test_two_classes_are_the_svm_for_two_classes_with_twice_the_C() -> None:
    """With w_1 = -w_2 = u / 2, P = ½ (½‖u‖² + Σ 2 C_i max(0, 1 - y <u, g>))."""
    matrix, G, labels = make_problem(n_classes=2)
    found = solve(matrix, labels, 2, np.full(matrix.n, 1.5), tol=1e-7)
    svm = LinearSVC(C=3.0, loss="hinge", fit_intercept=False, tol=1e-7, max_iter=10**7)
    u = svm.fit(G, labels).coef_[0]
    hinge = np.maximum(0, 1 - np.where(labels == 1, 1, -1) * (G @ u)).sum()
    assert found.primal == pytest.approx(0.5 * (0.5 * u @ u + 3.0 * hinge), rel=1e-5)
    np.testing.assert_allclose(found.w[1] - found.w[0], u, atol=2e-3 * np.linalg.norm(u))
    np.testing.assert_allclose(found.w.sum(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_certificate_holds(tol: float, dtype: Any) -> None:
    matrix, G, labels = make_problem(n=600, dtype=dtype)
    box = np.full(matrix.n, 10.0)
    best = solve(matrix, labels, 4, box, tol=1e-5).primal
    found = solve(matrix, labels, 4, box, tol=tol)
    assert found.gap <= tol
    assert found.gap == pytest.approx((found.primal - found.dual) / found.primal)
    assert found.dual <= best * (1 + 1e-5)
    assert best <= found.primal * (1 + 1e-5)
    exact = objective(G, labels, box, found.w)
    assert found.primal == pytest.approx(exact, rel=1e-4 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("memory", [PLENTY, 3e4])
def test_threads_do_not_change_the_result(memory: float) -> None:
    results = []
    for n_threads in (1, 2, 5):
        # Threads share the memory: so that each has the same, and parts are the same.
        matrix, _, labels = make_problem(
            n=3000, n_classes=7, memory=memory * n_threads, n_threads=n_threads, dtype=np.float32
        )
        matrix.most_some = 1500
        results.append(solve(matrix, labels, 7, np.full(3000, 2.0)))
    for other in results[1:]:
        assert np.array_equal(results[0].w, other.w)
        assert (results[0].primal, results[0].dual) == (other.primal, other.dual)
        assert results[0].passes == other.passes


def test_memory_decides_on_speed_and_not_on_the_solution() -> None:
    box = np.full(800, 5.0)
    found = []
    for memory in (PLENTY, LITTLE):
        matrix, _, labels = make_problem(n=800, memory=memory)
        found.append(solve(matrix, labels, 4, box, tol=1e-4).primal)
    assert found[0] == pytest.approx(found[1], rel=2e-4)


def test_working_sets_smaller_than_needed_still_converge() -> None:
    matrix, _, labels = make_problem(n=800)
    box = np.full(800, 5.0)
    all_at_once = solve(matrix, labels, 4, box, tol=1e-4)
    matrix.most_some = 100
    by_and_by = solve(matrix, labels, 4, box, tol=1e-2)
    assert by_and_by.gap <= 1e-2
    assert by_and_by.primal == pytest.approx(all_at_once.primal, rel=1.1e-2)


def test_a_class_may_have_no_rows() -> None:
    matrix, G, labels = make_problem(n_classes=3)
    labels = np.where(labels == 2, 4, labels)  # of 0..4, neither 2 nor 3 occur
    box = np.ones(matrix.n)
    found = solve(matrix, labels, 5, box, tol=1e-5)
    assert found.w.shape == (5, matrix.basis.dimension)
    assert found.primal == pytest.approx(optimum(G, labels, 5, box), rel=1e-4)
    np.testing.assert_allclose(found.w[2], found.w[3], atol=2e-2)


@pytest.mark.slow
def test_many_classes_with_few_rows_each() -> None:
    matrix, G, labels = make_problem(n=160, n_classes=40)
    box = np.full(160, 3.0)
    found = solve(matrix, labels, 40, box, tol=1e-4)
    assert found.gap <= 1e-4
    assert found.primal == pytest.approx(optimum(G, labels, 40, box), rel=2e-4)


def test_it_stops_when_told_to() -> None:
    matrix, G, labels = make_problem()
    box = np.full(matrix.n, 100.0)
    seen = Seen()
    how = solving(0.0, 2, observer=seen)
    found = solve_weston_watkins(matrix, classes(labels, 4, box), how)
    assert [moment.passes for moment in seen.moments] == [1, 2]
    assert (found.gap, found.passes) == (seen.moments[-1].gap, 2)
    assert seen.moments[-1].objective is seen.moments[-1].state is None
    assert objective(G, labels, box, found.w) == pytest.approx(found.primal, rel=1e-9)


@pytest.mark.slow
def test_a_tolerance_beyond_rounding_errors_comes_to_an_end() -> None:
    matrix, _, labels = make_problem(n=60, n_classes=3)
    never = solve_weston_watkins(matrix, classes(labels, 3, np.ones(60)), solving(0.0, 10**9))
    assert never.gap < 1e-6


@pytest.mark.slow
def test_memory_of_many_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all rows and classes there are no arrays but one in single precision."""
    monkeypatch.setattr(_weston_watkins, "_FEWEST_VARIABLES", 1 << 15)
    monkeypatch.setattr(_weston_watkins, "_VISITS", 0.0)  # memory is the same for all passes
    monkeypatch.setattr(_weston_watkins, "_FEWEST_PASSES", 1)
    n, n_classes = 100_000, 120
    matrix, _, labels = make_problem(n, n_classes, n_terms=10, memory=1e7, dtype=np.float32)
    targets = classes(labels, n_classes, np.full(n, 0.1))
    tracemalloc.start()
    solve_weston_watkins(matrix, targets, solving(1e-2, 1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    shares = 4 * n * n_classes
    assert peak < 2 * shares  # one more, in double, would make it three times as much


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 10])
def test_everybody_plays_everybody_once(n_classes: int) -> None:
    rounds = tournament(n_classes)
    played = [pair for pairs in rounds for pair in pairs]
    assert sorted(played) == [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    for pairs in rounds:
        players = [player for pair in pairs for player in pair]
        assert len(players) == len(set(players))

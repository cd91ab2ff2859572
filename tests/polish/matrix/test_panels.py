"""Rows of panels: the products of kernel values without those that are too small to count."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from model.test_pruning import one_hot_rows
from polish.spans import KINDS
from scipy import sparse

from budgetsvm import kernels
from budgetsvm._common.limits import Limits, OutOfTime
from budgetsvm._model.pruning import OrderedTerms
from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix import panel_groups, panels
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.panel_store import PanelStore
from budgetsvm._polish.matrix.panels import PanelMatrix
from budgetsvm._polish.polish import kernel_matrix
from budgetsvm._polish.result import Polished, Solving
from budgetsvm._polish.solve import polish_in_span
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.losses import EpsilonInsensitive

N, SIZE, LEAST, TOL = 1500, 400, 1e-6, 1e-2
KERNELS = {"rbf": kernels.Gaussian(20.0), "laplacian": kernels.Laplacian(8.0)}
MEMORY = 1e9


def exact_matrix(rows: Rows, basis: Basis) -> KernelMatrix:
    return KernelMatrix(rows, basis, 1, MEMORY)


def make(
    name: str = "rbf",
    *,
    constant: bool = True,
    keep: bool = True,
    n_threads: int = 1,
    dtype: Any = np.float64,
    form: str = "dense",
    memory: float = 1e7,
) -> PanelMatrix:
    X = one_hot_rows(N, 4)
    basis = Basis.of(X[:SIZE].astype(dtype), KERNELS[name], constant=constant)
    rows = Rows(sparse.csr_array(X) if form == "csr" else X, dtype, None)
    store = PanelStore(
        rows, OrderedTerms(basis.points, np.zeros(len(basis)), basis.kernel), LEAST, memory
    )
    if keep:
        store.keep(n_threads, lambda: None)
    return PanelMatrix(store, basis, n_threads, lambda: exact_matrix(rows, basis))


def kernel_values(matrix: PanelMatrix) -> tuple[Any, Any]:
    """All kernel values, and those of panels with one that counts, by plain NumPy."""
    rows, basis, terms = matrix._store.rows, matrix.basis, matrix._store.terms
    X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    X = X.astype(rows.dtype).astype(np.float64)
    K = basis.kernel.matrix(X, basis.points.astype(np.float64))
    lanes, some = terms.store.lanes, np.zeros_like(K)
    for start in range(0, len(basis), lanes):
        own = terms.order[start : start + lanes]
        counts = K[:, own].max(axis=1) >= LEAST
        some[np.ix_(counts, own)] = K[np.ix_(counts, own)]
    one = np.ones((N, basis.dimension - len(basis)))
    return np.hstack([K, one]), np.hstack([some, one])


def blocks_of(gram: Any, groups: Any) -> Any:
    """Diagonal blocks of a matrix, in an array with room for the largest."""
    blocks = np.zeros((len(groups), 128, 128))
    for block, group in zip(blocks, groups, strict=True):
        block[: len(group), : len(group)] = gram[np.ix_(group, group)]
    return blocks


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several groups of few terms, and more groups than tasks."""
    monkeypatch.setattr(panel_groups, "_GROUP", 128)
    monkeypatch.setattr(panel_groups, "_TASKS", 3)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", KERNELS)
def test_products(name: str, keep: bool, constant: bool, dtype: Any, form: str) -> None:
    matrix = make(name, keep=keep, constant=constant, dtype=dtype, form=form)
    assert matrix._store.n_parts > 3
    K, some = kernel_values(matrix)
    assert 0 < np.count_nonzero(some) < 0.5 * some.size
    rng, basis = np.random.default_rng(0), matrix.basis
    atol = 1e-9 if dtype == np.float64 else 1e-3
    chosen = rng.permutation(N)[:600]
    for one, S in ((matrix, some), (matrix.some(chosen), some[chosen])):
        coef, v = rng.standard_normal(basis.dimension), rng.standard_normal(one.n)
        v[200:400] = 0
        w = basis.coordinates(coef)
        indices = rng.permutation(one.n)[:333]
        c = rng.random(333)
        S_some = S[indices]
        for ours, theirs in (
            (one.times(w), S @ coef),
            (one.transposed_times(v), basis.projection(S.T @ v)),
            (one.normal_times(indices, c, coef), S_some.T @ (c * (S_some @ coef))),
            (one.gram(indices, c), (S_some.T * c) @ S_some),
            (one.gram_of_groups(indices, c), blocks_of((S_some.T * c) @ S_some, one.groups)),
            (one.value_rows(indices).rows, S_some),
            (one.feature_rows(indices).rows, basis.features(S_some)),
        ):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol * max(1, abs(theirs).max()))
    v = rng.standard_normal(N)
    f, point = matrix.exactly(w, v)
    np.testing.assert_allclose(f, K @ coef, rtol=0, atol=atol * abs(f).max())
    theirs = basis.projection(K.T @ v)
    np.testing.assert_allclose(point, theirs, rtol=0, atol=atol * abs(theirs).max())


@pytest.mark.parametrize("constant", [True, False])
def test_groups_are_all_terms_and_see_nearly_all_of_their_products(constant: bool) -> None:
    matrix = make(constant=constant)
    everyone = np.concatenate(list(matrix.groups))
    np.testing.assert_array_equal(np.sort(everyone), np.arange(matrix.basis.dimension))
    assert len(matrix.groups) == 4 + constant
    coef = np.random.default_rng(0).standard_normal(matrix.basis.dimension)
    np.testing.assert_allclose(
        matrix.gram_of_terms_times(coef), matrix.basis.gram @ coef, rtol=0, atol=SIZE * LEAST
    )


def test_neither_threads_nor_memory_change_a_bit() -> None:
    matrices = [make(), make(n_threads=3), make(keep=False, n_threads=3)]
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(matrices[0].basis.dimension), rng.standard_normal(N)
    indices, c = rng.permutation(N)[:500], rng.random(500)
    for find in (
        lambda m: m.times(w),
        lambda m: m.transposed_times(v),
        lambda m: m.normal_times(indices, c, w),
        lambda m: m.gram(indices, c),
        lambda m: m.gram_of_groups(indices, c),
        lambda m: m.gram_of_terms_times(w),
        lambda m: m.exactly(w, v)[1],
    ):
        first, *others = (find(matrix) for matrix in matrices)
        for other in others:
            np.testing.assert_array_equal(first, other)


def test_every_product_can_be_interrupted() -> None:
    matrix, calls = make(), 0
    w, v = np.ones(matrix.basis.dimension), np.ones(N)

    def tick(_: float = 0.0) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise OutOfTime

    matrix.tick = tick
    for find in (
        lambda: matrix.times(w),
        lambda: matrix.transposed_times(v),
        lambda: matrix.normal_times(np.arange(N), v, w),
        lambda: matrix.gram(np.arange(N), v),
        lambda: matrix.gram_of_groups(np.arange(N), v),
        lambda: matrix.exactly(w, v),
    ):
        calls = 0
        with pytest.raises(OutOfTime):
            find()


# ---- which matrix is chosen, and what is solved with it ----


def problem(kind: str = "hinge", C: float = 10.0, dtype: Any = np.float32) -> Problem:
    X, loss = one_hot_rows(N, 4), KINDS[kind]
    rng, f = np.random.default_rng(1), np.sin(9 * X[:, 0]) + X[:, 1]
    box = C * rng.uniform(0.5, 1.5, N)
    if isinstance(loss, EpsilonInsensitive):
        targets = SingleTarget(box, loss, np.ones(N), f + 0.2 * rng.standard_normal(N))
    else:
        y = np.where(f + 0.3 * rng.standard_normal(N) > 0, 1.0, -1.0)
        targets = replace(SingleTarget.of_labels(y, box), loss=loss)
    return Problem(Rows(X, dtype, None), targets)


def basis_for(given: Problem, kernel: kernels.Kernel = KERNELS["rbf"]) -> Basis:
    return Basis.of(given.rows.X[:800].astype(given.rows.dtype), kernel, constant=True)


def limits(**changes: Any) -> Limits:
    return replace(Limits(TOL, 500, np.inf, MEMORY, 1), **changes)


def solve(given: Problem, matrix: Matrix, how: Limits) -> Polished:
    return polish_in_span(given, matrix, Solving(how, np.random.default_rng(0)))


@pytest.fixture
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budgetsvm._polish.polish.FEWEST_VALUES", 0)


@pytest.mark.usefixtures("small_ones_too")
def test_the_door_looks_at_a_sample() -> None:
    given = problem()
    basis = basis_for(given)
    assert isinstance(kernel_matrix(given, basis, limits()), PanelMatrix)
    wide = basis_for(given, kernels.Gaussian(0.1))
    assert isinstance(kernel_matrix(given, wide, limits()), KernelMatrix)
    assert isinstance(kernel_matrix(given, basis, limits(memory=1e5)), KernelMatrix)
    assert isinstance(kernel_matrix(given, basis, limits(tol=1e-30)), KernelMatrix)


@pytest.mark.usefixtures("small_ones_too")
def test_free_memory_does_not_change_a_bit() -> None:
    given = problem()
    matrices = [kernel_matrix(given, basis_for(given), limits(room=r)) for r in (np.inf, 1e4)]
    assert [m._store.is_kept for m in matrices if isinstance(m, PanelMatrix)] == [True, False]
    first, second = (solve(given, matrix, limits()) for matrix in matrices)
    np.testing.assert_array_equal(first.coef, second.coef)
    assert (first.primal, first.dual) == (second.primal, second.dual)


def test_few_values_are_not_worth_a_look() -> None:
    given = problem()
    assert isinstance(kernel_matrix(given, basis_for(given), limits()), KernelMatrix)


def true_objective(given: Problem, found: Polished, kernel: kernels.Kernel) -> float:
    """P of a model with all kernel values, in double."""
    X = given.rows.X.astype(given.rows.dtype).astype(np.float64)
    K, K_ZZ = kernel.matrix(X, found.points), kernel.matrix(found.points, found.points)
    f = K @ found.coef[0] + found.bias[0]
    norm = found.coef[0] @ K_ZZ @ found.coef[0] + found.bias[0] ** 2
    targets = given.targets.of_output(0)
    return float(0.5 * norm + targets.cost(targets.slack(f)))


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("small_ones_too")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", KERNELS)
def test_the_certificate_is_of_all_values(name: str, kind: str, dtype: Any) -> None:
    given = problem(kind, dtype=dtype)
    basis = basis_for(given, KERNELS[name])
    matrix = kernel_matrix(given, basis, limits())
    assert isinstance(matrix, PanelMatrix)
    found, theirs = (
        solve(given, matrix, limits()),
        solve(given, exact_matrix(given.rows, basis), limits()),
    )
    assert found.converged
    assert theirs.converged
    rel = 1e-9 if dtype == np.float64 else 1e-5
    assert found.primal == pytest.approx(true_objective(given, found, basis.kernel), rel=rel)
    # Both optima are the same: each P is above the other's D.
    assert found.dual <= theirs.primal * (1 + rel)
    assert theirs.dual <= found.primal * (1 + rel)


@pytest.mark.usefixtures("small_ones_too")
@pytest.mark.parametrize("kind", KINDS)
def test_goes_on_with_all_values_where_too_many_were_left_out(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "_LEAST_VALUE", 0.3 / TOL)
    given = problem(kind)
    basis = basis_for(given)
    matrix = kernel_matrix(given, basis, limits())
    assert isinstance(matrix, PanelMatrix)
    made = []
    make_exact = matrix._make_exact
    monkeypatch.setattr(matrix, "_make_exact", lambda: made.append(1) or make_exact())
    found = solve(given, matrix, limits())
    assert made
    assert not matrix._store.is_kept
    assert found.converged
    assert found.primal == pytest.approx(true_objective(given, found, basis.kernel), rel=1e-5)


@pytest.mark.usefixtures("small_ones_too")
def test_nothing_is_certified_without_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem()
    matrix = kernel_matrix(given, basis_for(given), limits())

    def late(*_: Any) -> Any:
        raise OutOfTime

    monkeypatch.setattr(matrix, "exactly", late)
    found = solve(given, matrix, limits())
    assert not found.converged
    assert found.dual == 0
    assert found.coef.any()


@pytest.mark.usefixtures("small_ones_too")
@pytest.mark.parametrize("endless", [False, True])
def test_time_is_left_for_the_certificate(endless: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where a round of coordinate ascent never ends by itself."""
    if endless:
        monkeypatch.setattr(WorkingSetAscent, "_most_passes", lambda *_: 10**9)
        monkeypatch.setattr(WorkingSetAscent, "_precision", lambda *_: 0.0)
    given = problem()
    # A call of the core takes many passes in one go: then the clock is not asked often.
    now, step = 0.0, 3e-2 if endless else 1e-3

    def clock() -> float:
        nonlocal now
        now += step
        return now

    how = limits(clock=clock, tol=1e-9, deadline=20.0, memory=1e8)
    matrix = kernel_matrix(given, basis_for(given), replace(how, tol=TOL))
    matrix.exact_seconds = 4.0
    found = solve(given, matrix, how)
    assert found.dual > 0
    assert now < 20.0


@pytest.mark.usefixtures("small_ones_too")
def test_half_of_the_time_is_left_where_nobody_knows_what_all_values_take() -> None:
    given, how = problem(), limits(room=1.0)
    matrix = kernel_matrix(given, basis_for(given), how)
    assert isinstance(matrix, PanelMatrix)
    assert not matrix._store.is_kept
    assert matrix.exact_seconds is not None
    assert matrix.exact_seconds > 1e6
    assert solve(given, matrix, how).converged


@pytest.mark.slow
@pytest.mark.usefixtures("small_ones_too")
def test_visits_to_rows_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coordinate ascent takes over where Newton's method ends, on a working set of bounded size."""
    monkeypatch.setattr(panels, "_FEATURE_BYTES", 1)
    given = problem(dtype=np.float64)
    how = limits(tol=1e-5, max_passes=2000)
    matrix = kernel_matrix(given, basis_for(given), replace(how, tol=TOL))
    assert isinstance(matrix, PanelMatrix)
    assert matrix.most_features == 1024
    assert solve(given, matrix, how).gap <= 1e-5

"""The matrix whose parts are results of tasks, beside that of one machine."""

from typing import Any

import numpy as np
import pytest

from budgetsvm import kernels
from budgetsvm._common.limits import Limits
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.newton.approach import Approach
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.distributed import _matrix
from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._matrix import spread_matrix
from budgetsvm.distributed._rounds.asker import add_up
from budgetsvm.distributed._rows import SpreadRows, SpreadX
from budgetsvm.distributed._workers.blocks import checked_block

X = np.random.default_rng(0).standard_normal((500, 3))
LIMITS = Limits(1e-3, 500, np.inf, 1e9, 1)


def both(client: Any, dtype: Any = np.float64) -> tuple[Any, Any, Cluster]:
    cluster = Cluster(client)
    parts = (X[:100], X[100:130], X[130:])
    blocks = [cluster.once("rows", checked_block, part) for part in parts]
    spread = SpreadX(cluster, blocks, np.array([100, 130, 500]), 3, is_sparse=False, row_bytes=24)
    basis = Basis.of(X[:40].astype(dtype), kernels.Gaussian(0.3), constant=True, free=True)
    targets = SingleTarget.of_labels(np.ones(500), np.ones(500))
    problem = Problem(SpreadRows(spread, dtype, None), targets)
    ours = KernelMatrix(Rows(X, dtype, None), basis, 1, 1e9)
    return ours, spread_matrix(problem, basis, LIMITS, None), cluster


@pytest.mark.parametrize("here", [0, 1 << 28])
def test_products_are_those_of_the_kernel_matrix(
    client: Any, monkeypatch: pytest.MonkeyPatch, here: int
) -> None:
    monkeypatch.setattr(_matrix, "_HERE", here)
    ours, theirs, _ = both(client)
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(ours.basis.dimension), rng.standard_normal(ours.n)
    few = np.where(rng.random(ours.n) < 0.1, v, 0.0)
    chosen, shuffled = np.sort(rng.permutation(500)[:70]), rng.permutation(500)[:70]
    end = np.arange(110, 200)  # nothing of the first part
    pairs = [(ours.some(rows), theirs.some(rows)) for rows in (chosen, shuffled, end)]
    pairs.append((pairs[0][0].some(np.arange(9)), pairs[0][1].some(np.arange(9))))
    for one, other in ((ours, theirs), *pairs):
        indices = rng.permutation(one.n)[: one.n // 2]
        c = rng.random(len(indices))
        for find in (
            lambda matrix: matrix.times(w),
            lambda matrix: matrix.transposed_times(v[: matrix.n]),
            lambda matrix: matrix.transposed_times(few[: matrix.n]),
            lambda matrix, i=indices, c=c: matrix.normal_times(i, c, w),
            lambda matrix, i=indices, c=c: matrix.gram(i, c),
        ):
            np.testing.assert_allclose(find(other), find(one), rtol=0, atol=1e-9)
    nothing = theirs.transposed_times(np.zeros(500))
    np.testing.assert_array_equal(nothing, np.zeros(ours.basis.dimension))


@pytest.mark.parametrize(("here", "most"), [(0, 500), (41 * 8 * 409, 500), (41 * 8 * 410, 410)])
def test_samples_come_to_the_client_where_there_are_enough_rows_for_one(
    client: Any, monkeypatch: pytest.MonkeyPatch, here: int, most: int
) -> None:
    """Larger ones would need a round of all workers for every product; too small ones say nothing."""
    monkeypatch.setattr(_matrix, "_HERE", here)
    _, theirs, _ = both(client)
    assert theirs.basis.dimension == 41
    span = SpanProblem(theirs, SingleTarget.of_labels(np.ones(500), np.ones(500)))
    way = Approach(span, HessianSolver(theirs.basis), np.random.default_rng(0), bool, 1e-2)
    assert min(way._most_sampled(41), 500) == most
    sample = theirs.some(np.arange(min(most, theirs.most_sampled)))
    assert isinstance(sample, KernelMatrix) or not here


@pytest.mark.parametrize("here", [0, 20_000, 1 << 28])  # none, those of few terms, all
def test_other_terms_for_the_same_rows(
    client: Any, monkeypatch: pytest.MonkeyPatch, here: int
) -> None:
    monkeypatch.setattr(_matrix, "_HERE", here)
    ours, theirs, _ = both(client)
    other = Basis.plain(X[50:55].copy(), kernels.Gaussian(0.3))
    v = np.random.default_rng(0).standard_normal(500)
    rows = np.arange(20, 300)
    for one, two in (
        (ours.against(other), theirs.against(other)),
        (ours.some(rows).against(other), theirs.some(rows).against(other)),
    ):
        found = two.transposed_times(v[: two.n])
        np.testing.assert_allclose(found, one.transposed_times(v[: two.n]), atol=1e-9)


def test_weights_of_a_system_travel_once(client: Any) -> None:
    _, matrix, cluster = both(client)
    indices, weights = np.arange(400), np.random.default_rng(0).random(400)
    coef = np.ones(matrix.basis.dimension)
    matrix.normal_times(indices, weights, coef)
    before = cluster.traffic.sent
    matrix.normal_times(indices, weights, coef)
    assert coef.nbytes <= cluster.traffic.sent - before <= 3 * coef.nbytes  # once per task
    weights[0] += 1  # in place: not the same any more
    once = matrix.normal_times(indices, weights, coef)
    again = matrix.normal_times(indices.copy(), weights.copy(), coef)
    np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize("count", [1, 16, 17, 300])
def test_sums_by_a_tree_are_those_without(
    client: Any, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    parts = list(np.random.default_rng(0).standard_normal((count, 5)))
    found = []
    for most in (1 << 20, 0):
        monkeypatch.setattr("budgetsvm.distributed._cluster.AT_CLIENT", most)
        cluster = Cluster(client)
        found.append(cluster.total("test", (5,), np.array, parts))
        assert cluster.traffic.rounds == 1
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], add_up(parts), atol=1e-12)


def test_rows_are_fetched_in_any_order(client: Any) -> None:
    _, _, cluster = both(client)
    blocks = [cluster.once("rows", checked_block, part) for part in (X[:100], X[100:])]
    spread = SpreadX(cluster, blocks, np.array([100, 500]), 3, is_sparse=False, row_bytes=24)
    for chosen in (np.array([499, 3, 3, 120, 0]), np.array([], int), slice(90, 110), np.arange(7)):
        np.testing.assert_array_equal(spread[chosen], X[chosen])
    sparse = spread.as_sparse()[np.array([499, 3])]
    np.testing.assert_array_equal(sparse.toarray(), X[[499, 3]])


def test_few_rows_come_to_the_client_once(client: Any) -> None:
    _, theirs, cluster = both(client)
    some = theirs.some(np.arange(0, 500, 5))
    before = cluster.traffic.rounds
    some.times(np.zeros(theirs.basis.dimension))
    some.gram(np.arange(20), np.ones(20))
    assert cluster.traffic.rounds == before
    assert isinstance(some, KernelMatrix)

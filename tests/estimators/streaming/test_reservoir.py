"""The sample of a stream: uniform whatever the blocks and capacities, a value, small, the same bytes again."""

import pickle
import tracemalloc
from typing import Any

import joblib
import numpy as np
import pytest
from oracles.problems import noisy_xor
from scipy import sparse, stats

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._estimators.streaming.reservoir import Reservoir

KINDS = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csr_matrix]


def table(n: int) -> np.ndarray:
    return np.column_stack([np.arange(n) + 1.0, np.zeros(n), -np.arange(n) - 1.0])


def add(reservoir: Reservoir, first: int, count: int, kind: Any = np.asarray) -> Reservoir:
    """Offer rows with these numbers."""
    numbers = np.arange(first, first + count)
    return reservoir.with_rows(kind(table(first + count)[first:]), numbers, numbers + 0.5)


def kept(reservoir: Reservoir) -> np.ndarray:
    """Return the numbers of the rows that are kept, after a check that rows stay together."""
    rows, numbers, weights = reservoir.rows()
    rows = rows.toarray() if sparse.issparse(rows) else rows
    np.testing.assert_array_equal(rows, table(reservoir.seen)[numbers])
    np.testing.assert_array_equal(weights, numbers + 0.5)
    assert len(set(numbers.tolist())) == len(numbers) == reservoir.size
    assert sum(map(len, reservoir._parts)) <= 2 * reservoir.size
    return numbers


def draw(
    seed: int, sizes: list[int], capacity: int = 20, n: int = 100, kinds: Any = (np.asarray,)
) -> np.ndarray:
    """Return what is kept of n rows that come in blocks of these sizes and kinds, over and over."""
    reservoir, k = Reservoir(capacity, seed), 0
    while reservoir.seen < n:
        count = min(sizes[k % len(sizes)], n - reservoir.seen)
        reservoir, k = add(reservoir, reservoir.seen, count, kinds[k % len(kinds)]), k + 1
    assert reservoir.size == min(capacity, n)
    return kept(reservoir)


def assert_uniform(counts: np.ndarray, pairs: int, repeats: int, size: int = 20) -> None:
    """Each of 100 rows is kept equally often, and so is each pair of neighbours."""
    # The variance of a count in sampling without replacement; the counts sum to a constant.
    share = size / 100
    chi_square = np.sum((counts - repeats * share) ** 2) / (repeats * share * (1 - share))
    assert stats.chi2.sf(chi_square * (99 / 100), 99) > 1e-4
    expected = repeats * 99 * (size * (size - 1)) / (100 * 99)
    assert pairs == pytest.approx(expected, rel=0.1)


ONE_BY_ONE = pytest.param([1] * 100, marks=pytest.mark.slow)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sizes", [[100], ONE_BY_ONE, [13] * 8, [20, 80], [19, 81], [21, 79]])
def test_the_sample_is_uniform(sizes: list[int]) -> None:
    counts, pairs = np.zeros(100), 0
    for seed in range(600):
        chosen = np.zeros(100, bool)
        chosen[draw(seed, sizes)] = True
        counts += chosen
        pairs += int(np.sum(chosen[1:] & chosen[:-1]))
    assert_uniform(counts, pairs, 600)


@pytest.mark.parametrize(("first", "then"), [(60, 20), (100, 30), (25, 20), (31, 7)])
def test_the_sample_is_uniform_after_the_capacity_was_lowered(first: int, then: int) -> None:
    counts, pairs = np.zeros(100), 0
    for seed in range(1200):
        reservoir = add(Reservoir(first, seed), 0, 70).with_capacity(then)
        assert len(kept(reservoir)) == then  # at once
        chosen = np.zeros(100, bool)
        chosen[kept(add(reservoir, 70, 30))] = True
        counts += chosen
        pairs += int(np.sum(chosen[1:] & chosen[:-1]))
    assert_uniform(counts, pairs, 1200, then)


def test_a_raised_capacity_counts_as_long_as_nothing_was_dropped() -> None:
    full = add(Reservoir(50, 0), 0, 40)
    raised = add(full.with_capacity(90), 40, 40)
    np.testing.assert_array_equal(kept(raised), np.arange(80))
    np.testing.assert_array_equal(kept(raised), kept(add(Reservoir(90, 0), 0, 80)))
    late = add(full, 40, 40).with_capacity(90)
    assert late.capacity == late.size == 50
    assert len(kept(add(late, 80, 40))) == 50
    lower = full.with_capacity(45)  # above its size: nothing is lost
    np.testing.assert_array_equal(kept(add(lower, 40, 5)), np.arange(45))


@pytest.mark.parametrize("kinds", [[kind] for kind in KINDS] + [KINDS, KINDS[::-1]], ids=len)
def test_neither_kinds_of_rows_nor_blocks_matter(kinds: Any) -> None:
    expected = draw(5, [100])
    for sizes in ([7, 30, 1], [100], [1], [50, 2]):
        np.testing.assert_array_equal(draw(5, sizes, kinds=kinds), expected)
    assert set(draw(6, [100])) != set(expected)
    np.testing.assert_array_equal(draw(1, [3], capacity=200, kinds=kinds), np.arange(100))


def test_single_and_double_rows_may_alternate() -> None:
    one, two = np.float32([[0.1]]), np.array([[0.1]])
    reservoir = Reservoir(9, 0).with_rows(one, np.zeros(1), np.ones(1))
    rows, _, _ = reservoir.with_rows(two, np.zeros(1), np.ones(1)).rows()
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, [[np.float64(np.float32(0.1))], [0.1]])


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_value(kind: Any) -> None:
    """What is done with it, and to the rows that it was given, leaves it as it is."""
    data = kind(table(30))
    reservoir = Reservoir(20, 3).with_rows(data, np.arange(30), np.arange(30) + 0.5)
    before, bytes_before = kept(reservoir), pickle.dumps(reservoir)
    if sparse.issparse(data):
        data.data[:] = 7
    else:
        data[:] = 7
    add(reservoir, 30, 1000, kind)
    add(reservoir.with_capacity(3), 30, 1000, kind)
    np.testing.assert_array_equal(kept(reservoir), before)
    assert pickle.dumps(reservoir) == bytes_before


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_it_may_be_read_only(kind: Any) -> None:
    reservoir = add(Reservoir(20, 3), 0, 30, kind)
    for array in (reservoir._places, reservoir._parts[0].weights, reservoir._parts[0].encoded):
        array.flags.writeable = False
    np.testing.assert_array_equal(kept(add(reservoir, 30, 70, kind)), draw(3, [30, 70]))


def test_a_pickle_goes_on_as_the_original() -> None:
    reservoir = Reservoir(20, 3)
    for first in range(0, 90, 5):
        reservoir = add(reservoir, first, 5)
    again = pickle.loads(pickle.dumps(reservoir))
    assert sum(map(len, again._parts)) == again.size == 20  # nothing but the sample
    np.testing.assert_array_equal(kept(add(again, 90, 10)), draw(3, [100]))


# ---- in an estimator ----


def estimator(kind: Any, **options: Any) -> Any:
    return kind(**{"gamma": 1.0, "budget": 15, "random_state": 0, "n_jobs": 1, **options})


ESTIMATORS = [BudgetSVC, BudgetSVR, BudgetOneClassSVM]
X, Y = noisy_xor(600, 1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_equal_models_are_equal_bytes(kind: Any, form: Any) -> None:
    def model() -> Any:
        streamed = estimator(kind)
        for start in (0, 200, 400):
            streamed.partial_fit(form(X[start : start + 200]), Y[start : start + 200])
        for record in streamed.history_:
            record["seconds"] = 0.0  # what was measured
        return streamed

    first = pickle.dumps(model())
    # Memory that is used again holds something else than at first.
    junk = [np.full(size, np.pi) for size in (50_000, 500_000, 1000)]
    del junk
    assert pickle.dumps(model()) == first
    assert len(first) < 2 * X.nbytes + 20_000


@pytest.mark.parametrize("capacity", [10**10, 10**18, 10**25])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_capacity_takes_no_memory(kind: Any, capacity: int) -> None:
    tracemalloc.start()
    try:
        model = estimator(kind, reservoir=capacity).partial_fit(X, Y).partial_fit(X, Y)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert model._reservoir.size == 1200
    assert model.polish_now().converged_


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_model_in_a_file_that_cannot_be_written(kind: Any, form: Any, tmp_path: Any) -> None:
    model = estimator(kind, reservoir=250).partial_fit(form(X[:300]), Y[:300])
    joblib.dump(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    for one in (mapped, model):
        one.partial_fit(form(X[300:]), Y[300:]).polish_now()
    np.testing.assert_array_equal(mapped.dual_coef_, model.dual_coef_)
    assert (tmp_path / "model").read_bytes() == before


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_parameter_may_change_in_a_stream(kind: Any) -> None:
    model = estimator(kind, reservoir=300).partial_fit(X[:200], Y[:200])
    model.set_params(reservoir=100).polish_now()  # at once
    assert model._reservoir.size == 100
    model.partial_fit(X[200:300], Y[200:300])
    assert (model._reservoir.size, model._reservoir.seen) == (100, 300)
    model.set_params(reservoir=0)
    with pytest.raises(ValueError, match="there are no rows to polish with"):
        model.polish_now()
    assert model.partial_fit(X[300:], Y[300:])._reservoir is None
    model.set_params(reservoir=100).partial_fit(X[:50], Y[:50])
    with pytest.raises(ValueError, match=r"sample of the last 50 rows only.* seen 650"):
        model.polish_now()

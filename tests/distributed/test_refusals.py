"""Data and clusters that will not do are told of, before anybody works."""

import asyncio
from types import SimpleNamespace
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client
from sklearn.datasets import make_moons

from budgetsvm.distributed import ClusterError, DaskBudgetSVC
from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._rounds.placement import Whereabouts

X, Y = make_moons(1200, noise=0.2, random_state=0)
OPTIONS: dict[str, Any] = {"C": 10.0, "gamma": 2.0, "budget": 20, "random_state": 0}


def fit(blocks: list[Any], **options: Any) -> DaskBudgetSVC:
    return DaskBudgetSVC(**OPTIONS | options).fit([dask.delayed(one, pure=False) for one in blocks])


def parts(*bounds: int) -> list[Any]:
    ends = [*bounds[1:], len(X)]
    return [(X[a:b], Y[a:b]) for a, b in zip(bounds, ends, strict=True)]


@pytest.fixture(autouse=True)
def _cluster(client: Any) -> None:
    """All of these have one."""


def test_empty_partitions_do_no_harm() -> None:
    whole = fit(parts(0, 500))
    gaps = fit(parts(0, 0, 500, 500))
    np.testing.assert_array_equal(gaps.dual_coef_, whole.dual_coef_)


def test_partitions_of_one_class() -> None:
    order = np.argsort(Y, kind="stable")
    blocks = [(X[order[a : a + 300]], Y[order[a : a + 300]]) for a in range(0, len(X), 300)]
    assert fit(blocks).converged_


def test_partitions_of_different_types() -> None:
    blocks = parts(0, 300, 600, 900)
    rows = np.round(4 * X[900:]).astype(np.int32)
    blocks[1] = (blocks[1][0].astype(np.float32), blocks[1][1].astype(np.int8))
    blocks[3] = (rows, blocks[3][1])
    assert fit(blocks).converged_


def test_one_large_partition() -> None:
    assert fit(parts(0, 5, 10, 15)).converged_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (np.where(np.arange(len(X))[:, None] == 7, np.nan, X), y), "1: .*NaN.*row 7"),
        (lambda X, y: (X[:, :1], y), "differ in their features: 2 in partition 0, 1 in"),
        (lambda X, y: (X, y[:-1]), "partition 1: X has 300 rows, but y has 299"),
        (lambda X, y: (X, np.where(y, np.nan, 1.0)), "partition 1: y contains NaN"),
        (lambda X, _: X, "differ in their targets"),
        (lambda X, y: (X[:, 0], y), "partition 1: X must have two axes"),
        (lambda X, _: (X.astype(str), np.array(["a"])), "partition 1: X has 300 rows"),
        (lambda X, y: (np.full(X.shape, "a"), y), "partition 1: could not convert"),
    ],
)
def test_flaws_are_told_with_their_partition(change: Any, message: str) -> None:
    blocks = parts(0, 300, 600, 900)
    blocks[1] = change(*blocks[1])
    with pytest.raises(ValueError, match=message):
        fit(blocks)


def test_one_class_alone() -> None:
    blocks = [(rows, np.zeros(len(rows))) for rows, _ in parts(0, 600)]
    with pytest.raises(ValueError, match="only one class"):
        fit(blocks)


def test_no_rows() -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        fit([(X[:0], Y[:0])])


def test_no_labels() -> None:
    with pytest.raises(ValueError, match="y is missing"):
        fit([X[:600], X[600:]])


def test_partitions_too_large_for_a_worker(make_client: Any) -> None:
    rows = da.zeros((1_000_000, 50), chunks=(500_000, 50))
    with (
        make_client(1, memory_limit="300MB") as client,
        pytest.raises(ValueError, match="partition 0 of X has 191 MiB, too much for a worker"),
    ):
        DaskBudgetSVC(**OPTIONS).fit(rows, np.zeros(1_000_000), client=client)


def test_partitions_that_do_not_match() -> None:
    rows, labels = da.from_array(X, chunks=(300, 2)), da.from_array(Y, chunks=400)
    with pytest.raises(ValueError, match="X has 1200 rows, but y has 1199"):
        DaskBudgetSVC(**OPTIONS).fit(rows, labels[:-1])
    with pytest.raises(ValueError, match="4 partitions, but y has 3, and of unknown sizes"):
        DaskBudgetSVC(**OPTIONS).fit(rows, labels[labels >= 0])
    with pytest.raises(ValueError, match="X has 1200 rows, but y has 1199"):
        DaskBudgetSVC(**OPTIONS).fit(rows, Y[:-1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warm_start": True}, "warm_start"),
        ({"polish": False}, "polish=True"),
        ({"budget": None}, "a budget"),
        ({"kernel": "precomputed"}, "all pairs"),
        ({"multi_class": "weston-watkins"}, "'ovo' or 'ovr'"),
        ({"C": -1.0}, "C must be"),
    ],
)
def test_options_that_are_for_one_machine(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(parts(0, 600), **options)


def test_rows_in_memory_are_for_the_ordinary_estimator() -> None:
    with pytest.raises(TypeError, match="Dask array"):
        DaskBudgetSVC(**OPTIONS).fit(X, Y)
    model = fit(parts(0, 600))
    with pytest.raises(ValueError, match="to_local"):
        model.partial_fit(X, Y)


def test_a_fit_that_fails_leaves_the_model_as_it_was() -> None:
    model = fit(parts(0, 600))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit([dask.delayed((np.full((9, 2), np.nan), np.zeros(9)))])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


def test_without_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    def nobody(*args: Any, **named: Any) -> Any:
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr(distributed, "get_client", nobody)
    with pytest.raises(ClusterError, match=r"make a dask.distributed.Client first"):
        fit(parts(0, 600))


def test_an_asynchronous_client_is_refused(client: Any) -> None:
    async def try_it() -> None:
        async with Client(client.scheduler.address, asynchronous=True) as other:
            with pytest.raises(TypeError, match="must not be asynchronous"):
                DaskBudgetSVC(**OPTIONS).fit([dask.delayed(parts(0)[0])], client=other)

    asyncio.run(try_it())


def test_nobody_answers_where_results_are() -> None:
    """Then every partition is a task, and whoever waits for these finds out why."""

    class Silent(Cluster):
        def __init__(self) -> None:
            self._patience = 0.01
            self.client = SimpleNamespace(scheduler=SimpleNamespace(who_has=self._nothing))

        async def _nothing(self, **_: Any) -> None:
            raise OSError("connection lost")

    assert asyncio.run(Silent()._who_has(["a"])) == Whereabouts({}, {}, {})

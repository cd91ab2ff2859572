"""Workers with little memory: what Dask is told, what is fetched at once, and rows that do not fit."""

import os
import pickle
import resource
from typing import Any

import numpy as np
import pytest

from budgetsvm import kernels
from budgetsvm.distributed import DaskBudgetSVC
from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._rows import SpreadX
from budgetsvm.distributed._workers import memory
from budgetsvm.distributed._workers.blocks import Block, checked_block
from budgetsvm.distributed._workers.members import Member, Terms

MB = 1 << 20
X = np.random.default_rng(0).standard_normal((60, 3))


def limited(monkeypatch: pytest.MonkeyPatch, limit: float | None, before: float) -> None:
    """Have a worker of this limit, whose process took so much before there was any result."""
    monkeypatch.setattr(memory, "_known", [limit])
    monkeypatch.setattr(memory, "_before", before)


@pytest.mark.parametrize("limit", [400 * MB, 512 * MB, 1024 * MB, 8192 * MB])
def test_results_and_the_process_fit_below_where_dask_writes_to_disk(
    monkeypatch: pytest.MonkeyPatch, limit: float
) -> None:
    before = 0.4 * 400 * MB
    limited(monkeypatch, limit, before)
    told = memory.counted(MB)
    most = 0.6 * limit / told * MB  # of results, that Dask keeps in memory
    assert before + most <= 0.6 * limit * 1.001
    assert told >= MB


def test_without_a_limit_bytes_are_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, None, 200 * MB)
    assert memory.counted(12345) == 12345


def test_a_process_beyond_its_limit_still_counts_in_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited(monkeypatch, 100 * MB, 200 * MB)
    assert MB < memory.counted(MB) < 100 * MB


def test_blocks_tell_more_on_small_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Block(X, None, None)
    limited(monkeypatch, None, 200 * MB)
    plain = block.__sizeof__()
    assert plain >= X.nbytes
    limited(monkeypatch, 512 * MB, 200 * MB)
    assert block.__sizeof__() > 2 * plain


def test_members_that_were_written_to_disk_hold_no_kernel_values() -> None:
    terms = Terms(kernels.Gaussian(0.5), X[:5], 5, np.float64, None, False, True, None)
    member = Member(checked_block(X), terms)
    opened = pickle.loads(pickle.dumps(member))
    assert member._bytes == 60 * 5 * 8
    assert opened._bytes == 0
    coef = np.arange(5.0)
    np.testing.assert_array_equal(member.matrix.times(coef), opened.matrix.times(coef))


@pytest.mark.parametrize("room", [1.0, 500.0, 1000.0, np.inf])
def test_no_more_is_fetched_at_once_than_workers_have_room_for(
    client: Any, monkeypatch: pytest.MonkeyPatch, room: float
) -> None:
    cluster = Cluster(client)
    monkeypatch.setattr(Cluster, "room_on_the_way", lambda _: room)
    ends = np.array([10, 20, 40, 60])
    blocks = [cluster.once("rows", checked_block, part) for part in np.split(X, ends[:-1])]
    spread = SpreadX(cluster, blocks, ends, 3, is_sparse=False, row_bytes=24)
    sizes: list[int] = []
    ask = Cluster.ask

    def watched(self: Cluster, what: str, *arguments: Any, **common: Any) -> Any:
        parts = ask(self, what, *arguments, **common)
        sizes.append(sum(part.nbytes for part in parts))
        return parts

    monkeypatch.setattr(Cluster, "ask", watched)
    np.testing.assert_array_equal(spread[:], X)
    assert sum(sizes) == X.nbytes
    largest = 20 * 24  # a partition is fetched in one piece
    assert all(size <= max(room, largest) for size in sizes)


def test_room_on_the_way_goes_by_all_workers(make_client: Any) -> None:
    with make_client(2, memory_limit=512 * MB) as small:
        assert Cluster(small).room_on_the_way() == 2 * 512 * MB / 16
    with make_client(1, memory_limit=0) as unlimited:
        assert Cluster(unlimited).room_on_the_way() == np.inf


def _made(number: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(number)
    rows = rng.standard_normal((10_000, 200), dtype=np.float32)
    return rows, np.where(rows[:, 0] + rows[:, 1] * rows[:, 2] > 0, 1, -1)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.slow
def test_rows_of_four_times_the_memory_of_all_workers(make_client: Any) -> None:
    dask = pytest.importorskip("dask")
    limit = 448 * MB
    count = 4 * limit // (10_000 * 200 * 4)
    with make_client(1, processes=True, memory_limit=limit) as client:
        blocks = [dask.delayed(_made)(number) for number in range(count)]
        model = DaskBudgetSVC(C=1.0, budget=20, random_state=0, n_jobs=1)
        before = client.run(os.getpid)
        model.fit(blocks, client=client)
        # Dask ends whoever takes more than 0.95 of its limit, and starts another one.
        assert client.run(os.getpid) == before
        peak = max(client.run(_peak).values())
    assert model.converged_
    assert peak <= limit

"""Rounds have a task per thread, and not per partition; nothing that is found depends on it."""

from typing import Any

import numpy as np
import pytest
from distributed import wait

from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._rounds import placement
from budgetsvm.distributed._rounds.placement import Placement, Whereabouts, each

KEYS = [f"part-{i}" for i in range(6)]
HOLDERS = {key: ["a", "b"] if i == 0 else ["ab"[i % 2]] for i, key in enumerate(KEYS)}


@pytest.fixture
def partitions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, int]]:
    """Rows of a round, whose partitions are known by their names."""
    monkeypatch.setattr(placement, "Future", _Named)
    return [(_Named(key), i) for i, key in enumerate(KEYS)]


class _Named:
    def __init__(self, key: str) -> None:
        self.key = key


def whereabouts(threads: int = 1, limit: float | None = 1000, size: int = 10) -> Whereabouts:
    worker = {"nthreads": threads, "memory_limit": limit}
    return Whereabouts(HOLDERS, dict.fromkeys(KEYS, size), {"a": worker, "b": worker})


@pytest.mark.parametrize(
    ("found", "groups"),
    [
        (whereabouts(), [[0, 2, 4], [1, 3, 5]]),
        (whereabouts(threads=2), [[0, 4], [2], [1, 5], [3]]),
        (whereabouts(threads=9), [[0], [2], [4], [1], [3], [5]]),
        (whereabouts(limit=None, size=10**9), [[0, 2, 4], [1, 3, 5]]),
        (whereabouts(limit=0, size=10**9), [[0, 2, 4], [1, 3, 5]]),
        (whereabouts(size=166), [[0, 2, 4], [1, 3, 5]]),
        (whereabouts(size=167), [[0], [2], [4], [1], [3], [5]]),  # some may be on disk
        (whereabouts()._replace(workers={}), [[0], [2], [4], [1], [3], [5]]),
        (Whereabouts({**HOLDERS, KEYS[3]: []}, {}, {}), [[0], [1], [2], [3], [4], [5]]),
        (Whereabouts({}, {}, {}), [[0], [1], [2], [3], [4], [5]]),
    ],
)
def test_groups(partitions: Any, found: Whereabouts, groups: list[list[int]]) -> None:
    assert Placement(lambda _: found).groups(partitions) == groups


def test_the_scheduler_is_asked_now_and_then(
    partitions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    now = [0.0]
    monkeypatch.setattr(placement, "perf_counter", lambda: now[0])

    def look(keys: list[str]) -> Whereabouts:
        asked.append(keys)
        return whereabouts()

    place = Placement(look)
    for now[0] in (0.0, 1.0, 1.9, 2.1, 2.2):
        place.groups(partitions)
    assert asked == [KEYS, KEYS]
    place.groups(partitions[:4])
    assert asked[2:] == [KEYS[:4]]
    for few in (partitions[:1], [], [(1, 2), (3, 4)]):  # nothing to put together
        assert place.groups(few) == [[i] for i in range(len(few))]
    assert len(asked) == 3


def test_each_is_a_function_of_every_row() -> None:
    assert each(lambda a, b, c: a + b * c, [(1, 2), (3, 4)], {"c": 10}) == [21, 43]


@pytest.mark.parametrize("nested", [False, True])
def test_what_is_asked_of_a_cluster(client: Any, nested: bool) -> None:
    cluster = Cluster(client)
    values = [np.arange(3.0) + i for i in range(7)]
    futures = cluster.keep("values", np.array, values)

    def double(value: Any, factor: float, *, plus: float) -> Any:
        return factor * (value[0] if isinstance(value, list) else value) + plus

    expected = [(i + 1) * value + 0.5 for i, value in enumerate(values)]
    rows = [[future] for future in futures] if nested else futures
    for _ in range(2):  # nobody has them yet, or somebody has
        found = cluster.ask("double", double, rows, range(1, 8), plus=0.5)
        np.testing.assert_array_equal(found, expected)
        total = cluster.total("double", (3,), double, rows, iter(range(1, 8)), plus=0.5)
        np.testing.assert_allclose(total, np.sum(expected, axis=0))
        wait(futures)
    threads = sum(client.nthreads().values())
    groups = cluster._placement.groups([(row,) for row in rows])
    assert len(groups) <= threads
    assert sorted(i for group in groups for i in group) == list(range(7))


def test_a_partition_that_fails_says_why(client: Any) -> None:
    cluster = Cluster(client)
    futures = cluster.keep("values", np.array, [1.0, 0.0, 2.0])
    wait(futures)

    def inverse(value: Any) -> float:
        if value == 0:
            raise ZeroDivisionError("no inverse")
        return float(1 / value)

    with pytest.raises(ZeroDivisionError, match="no inverse"):
        cluster.ask("inverse", inverse, futures)

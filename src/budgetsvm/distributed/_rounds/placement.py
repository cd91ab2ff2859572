"""Who does what of a round: a task for each thread that has partitions, and not for each partition.

The scheduler needs milliseconds for a task, whatever that computes. What is computed of a partition does not depend on who
shares its task, so no bit hangs on this.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

from distributed import Future

_FRESH = 2.0  # seconds, after which workers may have come or gone
# Of a worker's limit: where partitions take more, Dask writes some to disk, and a task needs all of its own in memory.
_ROOMY = 0.5


class Whereabouts(NamedTuple):
    """The workers that have a result, and its bytes, by its key; and what the scheduler knows of each worker."""

    holders: Mapping[str, Sequence[str]]
    sizes: Mapping[str, int]
    workers: Mapping[str, Mapping[str, Any]]


class _Plan(NamedTuple):
    made: float
    groups: list[list[int]]


class Placement:
    """Puts the partitions of a round into groups; `look` asks the scheduler who has what."""

    def __init__(self, look: Callable[[list[str]], Whereabouts]) -> None:
        self._look = look
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def groups(self, rows: Sequence[Sequence[Any]]) -> list[list[int]]:
        """Return the numbers of rows that one task is to do; each by itself where nobody has its partition yet."""
        keys = tuple(map(_partition, rows))
        singles = [[i] for i in range(len(rows))]
        if len(rows) < 2 or not all(keys):
            return singles
        now = perf_counter()
        plan = self._plans.get(keys)
        if plan is None or now - plan.made > _FRESH:
            found = self._look(list(keys))
            if not all(found.holders.get(key) for key in keys):
                return singles
            fresh = {k: v for k, v in self._plans.items() if now - v.made <= _FRESH}
            plan = _Plan(now, _by_thread(keys, found))
            self._plans = {**fresh, keys: plan}
        return plan.groups


def each(
    function: Callable[..., Any], rows: Sequence[Sequence[Any]], common: Mapping[str, Any]
) -> list[Any]:
    """Return the values of a function of several partitions."""
    return [function(*row, **common) for row in rows]


def _by_thread(keys: Sequence[str], found: Whereabouts) -> list[list[int]]:
    """Return partitions in groups, one for each thread of the worker that has them."""
    of_worker: dict[str, list[int]] = {}
    for i, key in enumerate(keys):
        of_worker.setdefault(found.holders[key][0], []).append(i)
    groups = []
    for worker, own in of_worker.items():
        known = found.workers.get(worker, {"nthreads": len(own)})
        limit = known.get("memory_limit") or inf
        roomy = sum(found.sizes[keys[i]] for i in own) <= _ROOMY * limit
        count = min(len(own), known["nthreads"]) if roomy else len(own)
        groups += [own[k::count] for k in range(count)]
    return groups


def _partition(value: Any) -> str:
    """Return the key of the first future in what a task is given; nothing: there is none."""
    if isinstance(value, Future):
        return str(value.key)
    if isinstance(value, list | tuple):
        return next(filter(None, map(_partition, value)), "")
    return ""

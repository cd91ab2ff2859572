"""Rounds on a Dask cluster: a pure function of every partition, and what the results add up to.

Whatever a task needs is either the result of another task or written into it. So the scheduler, which knows all of
them, computes again what is lost with a worker; nothing is scattered, as what was scattered would be gone for good. Sums are
formed in the order of the partitions, in groups of a fixed size: which worker does what, and when, changes no bit.
"""

import asyncio
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from math import inf
from threading import RLock
from time import perf_counter
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import distributed
import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in
from budgetsvm.distributed._rounds.asker import AT_CLIENT, Asker, add_up, groups_of, sum_of
from budgetsvm.distributed._rounds.placement import Placement, Whereabouts, each
from budgetsvm.distributed._rounds.traffic import Traffic, size_of

_LOOK = 2.0  # seconds between two looks at whether there is anybody who works
# Seconds between two looks at whether tasks are done: at least, at most, and of the time that it has taken already.
_SHORTEST_NAP, _LONGEST_NAP, _NAP = 5e-4, 0.05, 0.05
_PATIENCE = 30.0  # seconds without a worker, or without the scheduler
_ON_THE_WAY = 1 / 16  # of a worker's memory, for results that are to be fetched
_URGENT = ("rows",)  # that the client works on, while workers go on with what takes longer


@public_in("budgetsvm.distributed")
class ClusterError(RuntimeError):
    """Raised where there is nobody who could go on: no client, no scheduler, or no worker for half a minute.

    Examples
    --------
    >>> from budgetsvm.distributed import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class Cluster(Asker):
    """A client, with all that is asked of it for one fit, by any thread; `close` leaves nothing behind."""

    def __init__(self, client: Any = None, patience: float = _PATIENCE) -> None:
        self.client = _current_client() if client is None else client
        if not isinstance(self.client, distributed.Client):
            message = f"client must be a distributed.Client, not a {type(client).__name__}"
            raise TypeError(message)
        if self.client.asynchronous:
            raise TypeError(_WAITS)
        self.traffic = Traffic()
        self._patience = patience
        self._fit, self._numbers = uuid4().hex[:8], count()
        self._held: WeakSet[Any] = WeakSet()
        self._lock = RLock()
        self._placement = Placement(lambda keys: self._run(self._who_has(keys)))

    def close(self) -> None:
        """Let go of all results, and call off what is not done yet."""
        held = list(self._held)
        self._held.clear()
        if held and self.client.status == "running":
            self.client.cancel(held)

    def workers(self) -> dict[str, Any]:
        """Return what is known of the workers, once there are any."""
        self._run(self._somebody())
        info: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return info

    def memory_limits(self) -> list[float]:
        """Return the bytes that each worker may take, infinity where nobody says."""
        return [one["memory_limit"] or inf for one in self.workers().values()]

    def room_on_the_way(self) -> float:
        """Return the bytes of results that workers have room for, while these wait to be fetched."""
        return _ON_THE_WAY * sum(self.memory_limits())

    def name(self, what: str) -> str:
        """Return a name for tasks, which nothing else has; dashboards show what comes first of it."""
        return f"svm_{what}-{self._fit}{next(self._numbers):06x}"

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """Begin with tasks that are made by ``dask.delayed``; returns futures."""
        with self._submitting():
            return self._hold(self.client.compute(list(tasks)))

    def keep(
        self, what: str, function: Callable[..., Any], *columns: Iterable[Any], **common: Any
    ) -> list[Any]:
        """Begin with a function of every partition; returns futures, whose results stay where they are."""
        rows = list(zip(*columns, strict=True))
        if not rows:  # nobody has anything to contribute
            return []
        name = self.name(what)
        keys = [f"{name}-{i}" for i in range(len(rows))]
        sent = sum(size_of(value) for row in rows for value in row)
        with self._submitting():
            self.traffic.rounds += 1
            self.traffic.sent += sent + len(rows) * sum(map(size_of, common.values()))
            priority = int(what in _URGENT)
            futures = self.client.map(
                function, *zip(*rows, strict=True), key=keys, priority=priority, **common
            )
            return self._hold(futures)

    def once(self, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Begin with a function of no partition; returns a future."""
        with self._submitting():
            self.traffic.sent += sum(map(size_of, arguments))
            future = self.client.submit(function, *arguments, key=self.name(what))
            return self._hold([future])[0]

    def fetch(self, futures: Sequence[Any]) -> list[Any]:
        """Wait for results, and bring them here."""
        results: list[Any] = self._run(self._results(list(futures)))
        with self._lock:
            self.traffic.received += sum(map(size_of, results))
        return results

    def ask(
        self, what: str, function: Callable[..., Any], *columns: Iterable[Any], **common: Any
    ) -> list[Any]:
        """Return the values of a function of every partition; those that a thread has beside each other by one task."""
        lists = [list(column) for column in columns]
        rows = list(zip(*lists, strict=True))
        groups = self._placement.groups(rows)
        if len(groups) == len(rows):
            return self.fetch(self.keep(what, function, *lists, **common))
        several = [[list(rows[i]) for i in group] for group in groups]
        size = len(groups)
        found = self.fetch(self.keep(what, each, [function] * size, several, [common] * size))
        results = dict(zip(chain(*groups), chain(*found), strict=True))
        return [results[i] for i in range(len(rows))]

    def total(
        self,
        what: str,
        shape: tuple[int, ...],
        function: Callable[..., Any],
        *columns: Iterable[Any],
        **common: Any,
    ) -> NDArray[np.float64]:
        """Return the sum of a function over all partitions, by a tree where it is large."""
        lists = [list(column) for column in columns]
        if 8 * len(lists[0]) * np.prod(shape) <= AT_CLIENT:
            parts = self.ask(what, function, *lists, **common)
            return sum_of(parts) if parts else np.zeros(shape)
        parts = self.keep(what, function, *lists, **common)
        while len(parts) > 1 and 8 * len(parts) * np.prod(shape) > AT_CLIENT:
            parts = self.keep(f"{what}_sum", add_up, groups_of(parts))
            with self._lock:
                self.traffic.rounds -= 1  # a tree is one
        return sum_of(self.fetch(parts))

    @contextmanager
    def _submitting(self) -> Iterator[None]:
        """Send tasks, one thread at a time; a client that is closed has its own words for that, in every version others."""
        with self._lock, _large_is_meant():
            try:
                yield
            except Exception as error:
                if self.client.status in ("running", "connecting"):
                    raise
                raise ClusterError(_GONE) from error

    def _hold(self, futures: Any) -> list[Any]:
        self._held.update(futures)
        return list(futures)

    # ---- waiting ----

    def _run(self, coroutine: Any) -> Any:
        """Run a coroutine on the client's loop; Ctrl-C comes through."""
        if self.client.status not in ("running", "connecting"):
            coroutine.close()
            raise ClusterError(_GONE)

        async def run() -> Any:
            return await coroutine

        try:
            return self.client.sync(run)
        except (asyncio.CancelledError, distributed.client.FutureCancelledError) as error:
            raise ClusterError(_GONE) from error
        except distributed.KilledWorker as error:
            message = (
                "several workers in a row have died of the same task, most likely for lack of memory: make partitions "
                f"smaller, or the memory of workers larger ({error})"
            )
            raise ClusterError(message) from error

    async def _results(self, futures: list[Any]) -> list[Any]:
        await self._done(futures)
        waiting = asyncio.ensure_future(self.client.gather(futures, asynchronous=True))
        try:
            idle = 0.0  # what is done may be lost once more before it is here
            while not (await asyncio.wait({waiting}, timeout=_LOOK))[0]:
                idle = 0.0 if await self._anybody() else idle + _LOOK
                if idle >= self._patience:
                    raise self._end_of_patience()
            return list(waiting.result())
        finally:
            waiting.cancel()

    async def _done(self, futures: list[Any]) -> None:
        """Wait for tasks to end; in ever longer naps, as a `gather` that is called off would fill the log."""
        begun = looked = perf_counter()
        idle = 0.0
        while not all(future.done() for future in futures):
            now = perf_counter()
            if now - looked >= _LOOK:
                idle = 0.0 if await self._anybody() else idle + now - looked
                looked = now
            if idle >= self._patience:
                raise self._end_of_patience()
            await asyncio.sleep(min(_LONGEST_NAP, _SHORTEST_NAP + _NAP * (now - begun)))

    async def _who_has(self, keys: list[str]) -> Whereabouts:
        """Ask who has results; where nobody answers, nobody has any: whoever waits for results finds out why."""
        scheduler, nobody = self.client.scheduler, Whereabouts({}, {}, {})
        try:
            holders = await self._answer(scheduler.who_has(keys=keys))
            if not all(holders.get(key) for key in keys):
                return nobody
            sizes = await self._answer(scheduler.nbytes(keys=keys, summary=False))
            known = await self._answer(scheduler.identity(n_workers=-1))
        except (ClusterError, KeyError):  # results may be lost in between
            return nobody
        return Whereabouts(holders, sizes, known["workers"])

    async def _somebody(self) -> None:
        """Wait for a worker."""
        idle = 0.0
        while not await self._anybody():
            if idle >= self._patience:
                raise self._end_of_patience()
            pause = min(0.2, self._patience)
            await asyncio.sleep(pause)
            idle += pause

    def _end_of_patience(self) -> ClusterError:
        gone = self.client.status != "running"
        return ClusterError(_GONE if gone else _NOBODY.format(self._patience))

    async def _anybody(self) -> bool:
        """Return whether there is a worker; raises where there is no scheduler to ask."""
        if self.client.status == "connecting":
            return False
        if self.client.status != "running":
            raise ClusterError(_GONE)
        return bool((await self._answer(self.client.scheduler.identity(n_workers=1)))["workers"])

    async def _answer(self, asked: Any) -> Any:
        """Wait for an answer of the scheduler."""
        try:
            return await asyncio.wait_for(asked, self._patience)
        except (TimeoutError, OSError) as error:
            raise ClusterError(_GONE) from error


_GONE = (
    "the scheduler of the Dask cluster does not answer, or has called off what was asked of it, as a restart of the workers "
    "does: the model could not be trained. Look at the log of the scheduler if nobody did that; the same call starts anew, on a "
    "new cluster if need be"
)
_WAITS = (
    "client must not be asynchronous: a fit waits for what it asks. Make a Client with asynchronous=False, or fit in "
    "another thread with a client of its own"
)
_NOBODY = (
    "the Dask cluster has had no worker for {:g} seconds: the model could not be trained. Start workers, or look into "
    "their logs for why they have ended"
)


class _large_is_meant(warnings.catch_warnings):
    """Without Dask's advice to scatter large arguments: what is scattered cannot be computed again."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)


def _current_client() -> Any:
    try:
        return distributed.get_client()
    except ValueError as error:
        message = (
            "there is no Dask cluster to train on: make a dask.distributed.Client first, e.g. Client() for one on this "
            "machine, or give one by client="
        )
        raise ClusterError(message) from error

"""Rounds that several threads share: what they ask for at the same time is asked of every partition by one task.

A round takes its time, milliseconds for each partition, whatever it computes. Outputs that do not know of each other are solved
in threads; each goes its own way, and a round begins when all of them wait for one. Every request is computed by itself and
added up in its own order, so that who shares a round with whom changes no bit.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._common.threads import abandoned
from budgetsvm.distributed._rounds.asker import AT_CLIENT, Asker, sum_of

_LOOK = 0.2  # seconds between two looks at whether other threads have given up


@dataclass(eq=False)
class _Request:
    """A function of some partitions, what it is given of each, and what came of it."""

    what: str
    function: Callable[..., Any]
    rows: list[tuple[Any, ...]]
    common: dict[str, Any]
    places: list[int]  #: numbers of the partitions
    results: list[Any] = field(default_factory=list)
    error: BaseException | None = None
    done: bool = False


class SharedRounds(Asker):
    """Asks for several threads, which are `inside` while they may want something."""

    def __init__(self, cluster: Asker, members: Sequence[Any]) -> None:
        self._cluster = cluster
        self._places = {member.key: number for number, member in enumerate(members)}
        self._change = Condition()
        self._inside, self._waiting = 0, list[_Request]()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Let a thread in: from now on, rounds wait for it."""
        with self._change:
            self._inside += 1
        try:
            yield
        finally:
            with self._change:
                self._inside -= 1
                self._change.notify_all()

    def keep(
        self, what: str, function: Callable[..., Any], *columns: Iterable[Any], **common: Any
    ) -> list[Any]:
        """Begin with a function of every partition; nobody has to wait for that."""
        members, *others = map(list, columns)
        with self._change:
            futures = self._cluster.keep(what, function, members, *others, **common)
            for future, member in zip(futures, members, strict=True):
                self._places[future.key] = self._places[member.key]
        return futures

    def ask(
        self, what: str, function: Callable[..., Any], *columns: Iterable[Any], **common: Any
    ) -> list[Any]:
        """Return the values of a function of every partition."""
        rows = list(zip(*columns, strict=True))
        if not rows:
            return []
        places = [self._places[row[0].key] for row in rows]
        return self._share(_Request(what, function, rows, common, places))

    def total(
        self,
        what: str,
        shape: tuple[int, ...],
        function: Callable[..., Any],
        *columns: Iterable[Any],
        **common: Any,
    ) -> NDArray[np.float64]:
        """Return the sum of a function over all partitions; large ones are formed on the cluster, in rounds of their own."""
        lists = [list(column) for column in columns]
        if 8 * len(lists[0]) * np.prod(shape) > AT_CLIENT:
            return self._cluster.total(what, shape, function, *lists, **common)
        parts = self.ask(what, function, *lists, **common)
        return sum_of(parts) if parts else np.zeros(shape)

    def _share(self, request: _Request) -> list[Any]:
        with self._change:
            self._waiting.append(request)
            try:
                while not request.done:
                    if abandoned():
                        raise OutOfTime
                    if len(self._waiting) == self._inside:
                        self._round()
                    else:
                        self._change.wait(_LOOK)
            finally:
                if request in self._waiting:
                    self._waiting.remove(request)
        if request.error is not None:
            raise request.error
        return request.results

    def _round(self) -> None:
        """Do what all are waiting for; they have nothing better to do meanwhile."""
        requests, self._waiting = self._waiting, []
        try:
            self._compute(requests)
        except BaseException as error:
            for request in requests:
                request.error = error
            raise
        finally:
            for request in requests:
                request.done = True
            self._change.notify_all()

    def _compute(self, requests: Sequence[_Request]) -> None:
        """Ask every partition once for all that is asked of it."""
        calls: dict[int, list[tuple[_Request, tuple[Any, ...]]]] = {}
        for request in requests:
            for place, row in zip(request.places, request.rows, strict=True):
                calls.setdefault(place, []).append((request, row))
        places = sorted(calls)
        names = sorted({request.what for request in requests})
        answers = self._cluster.ask(
            "_and_".join(names),
            several,
            [[request.function for request, _ in calls[place]] for place in places],
            [[list(row) for _, row in calls[place]] for place in places],
            [[request.common for request, _ in calls[place]] for place in places],
        )
        for place, answer in zip(places, answers, strict=True):
            for (request, _), result in zip(calls[place], answer, strict=True):
                request.results.append(result)


def several(
    functions: Sequence[Callable[..., Any]],
    arguments: Sequence[Sequence[Any]],
    common: Sequence[dict[str, Any]],
) -> list[Any]:
    """Return the values of several functions of a partition."""
    calls = zip(functions, arguments, common, strict=True)
    return [function(*own, **shared) for function, own, shared in calls]

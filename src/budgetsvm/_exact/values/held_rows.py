"""Rows of a kernel matrix, evaluated when they are asked for, of which as many are held as pays.

The dual touches no more rows than come into a working set, and those are the support vectors and a few more. To evaluate
a row again costs no more than to bring the residuals up to date with it. Where memory has to be had first, as on many a
virtual machine, that costs ten times as much: so there is room for a few, and for more as rows are evaluated repeatedly.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core

_Indices = NDArray[np.int64]
_Values = NDArray[Any]

_ROOM = 1 << 24  # kernel values that may be held to begin with
_FIXED_ROOM = 1 << 21  # of many small matrices, which all get the same memory
_FEWEST = 512  # rows that may be held, more than any working set has
_AT_ONCE = 64  # rows that are evaluated
_REPEATED = 16  # evaluations, of rows that had to go before, that make room for one more


def room(n: int, *, grows: bool) -> int:
    """Return how many of n rows may be held to begin with."""
    return min(n, max(_FEWEST, (_ROOM if grows else _FIXED_ROOM) // max(1, n)))


class HeldRows:
    """Kernel values of n rows with each other; `evaluate` fills an array with those of some rows."""

    def __init__(
        self,
        n: int,
        dtype: np.dtype[Any],
        evaluate: Callable[[_Indices, _Values], None],
        *,
        grows: bool = True,
    ) -> None:
        self._room = self._least_room = room(n, grows=grows)
        self._most_room = n if grows else self._room
        self.values = np.empty((self._most_room, n), dtype)  # what is not used is no memory yet
        self.places = np.full(n, -1, np.int32)  #: where each row is, if it is there
        self._owners = np.full(n, -1, np.int64)  # of places
        self._asked = np.zeros(n, np.int64)  # when, of places
        self._known = np.zeros(n, bool)  # rows that were there at any time
        self._evaluate, self._now, self._repeated = evaluate, 0, 0
        self._table = np.empty((min(n, _AT_ONCE), n), dtype)

    def hold_all(self) -> None:
        """Hold all rows from now on."""
        self._room = self._least_room = len(self.places)
        self.hold(np.arange(self._room))

    def hold(self, rows: _Indices) -> None:
        """See to it that these rows are there, as many at most as there is room for; others may have to go."""
        self._now += 1
        there = self.places[rows]
        self._asked[there[there >= 0]] = self._now
        fresh = rows[there < 0]
        places = self._oldest(len(fresh))
        gone = self._owners[places]
        self.places[gone[gone >= 0]] = -1
        self._owners[places], self._asked[places] = -1, 0
        # All of them together, wherever there is room: one by one they take several times as long.
        for start in range(0, len(fresh), len(self._table)):
            some = fresh[start : start + len(self._table)]
            where, table = places[start : start + len(some)], self._table[: len(some)]
            self._evaluate(some, table)
            self.values[where] = table
            self.places[some], self._owners[where], self._asked[where] = where, some, self._now
        self._repeated += int(np.count_nonzero(self._known[fresh]))
        self._known[fresh] = True
        self._room = min(self._most_room, self._least_room + self._repeated // _REPEATED)

    def _oldest(self, count: int) -> _Indices:
        """Return the places of the rows that were asked for longest ago."""
        asked = self._asked[: self._room]
        return np.argpartition(asked, count)[:count] if count < len(asked) else np.arange(count)

    def times(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of the whole matrix, which is symmetric, and a vector."""
        product, every = np.zeros(len(beta)), np.flatnonzero(beta)
        start = 0
        while start < len(every):
            rows = every[start : start + self._room]
            start += len(rows)
            self.hold(rows)
            places = self.places[rows].astype(np.int64)
            _core.add_transposed_times(self.values, places, beta[rows], product)
        return product

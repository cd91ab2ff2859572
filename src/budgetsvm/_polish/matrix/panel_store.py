"""Kernel values of which only panels that count are stored, part by part."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.threads import map_in_order
from budgetsvm._model.pruning import OrderedTerms, sample
from budgetsvm._problem.rows import Rows

#: What the core calls *panels*: where rows start, the numbers of their panels, and the values of these.
Panels: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]

_PARTS_AT_ONCE = 8  # of a part, the memory limit has room for
_SAMPLE = 512  # rows to look at
_PART_BYTES = 1 << 24  # of a part, if it had all panels
#: Below, a kernel value is 0 in single precision.
SMALLEST = float(np.finfo(np.float32).tiny)


class Share(NamedTuple):
    """Some of the rows of a part: which ones, and where they are among those that were asked for."""

    part: int
    rows: NDArray[np.int64]
    places: NDArray[np.int64]


class PanelStore:
    """The panels of all rows that may have a kernel value of at least `least`.

    Parts depend on neither threads nor free memory. What is not kept is computed anew each time.
    """

    def __init__(self, rows: Rows, terms: OrderedTerms, least: float, memory_limit: float) -> None:
        self.rows, self.terms, self.least = rows, terms, least
        row_bytes = terms.n_panels * _core.PANEL_BYTES
        part_bytes = min(_PART_BYTES, memory_limit / (4 * _PARTS_AT_ONCE))
        self.part_rows = int(max(64, part_bytes / row_bytes))
        self.n_parts = -(-len(rows) // self.part_rows)
        self._kept: list[Panels] | None = None
        some = terms.near(rows, sample(len(rows), _SAMPLE), least)
        self.share = float(some.mean()) if some.size else 1.0  #: of panels that count, roughly

    @property
    def is_kept(self) -> bool:
        """Whether the panels are at hand."""
        return self._kept is not None

    def keep(self, n_threads: int, tick: Callable[[], None] = lambda: None) -> None:
        """Compute all panels, and keep them."""

        def compute(part: int) -> Panels:
            tick()
            return self.compute(part)

        self._kept = map_in_order(compute, range(self.n_parts), n_threads)

    def drop(self) -> None:
        """Keep nothing any more."""
        self._kept = None

    def part(self, part: int) -> Panels:
        """Return the panels of a part."""
        return self.compute(part) if self._kept is None else self._kept[part]

    def compute(self, part: int) -> Panels:
        """Evaluate the panels of a part that may count, and keep those that do."""
        flags, numbers, values = self._evaluate(part, self.least)
        flags[flags] = counts = values.max(axis=1, initial=0) >= self.least
        return _starts(flags), numbers[counts], values[counts]

    def compute_all(self, part: int) -> Panels:
        """Evaluate all panels of a part but those of zeros."""
        flags, numbers, values = self._evaluate(part, SMALLEST)
        return _starts(flags), numbers, values

    def _evaluate(
        self, part: int, least: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[Any]]:
        """Return which panels of a part may have a value of at least so much, their numbers, and their values."""
        start = part * self.part_rows
        chosen = slice(start, min(start + self.part_rows, len(self.rows)))
        flags, store = self.terms.near(self.rows, chosen, least), self.terms.store
        numbers = np.nonzero(flags)[1].astype(np.int32)
        values: NDArray[Any] = np.empty((len(numbers), store.lanes), store.dtype)
        source, kernel = self.rows.source(chosen), self.terms.kernel
        _core.panel_values(
            source, store.arrays, store.size, kernel, _starts(flags), numbers, values
        )
        return flags, numbers, values

    def shares(self, chosen: NDArray[np.int64]) -> list[Share]:
        """Return which of the chosen rows each part has."""
        places = np.argsort(chosen // self.part_rows, kind="stable")
        ends = np.searchsorted((chosen // self.part_rows)[places], np.arange(self.n_parts + 1))
        shares = []
        for part in np.flatnonzero(np.diff(ends)).tolist():
            own = places[ends[part] : ends[part + 1]]
            shares.append(Share(part, chosen[own] - part * self.part_rows, own))
        return shares


def _starts(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return where the panels of each row begin, if these have them."""
    starts = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(np.count_nonzero(flags, axis=1), out=starts[1:])
    return starts

"""Rows of the n × n kernel matrix: computed when they are needed first, and kept while there is room.

Columns are cut into stripes, which threads share: each stripe has its own sums, so that these are the same
bits for any number of threads. A row that had to give way is computed again, to the same bits, too.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.limits import Limits
from budgetsvm._common.threads import for_each, map_in_order
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.points import points_of
from budgetsvm._problem.rows import Rows, dense_points
from budgetsvm.kernels import Kernel, KernelInPython

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]

_STRIPE, _STRIPE_VALUES = 2048, 1 << 24  # columns; features of these
_ROWS_AT_ONCE = 64  # of a stripe: a bounded amount of work


class KernelRows:
    """The kernel values of all pairs of rows; `count` of the rows have been computed so far."""

    def __init__(self, rows: Rows, kernel: Kernel, limits: Limits, most_rows: int) -> None:
        """Keep at most `most_rows`, and not fewer than are asked for at once."""
        n = len(rows)
        self.rows, self.limits, self.count = rows, limits, 0
        width = int(np.clip(_STRIPE_VALUES // max(1.0, rows.point_cost), _ROWS_AT_ONCE, _STRIPE))
        self._slices = [slice(start, min(start + width, n)) for start in range(0, n, width)]
        self._terms = [_stored(rows, part, kernel) for part in self._slices]
        self._kernel, self._in_python = self._terms[0].core_kernel(kernel), None
        if isinstance(kernel, KernelInPython):
            self._in_python = kernel
        self._most = min(n, most_rows)
        self._held: list[NDArray[Any]] = [
            np.empty((self._most, s.stop - s.start), rows.dtype) for s in self._slices
        ]
        self._slot: _Indices = np.full(n, -1)  # of every row, where it is held
        self._row: _Indices = np.full(self._most, -1)  # of every slot
        self._used: _Indices = np.zeros(self._most, np.int64)  # when
        self._clock = 0

    def slots(self, chosen: _Indices) -> _Indices:
        """Return where the chosen rows are held, after computing those that are not."""
        self._clock += 1
        self._used[self._slot[chosen[self._slot[chosen] >= 0]]] = self._clock
        missing = chosen[self._slot[chosen] < 0]
        if len(missing):
            oldest = np.argsort(self._used, kind="stable")[: len(missing)]
            gone = self._row[oldest]
            self._slot[gone[gone >= 0]] = -1
            self._compute(missing, oldest)
            self._slot[missing], self._row[oldest] = oldest, missing
            self._used[oldest] = self._clock
            self.count += len(missing)
        return self._slot[chosen]

    def gram(self, chosen: _Indices) -> NDArray[Any]:
        """Return the kernel values of the chosen rows, which are sorted, among each other."""
        return self.values(chosen, chosen)

    def values(self, chosen: _Indices, others: _Indices) -> NDArray[Any]:
        """Return the kernel values of the chosen rows with others, which are sorted."""
        slots = self.slots(chosen)
        values = np.empty((len(chosen), len(others)), self.rows.dtype)
        for held, columns in zip(self._held, self._slices, strict=True):
            first, last = np.searchsorted(others, (columns.start, columns.stop))
            inside = others[first:last] - columns.start
            whole = last - first == held.shape[1]
            values[:, first:last] = held[slots] if whole else held[slots[:, np.newaxis], inside]
        return values

    def sums(self, chosen: _Indices, weights: _Vector) -> _Vector:
        """Return Σ_i weights_i k(x_i, ·) over the chosen rows, for all rows."""
        slots, total = self.slots(chosen), np.zeros(len(self.rows))

        def add(stripe: int) -> None:
            held, columns = self._held[stripe], self._slices[stripe]
            _core.add_transposed_times(held, slots, weights, total[columns])

        self.limits.tick()
        for_each(add, range(len(self._held)), self.limits.n_threads)
        return total

    def _compute(self, rows: _Indices, slots: _Indices) -> None:
        parts = [slice(s, s + _ROWS_AT_ONCE) for s in range(0, len(rows), _ROWS_AT_ONCE)]
        tasks = [(stripe, part) for stripe in range(len(self._held)) for part in parts]

        def fill(task: tuple[int, slice]) -> None:
            stripe, part = task
            self.limits.tick()
            self._held[stripe][slots[part]] = self._values(stripe, rows[part])

        map_in_order(fill, tasks, self.limits.n_threads)

    def _values(self, stripe: int, rows: _Indices) -> NDArray[Any]:
        """Return the kernel values of some rows with those of a stripe."""
        terms, held = self._terms[stripe], self._held[stripe]
        if self._in_python is not None:
            points = terms.points().astype(np.float64)
            return self._in_python.matrix(dense_points(self.rows, rows), points)
        values = np.empty((len(rows), held.shape[1]), held.dtype)
        source = self.rows.source(rows)
        _core.kernel_block(source, terms.arrays, terms.size, self._kernel, values)
        return values


class SomeKernelRows:
    """The kernel values of some rows, which are sorted, among each other; indices count among them."""

    def __init__(self, of: KernelRows, rows: _Indices) -> None:
        self._of, self._rows = of, rows

    def gram(self, chosen: _Indices) -> NDArray[Any]:
        """Return the kernel values of the chosen rows, which are sorted, among each other."""
        return self._of.gram(self._rows[chosen])

    def sums(self, chosen: _Indices, weights: _Vector) -> _Vector:
        """Return Σ_i weights_i k(x_i, ·) over the chosen rows, for all of these rows."""
        self._of.limits.tick()
        values, every = self._of.values(self._rows[chosen], self._rows), np.arange(len(chosen))
        total = np.zeros(len(self._rows))
        _core.add_transposed_times(values, every, weights, total)
        return total


def _stored(rows: Rows, part: slice, kernel: Kernel) -> TermStore:
    """Return some rows as the core wants terms."""
    points = points_of(rows, part)
    return TermStore.of(points, np.zeros(points.shape[0]), kernel, 0)

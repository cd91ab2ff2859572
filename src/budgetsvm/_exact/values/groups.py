"""Rows in groups, and all kernel values within a group and between two of them."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.limits import Limits
from budgetsvm._common.threads import map_in_order
from budgetsvm._exact.values.held_rows import HeldRows
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.points import points_of
from budgetsvm._problem.rows import Rows, dense_points
from budgetsvm.kernels import Kernel, KernelInPython

_Indices = NDArray[np.int64]
Block: TypeAlias = NDArray[Any]

_VALUES_AT_ONCE = 1 << 20  # kernel values of a call
_MOST_KEPT = 1 << 24  # kernel values of all rows, where those between groups may be kept, too


class Groups:
    """The rows of a problem in groups, and the kernel values of these."""

    def __init__(self, rows: Rows, kernel: Kernel, members: list[_Indices], limits: Limits) -> None:
        self.members, self._rows, self._limits = members, rows, limits
        self._in_python = kernel if isinstance(kernel, KernelInPython) else None
        self._stores = [
            TermStore.of(points_of(rows, group), np.zeros(len(group)), kernel, 0)
            for group in members
        ]
        self._kernel = self._stores[0].core_kernel(kernel)
        self._own: dict[int, Block] = {}
        self._cross: dict[tuple[int, int], tuple[Block, Block]] = {}

    def own(self, g: int) -> Block:
        """Return the kernel values within a group; two threads may make them both, and they are the same."""
        if g not in self._own:
            self._own[g] = self._values(g, g)
        return self._own[g]

    def rows_of_first(self, n_threads: int, *, grows: bool) -> HeldRows:
        """Return the kernel values within the first group, as they are asked for."""
        rows = self.members[0]

        def evaluate(some: _Indices, out: Block) -> None:
            self._fill(rows[some], 0, out, n_threads)

        return HeldRows(len(rows), np.dtype(self._rows.dtype), evaluate, grows=grows)

    def _values(self, g: int, h: int, n_threads: int = 1) -> Block:
        """Return the kernel values of two groups."""
        values = np.empty((len(self.members[g]), len(self.members[h])), self._rows.dtype)
        self._fill(self.members[g], h, values, n_threads)
        return values

    def _fill(self, rows: _Indices, h: int, values: Block, n_threads: int) -> None:
        """Evaluate the kernel for some rows and a group."""
        store = self._stores[h]
        at_once = max(1, _VALUES_AT_ONCE // max(1, values.shape[1]))
        step = max(1, min(at_once, -(-len(rows) // n_threads)))

        def fill(start: int) -> None:
            part = slice(start, start + step)
            self._limits.tick()
            if self._in_python is not None:
                points = (dense_points(self._rows, some) for some in (rows[part], self.members[h]))
                values[part] = self._in_python.matrix(*points)
                return
            source = self._rows.source(rows[part])
            _core.kernel_block(source, store.arrays, store.size, self._kernel, values[part])

        map_in_order(fill, range(0, len(rows), step), n_threads)

    def cross(self, g: int, h: int, *, keep: bool) -> tuple[Block, Block]:
        """Return the kernel values of two groups, and their transpose; `keep` them, if there are few, for the next time."""
        known = self._cross.get((g, h))
        if known is not None:
            return known
        values = self._values(g, h)
        both = values, np.ascontiguousarray(values.T)
        if keep and len(self._rows) ** 2 <= _MOST_KEPT:
            self._cross[g, h] = both
        return both

"""Kernel values of pairs of rows that are computed whenever they are asked for, where there is no use in keeping them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.limits import Limits
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.points import points_of
from budgetsvm._problem.rows import Rows
from budgetsvm.kernels import Kernel

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]

_VALUES_AT_ONCE = 1 << 20


class ValuesAnew:
    """The kernel values of all pairs of rows, as `KernelRows` has them, and none of them held."""

    def __init__(self, rows: Rows, kernel: Kernel, limits: Limits) -> None:
        self.rows, self.kernel, self.limits = rows, kernel, limits
        self._stored: tuple[_Indices, TermStore] | None = None  # the last ones asked for

    def gram(self, chosen: _Indices) -> NDArray[Any]:
        """Return the kernel values of the chosen rows among each other."""
        return self.values(chosen, chosen)

    def values(self, chosen: _Indices, others: _Indices) -> NDArray[Any]:
        """Return the kernel values of the chosen rows with others."""
        store = self._store(others)
        kernel, values = (
            store.core_kernel(self.kernel),
            np.empty((len(chosen), len(others)), self.rows.dtype),
        )
        step = max(1, _VALUES_AT_ONCE // max(1, len(others)))
        for start in range(0, len(chosen), step):
            self.limits.tick()
            part = slice(start, start + step)
            source = self.rows.source(chosen[part])
            _core.kernel_block(source, store.arrays, store.size, kernel, values[part])
        return values

    def sums(self, chosen: _Indices, weights: _Vector) -> _Vector:
        """Return Σ_i weights_i k(x_i, ·) over the chosen rows, for all rows."""
        return self.sums_at(np.arange(len(self.rows)), chosen, weights)

    def sums_at(self, where: _Indices, chosen: _Indices, weights: _Vector) -> _Vector:
        """Return the same for some rows alone."""
        rows = self.rows
        points, none = points_of(rows, chosen), np.zeros(1)
        model = KernelExpansion(self.kernel, points, weights[np.newaxis], none, rows.centre)
        self.limits.tick()
        return model.decision(rows.given(where), self.limits.n_threads)[:, 0]

    def _store(self, chosen: _Indices) -> TermStore:
        if self._stored is None or self._stored[0] is not chosen:
            points = points_of(self.rows, chosen)
            self._stored = chosen, TermStore.of(points, np.zeros(len(chosen)), self.kernel, 0)
        return self._stored[1]

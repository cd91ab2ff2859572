"""Storage of a model's terms in the layout of the compiled core.

A panel holds 256 bytes' worth of terms feature by feature: ``panels[p, k, l]`` is feature k of term
``p * lanes + l``.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._problem.rows import Precision
from budgetsvm.kernels import Kernel, KernelInPython
from budgetsvm.kernels._interface import CoreKernel

_CACHE_LINE = 64


class TermStore:
    """Arrays for up to `capacity` terms; `size` of them are in use."""

    def __init__(self, capacity: int, n_features: int, dtype: Precision) -> None:
        self.dtype = dtype
        self.lanes = _core.PANEL_BYTES // np.dtype(dtype).itemsize
        self.size = 0
        n_panels = max(1, -(-capacity // self.lanes))
        self.panels = _aligned_zeros((n_panels, n_features, self.lanes), dtype)
        self.norms = np.zeros(n_panels * self.lanes, dtype)
        self.coef = np.zeros(n_panels * self.lanes)

    @classmethod
    def of(
        cls, points: NDArray[Any], coef: NDArray[np.float64], kernel: Kernel, capacity: int
    ) -> Self:
        """Store given terms."""
        size, n_features = points.shape
        store = cls(max(size, capacity), n_features, points.dtype.type)
        by_lane = store.panels.transpose(0, 2, 1)  # a view: (panels, lanes, features)
        padded = np.zeros((by_lane.shape[0] * store.lanes, n_features), points.dtype)
        padded[:size] = points
        by_lane[...] = padded.reshape(by_lane.shape)
        wide = points.astype(np.float64)
        store.norms[:size] = kernel.norms(wide)
        store.coef[:size] = coef
        store.size = size
        return store

    @property
    def capacity(self) -> int:
        """How many terms there is room for."""
        return len(self.coef)

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        """What the core calls *terms*."""
        return self.panels, self.norms, self.coef

    def points(self, size: int | None = None) -> NDArray[Any]:
        """Return the points z_j, one per row. Inside the core `size` may have changed."""
        rows = self.panels.transpose(0, 2, 1).reshape(-1, self.panels.shape[1])
        return np.ascontiguousarray(rows[: self.size if size is None else size])

    def reserve(self, capacity: int) -> None:
        """Make room, at least doubling what there is."""
        if capacity <= self.capacity:
            return
        n_panels = max(-(-capacity // self.lanes), 2 * len(self.panels))
        old = self.panels, self.norms, self.coef
        self.panels = _aligned_zeros((n_panels, *self.panels.shape[1:]), self.dtype)
        self.norms = np.zeros(n_panels * self.lanes, self.dtype)
        self.coef = np.zeros(n_panels * self.lanes)
        for new, values in zip((self.panels, self.norms, self.coef), old, strict=True):
            new[: len(values)] = values

    def core_kernel(self, kernel: Kernel) -> CoreKernel:
        """Return the kernel for the core; a Python function gets to see these terms."""
        core = kernel.core()
        if not isinstance(kernel, KernelInPython):
            return core

        def row(x: NDArray[np.float64], size: int) -> NDArray[np.float64]:
            return kernel.row(x, self.points(size).astype(np.float64))

        return core._replace(function=row)


def _aligned_zeros(shape: tuple[int, ...], dtype: Precision) -> NDArray[Any]:
    """Zeros that begin at a cache line, so that no SIMD load straddles two."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.zeros(n_bytes + _CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % _CACHE_LINE
    return buffer[start : start + n_bytes].view(dtype).reshape(shape)

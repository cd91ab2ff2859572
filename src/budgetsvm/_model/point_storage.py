"""The points of terms in the two layouts of the compiled core: dense panels, and slots for sparse points.

A panel holds 256 bytes' worth of terms feature by feature: ``panels[p, k, l]`` is feature k of term
``p * lanes + l``. A slot has the values and features of a sparse point: ``counts[j]`` of them from ``starts[j]`` on,
and room for those up to ``starts[j + 1]``.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm import _core
from budgetsvm._problem.points import Points
from budgetsvm._problem.rows import Precision

_CACHE_LINE = 64


class Panels:
    """Dense points; the core calls `arrays` *panels*."""

    def __init__(self, capacity: int, n_features: int, dtype: Precision) -> None:
        lanes = _core.PANEL_BYTES // np.dtype(dtype).itemsize
        self.arrays = _aligned_zeros((capacity // lanes, n_features, lanes), dtype)

    @property
    def n_features(self) -> int:
        """How many features the points have."""
        return int(self.arrays.shape[1])

    def fill(self, points: NDArray[Any]) -> None:
        """Store points."""
        n_panels, n_features, lanes = self.arrays.shape
        by_lane = self.arrays.transpose(0, 2, 1)  # a view: (panels, lanes, features)
        padded = np.zeros((n_panels * lanes, n_features), points.dtype)
        padded[: len(points)] = points
        by_lane[...] = padded.reshape(by_lane.shape)

    def read(self, size: int) -> NDArray[Any]:
        """Return so many of the points."""
        rows = self.arrays.transpose(0, 2, 1).reshape(-1, self.arrays.shape[1])
        return np.ascontiguousarray(rows[:size])

    def grown(self, capacity: int) -> "Panels":
        """Return the same points with more room."""
        _, n_features, _ = self.arrays.shape
        new = Panels(capacity, n_features, self.arrays.dtype.type)
        new.arrays[: len(self.arrays)] = self.arrays
        return new


class Slots:
    """Sparse points; the core calls `arrays` *slots*."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = arrays

    @classmethod
    def empty(cls, capacity: int, n_features: int, dtype: Precision, room: int) -> Self:
        """Return slots that all have this room."""
        n = capacity * room
        starts, counts = np.arange(capacity + 1) * room, np.zeros(capacity, np.int32)
        return cls(np.zeros(n, dtype), np.zeros(n, np.int32), starts, counts, n_features)

    @classmethod
    def of(cls, points: Any, capacity: int) -> Self:
        """Return slots that are as large as their points, which share their memory."""
        size, n_features = points.shape
        starts, counts = np.full(capacity + 1, points.nnz), np.zeros(capacity, np.int32)
        starts[: size + 1] = points.indptr
        counts[:size] = np.diff(points.indptr)
        values = np.ascontiguousarray(points.data)
        indices = np.ascontiguousarray(points.indices, dtype=np.int32)
        return cls(values, indices, starts, counts, n_features)

    @property
    def n_features(self) -> int:
        """How many features the points have."""
        return int(self.arrays[4])

    @property
    def room(self) -> int:
        """How many entries a point may have, where all may have as many."""
        starts = self.arrays[2]
        return int(starts[1] - starts[0])

    def fill(self, points: Points) -> None:
        """Store points, none of which may have more entries than there is room for."""
        values, indices, starts, counts, _ = self.arrays
        size = points.shape[0]
        counts[:size] = np.diff(points.indptr)
        assert (counts[:size] <= np.diff(starts)[:size]).all()
        where = self._places(size)
        values[where], indices[where] = points.data, points.indices

    def read(self, size: int) -> Points:
        """Return so many of the points."""
        values, indices, _, counts, n_features = self.arrays
        where, ends = self._places(size), np.cumsum(counts[:size], dtype=np.int64)
        parts = values[where], indices[where], np.concatenate([[0], ends])
        return sparse.csr_array(parts, shape=(size, n_features))

    def grown(self, capacity: int) -> "Slots":
        """Return the same points with more room."""
        values, _, _, counts, n_features = self.arrays
        new = Slots.empty(capacity, n_features, values.dtype.type, self.room)
        new.fill(self.read(len(counts)))
        return new

    def _places(self, size: int) -> NDArray[np.int64]:
        """Return where the entries of so many points are, in order."""
        _, _, starts, counts, _ = self.arrays
        lengths = counts[:size].astype(np.int64)
        before = np.cumsum(lengths) - lengths
        return np.asarray(np.arange(lengths.sum()) + np.repeat(starts[:size] - before, lengths))


def _aligned_zeros(shape: tuple[int, ...], dtype: Precision) -> NDArray[Any]:
    """Zeros that begin at a cache line, so that no SIMD load straddles two."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.zeros(n_bytes + _CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % _CACHE_LINE
    return buffer[start : start + n_bytes].view(dtype).reshape(shape)

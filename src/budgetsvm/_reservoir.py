"""A uniform sample of a stream of rows, in bounded memory (Vitter 1985, Algorithm R)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Reservoir:
    """Keeps at most `capacity` of all rows that were added, each with equal probability."""

    def __init__(self, capacity: int, seed: int) -> None:
        self.capacity = capacity
        self.seen = 0
        self.size = 0
        self._rng = np.random.default_rng(seed)
        self._store: _DenseRows | _SparseRows | None = None
        self._encoded: NDArray[Any] = np.empty(0)
        self._weights: NDArray[np.float64] = np.empty(0)

    def add(self, X: Any, encoded: NDArray[Any], weights: NDArray[np.float64]) -> None:
        """Offer rows with their targets and weights."""
        if self._store is None:
            shape = (self.capacity, *encoded.shape[1:])
            self._encoded, self._weights = np.empty(shape, encoded.dtype), np.empty(self.capacity)
            some = _SparseRows() if sparse.issparse(X) else _DenseRows(X.dtype, self.capacity)
            self._store = some
        rows, slots = self._draw(len(encoded))
        self._store.put(X[rows], slots)
        self._encoded[slots] = encoded[rows]
        self._weights[slots] = weights[rows]

    def rows(self) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        """Return the rows that were kept, their targets and weights."""
        assert self._store is not None
        kept = slice(0, self.size)
        return self._store.matrix(self.size), self._encoded[kept], self._weights[kept]

    def _draw(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Choose which of the coming rows go where."""
        numbers = np.arange(self.seen, self.seen + count)
        # One number for every row: so the sample does not depend on where blocks begin.
        drawn = (self._rng.random(count) * (numbers + 1)).astype(np.int64)
        slots = np.where(numbers < self.capacity, numbers, drawn)
        self.seen += count
        self.size = min(self.seen, self.capacity)
        rows = np.flatnonzero(slots < self.capacity)
        # Where one block fills a slot twice, the later row stays.
        _, last = np.unique(slots[rows][::-1], return_index=True)
        rows = rows[len(rows) - 1 - last]
        return rows, slots[rows]


class _DenseRows:
    """An array that grows up to the capacity."""

    def __init__(self, dtype: Any, capacity: int) -> None:
        self._values: NDArray[Any] = np.empty((0, 0), dtype)
        self._capacity = capacity

    def put(self, X: Any, slots: NDArray[np.int64]) -> None:
        X = X.toarray() if sparse.issparse(X) else X
        if len(slots) and slots.max() >= len(self._values):
            room = max(int(slots.max()) + 1, min(2 * len(self._values), self._capacity))
            grown = np.empty((room, X.shape[1]), self._values.dtype)
            grown[: len(self._values)] = self._values.reshape(-1, X.shape[1])
            self._values = grown
        self._values[slots] = X

    def matrix(self, size: int) -> NDArray[Any]:
        return self._values[:size]


class _SparseRows:
    """The entries of every row."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}
        self._width = 0

    def put(self, X: Any, slots: NDArray[np.int64]) -> None:
        X = sparse.csr_matrix(X)
        self._width = X.shape[1]
        for row, slot in enumerate(slots.tolist()):
            span = slice(X.indptr[row], X.indptr[row + 1])
            self._entries[slot] = X.data[span].copy(), X.indices[span].copy()

    def matrix(self, size: int) -> Any:
        entries = [self._entries[slot] for slot in range(size)]
        starts = np.cumsum([0, *(len(values) for values, _ in entries)])
        values, indices = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        return sparse.csr_matrix((values, indices, starts), shape=(size, self._width))

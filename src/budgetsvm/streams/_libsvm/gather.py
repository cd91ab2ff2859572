"""All rows of LIBSVM text, in the form that takes less memory.

Dense rows are float64, as sparse ones are. float32 would do for a machine that trains in single precision, but it
would round 0.1 before the centre of the data is subtracted, and not after, and a model would depend on how its rows
were stored. Nor would reading be faster: the text is what takes the time.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm.streams._libsvm.flaws import LARGEST_INDEX
from budgetsvm.streams._libsvm.parse import Parsed

_DENSE_BYTES, _SPARSE_BYTES = 8, 12  # that an entry takes


class Columns:
    """What pieces of text show of the columns."""

    def __init__(self) -> None:
        self.n_rows = self.n_entries = 0
        self.least, self.largest = LARGEST_INDEX, -1

    def look(self, rows: Parsed) -> None:
        """Take some rows into account."""
        self.n_rows += len(rows)
        self.n_entries += len(rows.values)
        self.least, self.largest = min(self.least, rows.least), max(self.largest, rows.largest)

    def suits_dense(self, n_features: int) -> bool:
        """Whether dense rows with so many columns take less memory than sparse ones."""
        return _SPARSE_BYTES * self.n_entries > _DENSE_BYTES * self.n_rows * n_features


class Gathered(Columns):
    """Rows, whose indices count from `first`. What the first piece shows decides how they are kept at first."""

    def __init__(self, first: int, n_features: int | None = None) -> None:
        super().__init__()
        self._first, self._n_features = first, n_features
        self._labels = bytearray()
        self._rows: _Sparse | _Dense | None = None

    def add(self, rows: Parsed) -> None:
        """Append some rows."""
        self.look(rows)
        self._labels += rows.y.data
        if self._n_features is None:
            begin, width = self.least - self._first, max(0, self.largest - self.least + 1)
        else:
            begin, width = 0, self._n_features
        kept = self._rows
        if kept is None:
            kept = _Dense(begin, width) if self.suits_dense(width) else _Sparse()
        elif isinstance(kept, _Dense) and not kept.has_columns(begin, width):
            kept = kept.with_columns(begin, width) if self.suits_dense(width) else kept.as_sparse()
        kept.add(rows)
        self._rows = kept

    def targets(self) -> NDArray[np.float64]:
        """Return all labels."""
        return np.frombuffer(self._labels, np.float64)

    def matrix(self, n_features: int, shift: int = 0) -> Any:
        """Return all rows, their indices lowered by some number: a dense array if that takes less memory."""
        kept, dense = self._rows or _Sparse(), self.suits_dense(n_features)
        if isinstance(kept, _Dense):
            if dense:
                return kept.with_columns(shift, n_features).array()
            kept = kept.as_sparse()
        X = kept.matrix(n_features, shift)
        return X.toarray() if dense else X


class _Sparse:
    """Compressed rows in buffers that grow in place: joining a list of blocks would take twice the memory."""

    def __init__(self) -> None:
        self._counts, self._indices, self._values = bytearray(), bytearray(), bytearray()

    def add(self, rows: Parsed) -> None:
        self.extend(np.diff(rows.starts), rows.indices, rows.values)

    def extend(
        self, counts: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[np.float64]
    ) -> None:
        self._counts += counts.data
        self._indices += indices.data
        self._values += values.data

    def matrix(self, n_features: int, shift: int) -> sparse.csr_array:
        """Return the rows, their indices lowered by some number."""
        counts, indices = np.frombuffer(self._counts, np.int64), np.frombuffer(self._indices, "i4")
        if shift:
            indices -= np.int32(shift)
        starts = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        if starts[-1] <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        values = np.frombuffer(self._values)
        X = sparse.csr_array((values, indices, starts), shape=(len(counts), n_features))
        X.has_canonical_format = True
        return X


class _Dense:
    """Dense rows in a buffer that grows in place, with `width` columns from column `begin` on."""

    def __init__(self, begin: int, width: int) -> None:
        self._begin, self._width = begin, width
        self._buffer = bytearray()

    def add(self, rows: Parsed) -> None:
        self._buffer += rows.matrix(self._width, self._begin).toarray().data

    def has_columns(self, begin: int, width: int) -> bool:
        """Whether there is a place for all of these."""
        return self._begin <= begin and begin + width <= self._begin + self._width

    def array(self) -> NDArray[np.float64]:
        return np.frombuffer(self._buffer).reshape(-1, self._width)

    def with_columns(self, begin: int, width: int) -> "_Dense":
        """Return the rows with other columns, among which are all that are in use."""
        if (begin, width) == (self._begin, self._width):
            return self
        wider = _Dense(begin, width)
        old = self.array()
        shared = slice(max(begin, self._begin), min(begin + width, self._begin + self._width))
        new = np.zeros((len(old), width))
        new[:, shared.start - begin : shared.stop - begin] = old[
            :, shared.start - self._begin : shared.stop - self._begin
        ]
        wider._buffer += new.data
        return wider

    def as_sparse(self) -> _Sparse:
        """Return the same rows, compressed."""
        X, rows = sparse.csr_array(self.array()), _Sparse()
        indices = X.indices.astype(np.int32) + np.int32(self._begin)
        rows.extend(np.diff(X.indptr).astype(np.int64), indices, X.data)
        return rows

"""All rows of LIBSVM text, in the form that takes less memory."""

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
        self.n_rows = 0
        self.least, self.largest = LARGEST_INDEX, -1

    def look(self, rows: Parsed) -> None:
        """Take some rows into account."""
        self.n_rows += len(rows)
        self.least, self.largest = min(self.least, rows.least), max(self.largest, rows.largest)


class Gathered(Columns):
    """Rows in buffers that grow in place: joining a list of blocks would take twice the memory."""

    def __init__(self) -> None:
        super().__init__()
        self._labels, self._counts = bytearray(), bytearray()
        self._indices, self._values = bytearray(), bytearray()

    def add(self, rows: Parsed) -> None:
        """Append some rows."""
        self.look(rows)
        self._labels += rows.y.data
        self._counts += np.diff(rows.starts).data
        self._indices += rows.indices.data
        self._values += rows.values.data

    def targets(self) -> NDArray[np.float64]:
        """Return all labels."""
        return np.frombuffer(self._labels, np.float64)

    def matrix(self, n_features: int, shift: int = 0) -> Any:
        """Return all rows, their indices lowered by some number: a dense array if that takes less memory."""
        values, indices = np.frombuffer(self._values), np.frombuffer(self._indices, np.int32)
        if shift:
            indices -= np.int32(shift)
        starts = np.zeros(self.n_rows + 1, np.int64)
        np.cumsum(np.frombuffer(self._counts, np.int64), out=starts[1:])
        if len(values) <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        X = sparse.csr_array((values, indices, starts), shape=(self.n_rows, n_features))
        X.has_canonical_format = True
        dense = _SPARSE_BYTES * X.nnz > _DENSE_BYTES * self.n_rows * n_features
        return X.toarray() if dense else X

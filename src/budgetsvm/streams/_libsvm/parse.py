"""Rows of a piece of text, by the core."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm import _core


@dataclass(frozen=True, eq=False)
class Parsed:
    """The rows of a text, or those before its first fault."""

    y: NDArray[np.float64]
    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    least: int  #: index in use; if there is none, more than the largest
    largest: int
    fault: int | None  #: how many bytes into the text the fault is

    def __len__(self) -> int:
        return len(self.y)

    def matrix(self, n_features: int, shift: int = 0) -> sparse.csr_array:
        """Return the rows, their indices lowered by some number."""
        indices = self.indices - np.int32(shift) if shift else self.indices
        starts = self.starts
        if len(self.values) <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)  # the core takes short indices in place
        shape = (len(self), n_features)
        X = sparse.csr_array((self.values, indices, starts), shape=shape)
        X.has_canonical_format = True  # the core has seen to it
        return X


def parse(text: bytes, first: int, n_features: int) -> Parsed:
    """Parse whole lines, whose indices count from `first`."""
    buffer = np.frombuffer(text, np.uint8)
    n_rows, n_entries = _core.libsvm_size(buffer)
    y, starts = np.empty(n_rows), np.empty(n_rows + 1, np.int64)
    indices, values = np.empty(n_entries, np.int32), np.empty(n_entries)
    n_rows, n_entries, least, largest, fault = _core.read_libsvm(
        buffer, first, n_features, y, starts, indices, values
    )
    return Parsed(
        y=y[:n_rows],
        starts=starts[: n_rows + 1],
        indices=indices[:n_entries],
        values=values[:n_entries],
        least=least,
        largest=largest,
        fault=None if fault < 0 else fault,
    )

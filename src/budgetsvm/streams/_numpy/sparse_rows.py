"""Sparse rows in an .npz file, as scipy.sparse.save_npz writes them."""

from typing import Any

import numpy as np
from scipy import sparse

from budgetsvm.streams._numpy.arrays import ArrayError, ArrayFile

_MOST_FEATURES = 2**31 - 1


class SparseRows:
    """All rows of a file, in memory from the first `take` on; they are given out as a `RowReader` does."""

    def __init__(self, file: ArrayFile) -> None:
        self.where, self.done = str(file.path), 0
        self._file = file
        self._X: Any = None
        self.shape = _shape(file, self.where)  #: rows and columns

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, n: int) -> sparse.csr_array:
        """Return the next rows, at most n of them."""
        if self._X is None:
            self._X = _matrix(self._file, self.shape, self.where)
        n = min(n, len(self) - self.done)
        rows = self._X[self.done : self.done + n]
        rows.has_canonical_format = True
        self.done += n
        return rows

    def finish(self) -> None:
        """All has been read already."""


def _shape(file: ArrayFile, where: str) -> tuple[int, int]:
    """Return the shape, of a matrix that can be read."""
    kind, shape = file.read_all("format"), file.read_all("shape")
    name = kind.tobytes().decode("latin-1").replace("\0", "") if kind.size == 1 else ""
    if name != "csr":
        message = (
            f"{where}: a sparse matrix must be saved by its rows, as by save_npz(path, X.tocsr()), and this one is "
            f"{name[:9]!r}"
        )
        raise ArrayError(message)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        message = f"{where}: its array 'shape' is not that of a sparse matrix"
        raise ArrayError(message)
    n_rows, n_features = (int(n) for n in shape)
    if not 0 < n_features <= _MOST_FEATURES:
        message = f"{where} has {n_features} features, and must have 1 to {_MOST_FEATURES}"
        raise ArrayError(message)
    return n_rows, n_features


def _matrix(file: ArrayFile, shape: tuple[int, int], where: str) -> sparse.csr_array:
    """Read and check the arrays: SciPy would believe them."""
    data, indices, starts = (file.read_all(name) for name in ("data", "indices", "indptr"))
    plain = all(one.ndim == 1 for one in (data, indices, starts)) and data.dtype.kind in "biuf"
    if not plain or any(one.dtype.kind not in "iu" for one in (indices, starts)):
        message = f"{where}: its arrays are not those of a sparse matrix of numbers"
        raise ArrayError(message)
    fits = len(starts) == shape[0] + 1 and len(indices) == len(data)
    if not fits or not _ascend(starts, len(data)) or not _within(indices, shape[1]):
        message = f"{where}: its arrays do not make a matrix of {shape[0]} × {shape[1]}"
        raise ArrayError(message)
    short = np.int32 if len(data) <= np.iinfo(np.int32).max else np.int64
    arrays = (data, indices.astype(short, copy=False), starts.astype(short, copy=False))
    X = sparse.csr_array(arrays, shape=shape)
    X.sum_duplicates()
    return X


def _ascend(starts: Any, n_entries: int) -> bool:
    return bool(starts[0] == 0 and starts[-1] == n_entries and (starts[1:] >= starts[:-1]).all())


def _within(indices: Any, n_features: int) -> bool:
    return len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < n_features)

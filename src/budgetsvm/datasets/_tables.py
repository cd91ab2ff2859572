"""All rows of one LIBSVM file, in the form that takes less memory, with the checksum of its text."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.progress import byte_bar
from budgetsvm.streams._libsvm.pieces import parsed_pieces
from budgetsvm.streams._text import compression

_PIECE = 1 << 22  # of text


@dataclass(frozen=True)
class Table:
    """Rows and labels of a file."""

    X: Any  #: a dense array or a CSR array, of float64
    y: NDArray[np.float64]
    sha256: str  #: of the unpacked text, in hexadecimal digits
    features: int  #: the largest index in use, which may be less than the number of columns


def parse_table(path: Path, n_features: int) -> Table:
    """Read a file, plain or compressed, in pieces: the text is never in memory as a whole."""
    digest = hashlib.sha256()
    gathered = _Gathered(n_features)
    total = path.stat().st_size if compression(path) is None else None
    with byte_bar(f"reading {path.name}", total) as bar:
        for piece in parsed_pieces(path, 1, n_features, _PIECE):
            piece.check()
            digest.update(piece.text)
            gathered.add(piece.rows.matrix(n_features), piece.rows.y)
            bar.update(piece.size)
    if not gathered.labels:
        message = f"{path} is empty: it holds no rows"
        raise ValueError(message)
    y = np.frombuffer(gathered.labels, dtype=np.float64)
    return Table(gathered.matrix(), y, digest.hexdigest(), gathered.features)


class _Gathered:
    """Rows in buffers that grow in place: joining a list of blocks would take twice the memory."""

    def __init__(self, n_features: int) -> None:
        self.labels = bytearray()
        self.features = 0
        self._n_features = n_features
        self._values, self._indices, self._counts = bytearray(), bytearray(), bytearray()
        self._dense: bool | None = None

    def add(self, X: Any, y: NDArray[np.float64]) -> None:
        """Append some rows. The first ones decide whether the zeros are kept, too."""
        if self._dense is None and len(y) > 0:
            # An entry of a CSR matrix takes 12 bytes.
            self._dense = bool(12 * X.nnz > 8 * X.shape[0] * X.shape[1])
        self.labels += y.tobytes()
        self.features = max(self.features, int(X.indices.max(initial=-1)) + 1)
        if self._dense:
            self._values += X.toarray().tobytes()
        else:
            self._values += X.data.tobytes()
            self._indices += X.indices.astype(np.int32).tobytes()
            self._counts += np.diff(X.indptr).astype(np.int64).tobytes()

    def matrix(self) -> Any:
        """Return all rows."""
        values = np.frombuffer(self._values, dtype=np.float64)
        if self._dense:
            return values.reshape(-1, self._n_features)
        indices = np.frombuffer(self._indices, dtype=np.int32)
        counts = np.frombuffer(self._counts, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)])
        if len(values) < np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        shape = (len(counts), self._n_features)
        return sparse.csr_array((values, indices, starts), shape=shape)

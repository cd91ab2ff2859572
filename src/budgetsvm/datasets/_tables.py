"""All rows of one LIBSVM file, in the form that takes less memory, with the checksum of its text."""

import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from budgetsvm._common.progress import byte_bar
from budgetsvm.streams._blocks import all_finite
from budgetsvm.streams._libsvm import LibsvmBlocks
from budgetsvm.streams._text import BYTE_ORDER_MARK, compression, read_pieces


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
        for piece in read_pieces(path):
            digest.update(piece)
            gathered.add(*_parse(piece, path, n_features))
            bar.update(len(piece))
    if not gathered.labels:
        message = f"{path} is empty: it holds no rows"
        raise ValueError(message)
    y = np.frombuffer(gathered.labels, dtype=np.float64)
    return Table(gathered.matrix(), y, digest.hexdigest(), gathered.features)


def _parse(piece: bytes, path: Path, n_features: int) -> tuple[Any, NDArray[np.float64]]:
    text = BytesIO(piece.removeprefix(BYTE_ORDER_MARK))
    try:
        X, y = load_svmlight_file(text, n_features=n_features, zero_based=False)
        if all_finite(X.data, y):
            return X, y
        message = "a value is not finite"
    except (ValueError, OverflowError) as error:
        message = str(error)
    # The reader of blocks is slower, but names the line and what is wrong with it.
    for _ in LibsvmBlocks([path], 8192, n_features=n_features, zero_based=False):
        pass
    message = f"{path}: {message}"
    raise ValueError(message)


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

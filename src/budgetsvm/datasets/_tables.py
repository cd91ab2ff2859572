"""All rows of one LIBSVM file, in the form that takes less memory, with the checksum of its text."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.progress.bars import byte_bar
from budgetsvm.streams._libsvm.gather import Gathered
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
    gathered = Gathered(1, n_features)
    total = path.stat().st_size if compression(path) is None else None
    with byte_bar(f"reading {path.name}", total) as bar:
        for piece in parsed_pieces(path, 1, n_features, _PIECE):
            piece.check()
            digest.update(piece.text)
            gathered.add(piece.rows)
            bar.update(piece.size)
    if gathered.n_rows == 0:
        message = f"{path} is empty: it holds no rows"
        raise ValueError(message)
    X = gathered.matrix(n_features)
    return Table(X, gathered.targets(), digest.hexdigest(), max(gathered.largest, 0))

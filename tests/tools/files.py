"""Small data files for tests, and what blocks of them hold."""

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
from scipy import sparse

from budgetsvm.streams import Blocks

COMPRESSED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def join(blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """All rows, as one dense array, and all labels."""
    parts = list(blocks)
    dense = [X.toarray() if sparse.issparse(X) else X for X, _ in parts]
    return np.concatenate(dense), np.concatenate([y for _, y in parts])

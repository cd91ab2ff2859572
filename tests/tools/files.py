"""Small data files for tests, and what blocks of them hold."""

import bz2
import gzip
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from budgetsvm.streams import Blocks

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESSED = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def compress(path: Path, suffix: str) -> None:
    """Put a compressed file in the place of a file."""
    write(path.with_name(f"{path.name}{suffix}"), COMPRESSED[suffix](path.read_bytes()))
    path.unlink()


def libsvm_text(X: Any, y: Any) -> str:
    """Rows in LIBSVM format."""
    return "".join(
        f"{label:g} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row.tolist(), 1) if x) + "\n"
        for row, label in zip(X, y, strict=True)
    )


def join(blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """All rows, as one dense array, and all labels."""
    parts = list(blocks)
    dense = [X.toarray() if sparse.issparse(X) else X for X, _ in parts]
    return np.concatenate(dense), np.concatenate([y for _, y in parts])

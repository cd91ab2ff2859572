"""Parsed files, kept in the user's cache: parsing text takes much longer than training."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from budgetsvm._common.files.complete import cache_folder, replacing
from budgetsvm.datasets._tables import Table, parse_table

# Part of the name of a cached file: raise it when the layout of the arrays changes.
_LAYOUT = 2
_WORTH_KEEPING = 1 << 16  # bytes: smaller files are read in no time


def read_table(path: Path, n_features: int) -> Table:
    """Return the rows of a file, from the cache unless the file is new or was changed."""
    table = _read(_cached_path(path, n_features))
    if table is None:
        table = parse_table(path, n_features)
        keep_table(path, n_features, table)
    return table


def keep_table(path: Path, n_features: int, table: Table) -> None:
    """Put what a file holds into the cache, in place of what it used to hold."""
    forget_table(path)
    if path.stat().st_size < _WORTH_KEEPING:
        return
    # A disk that is full costs time at the next call, and nothing else.
    with suppress(OSError), replacing(_cached_path(path, n_features)) as stream:
        np.savez(
            stream,
            **_parts(table.X),
            y=table.y,
            sha256=np.array(table.sha256),
            features=np.array(table.features),
        )


def forget_table(path: Path) -> None:
    """Remove from the cache what a file holds, or used to hold."""
    for stale in cache_folder("arrays").glob(f"{_key(path)}-*.npz"):
        with suppress(OSError):  # another process may be reading it
            stale.unlink()


def _cached_path(path: Path, n_features: int) -> Path:
    """Name the cached arrays of a file so that a changed file gets another name."""
    stat = path.stat()
    name = f"{_key(path)}-{stat.st_size}-{stat.st_mtime_ns}-{n_features}-{_LAYOUT}.npz"
    return cache_folder("arrays") / name


def _key(path: Path) -> str:
    """Name a file, wherever it lies, without special characters."""
    return hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _parts(X: Any) -> dict[str, Any]:
    if sparse.issparse(X):
        return {"values": X.data, "indices": X.indices, "starts": X.indptr, "shape": X.shape}
    return {"X": X}


def _read(path: Path) -> Table | None:
    """Return what is cached; None if there is nothing, or nothing that can be read."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            if "X" in arrays:
                X = arrays["X"]
            else:
                parts = (arrays["values"], arrays["indices"], arrays["starts"])
                X = sparse.csr_array(parts, shape=tuple(arrays["shape"]))
            table = Table(X, arrays["y"], str(arrays["sha256"]), int(arrays["features"]))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, TypeError, IndexError):
        return None
    return table if _is_sound(table) else None


def _is_sound(table: Table) -> bool:
    """Whether rows and labels go together: a file in a cache is anybody's."""
    X, y = table.X, table.y
    numbers = X.dtype.kind == "f" and y.dtype.kind == "f" and X.ndim == 2
    if not (numbers and y.shape == X.shape[:1]):
        return False
    if not sparse.issparse(X):
        return True
    try:
        X.check_format(full_check=True)
    except ValueError:
        return False
    return True

"""Where the files of a data set come from: a folder, or the user's cache."""

from dataclasses import dataclass
from pathlib import Path

from budgetsvm._catalogue import DataFile
from budgetsvm._libsvm_table import Table
from budgetsvm._table_cache import read_table

_SUFFIXES = ("", ".xz", ".gz", ".bz2")


@dataclass(frozen=True)
class Places:
    """Where to look for files."""

    folder: Path | None  #: of the user
    cache: Path  #: for what is downloaded

    def find(self, name: str) -> Path | None:
        """Return the path of a file, plain or compressed, or None."""
        folders = (self.cache,) if self.folder is None else (self.folder, self.cache)
        paths = (find_file(folder, name) for folder in folders)
        return next((path for path in paths if path is not None), None)


@dataclass(frozen=True)
class Found:
    """What a file holds, and whether that is what it should hold."""

    file: DataFile
    path: Path
    table: Table
    verified: bool | None  #: None if there is no checksum to compare with


def find_file(folder: Path, name: str) -> Path | None:
    """Return the path of a file, plain or compressed, or None."""
    paths = (folder / f"{name}{suffix}" for suffix in _SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def obtain(file: DataFile, n_features: int, places: Places) -> Found:
    """Read a file, wherever it is."""
    path = places.find(file.name)
    if path is None:
        message = f"there is no {file.name}, plain or compressed"
        raise FileNotFoundError(message)
    table = read_table(path, n_features)
    return Found(file, path, table, table.sha256 in file.sha256 if file.sha256 else None)

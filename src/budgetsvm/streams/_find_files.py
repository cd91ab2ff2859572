"""Which files are meant, and of what format they are."""

import os
import re
from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path
from typing import TypeAlias

from budgetsvm.streams._numpy.header import MAGIC
from budgetsvm.streams._parquet import ARROW
from budgetsvm.streams._text import compression, first_bytes, read_lines, uncompressed_suffix

PathLike: TypeAlias = str | os.PathLike[str]

_BY_SUFFIX = {
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "numpy",
    ".npz": "numpy",
}
_LIBSVM_ROW = re.compile(rb"\s*[^\s:]+(\s+(qid|\d+):\S*)+\s*(#.*)?$|\s*[-+.\deE]+\s*(#.*)?$")


def find_files(path: PathLike | Iterable[PathLike]) -> list[Path]:
    """Return the files that a path, a folder, a pattern or a list of these stands for."""
    if isinstance(path, (str, os.PathLike)):
        return _expand(path)
    files = [file for each in path for file in _expand(each)]
    if not files:
        raise ValueError("the list of paths is empty: there is nothing to read")
    return files


def _expand(path: object) -> list[Path]:
    if not isinstance(path, (str, os.PathLike)):
        message = f"a path must be a string or a Path, not {path!r}"
        raise TypeError(message)
    here = Path(path)
    if here.is_dir():
        # Names like _SUCCESS are notes of the programs that write many files.
        files = [p for p in sorted(here.iterdir()) if p.is_file() and p.name[0] not in "._"]
        if not files:
            message = f"there are no files in the folder {str(here)!r}"
            raise FileNotFoundError(message)
        return files
    if not here.exists() and has_magic(str(path)):
        names = sorted(glob(str(path), recursive=True))  # noqa: PTH207  # may be absolute
        files = [Path(name) for name in names]
        files = [file for file in files if file.is_file()]
        if not files:
            message = f"no file matches {str(path)!r}"
            raise FileNotFoundError(message)
        return files
    if here.exists() and not here.is_file():
        message = f"{here} is not a regular file, and cannot be read several times: save it first"
        raise ValueError(message)
    here.open("rb").close()  # complain now, not in the middle of a long run
    return [here]


def _is_archive_of_arrays(path: Path) -> bool:
    """Whether the first file in a zip archive is an array: so .npz files are known by other names."""
    with path.open("rb") as file:
        start = file.read(30)
        name = file.read(int.from_bytes(start[26:28], "little"))
    return start.startswith(b"PK\x03\x04") and name.endswith(b".npy")


def find_format(paths: list[Path], otherwise: str | None = None) -> str:
    """Return the format of all files, or say that it cannot be told, or is not the same; there may be a guess."""
    first, *others = paths
    format_ = _format_of(first, otherwise)
    for path in others:
        other = _format_of(path, otherwise)
        if other != format_:
            message = (
                f"all files must have one format, but {first} is {format_} and {path} is {other}"
            )
            raise ValueError(message)
    return format_


def _by_beginning(path: Path) -> str | None:
    start = first_bytes(path)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(ARROW):
        return "arrow"
    return "numpy" if start.startswith(MAGIC) or _is_archive_of_arrays(path) else None


def _format_of(path: Path, otherwise: str | None) -> str:
    """Tell a file's format by its name, or else by its first row."""
    format_ = _by_beginning(path)
    if format_ is not None:
        return format_
    format_ = _BY_SUFFIX.get(uncompressed_suffix(path))
    if format_ in ("parquet", "arrow", "numpy") and path.suffix.lower() not in (".npy", ".npz"):
        kind = compression(path)
        if kind is not None:
            message = f"{path} is compressed as a whole ({kind}), and cannot be read in blocks: decompress it"
            raise ValueError(message)
    if format_ is not None:
        return format_
    for line in read_lines(path):
        row = line.strip()
        if row and not row.startswith(b"#"):
            if _LIBSVM_ROW.match(row):
                return "libsvm"
            if b"," in row:
                return "csv"
            if otherwise is not None:
                return otherwise
            message = (
                f"cannot tell the format of {path} by its name or its first row, "
                f"{row[:40].decode('utf-8', 'backslashreplace')!r}; it may be "
                "libsvm, csv, parquet, arrow or numpy: say which by format="
            )
            raise ValueError(message)
    return "libsvm"  # without rows, as the reader will find

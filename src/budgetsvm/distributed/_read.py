"""LIBSVM files as delayed blocks of rows: each a stretch of a file, which whoever needs it reads, once more if need be."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import dask
from dask import delayed

from budgetsvm._common.checks import check_integer, check_truth
from budgetsvm._common.public import public_in
from budgetsvm.streams._libsvm.flaws import LARGEST_INDEX
from budgetsvm.streams._libsvm.gather import Columns
from budgetsvm.streams._libsvm.parse import Parsed, parse
from budgetsvm.streams._libsvm.pieces import Piece

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_LOOK_BYTES = 1 << 20  # of a file, that say whether its rows are better kept dense
_COUNT_BYTES = 1 << 24


@dataclass(frozen=True)
class Stretch:
    """Where some lines of a file begin, and how large the file was when that was decided.

    And when it had changed last: blocks of a file that has changed since then have other names. Copies of a file on
    several machines may have times of their own, so that nobody is refused for that.
    """

    path: str
    size: int
    changed: int  #: in nanoseconds
    start: int
    stop: int


@public_in("budgetsvm.distributed")
def read_libsvm(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    block_bytes: int = 1 << 26,
) -> list[Any]:
    """Return LIBSVM files as delayed blocks (X, y), for the estimators of this package.

    Nothing is read but the beginning of the first file, and all files once, by the current cluster, where `n_features` is
    not given. Workers read the files themselves: these must be where every worker finds them, and as they are
    until a model is trained; a file of another size is refused.

    Parameters
    ----------
    paths : path-like or list of these
        Text files that are not compressed: nobody could begin in the middle of those that are.
    n_features : int, default=None
        Number of columns. None: up to the largest index in use, for which all files are read.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0. "auto": if there is an index 0; with `n_features`, they count from 1.
    block_bytes : int, default=67108864
        Bytes of text of a block.

    Returns
    -------
    blocks : list of delayed (X, y)
        X is a csr_array or, if that takes less memory, an array; y has the labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from budgetsvm.distributed import read_libsvm
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.libsvm")
    ...     _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1\\n+1 1:4\\n")
    ...     for X, y in [block.compute() for block in read_libsvm(path, block_bytes=16)]:
    ...         print(X.shape, y)
    (2, 3) [ 1. -1.]
    (1, 3) [1.]
    """
    check_integer("block_bytes", block_bytes, least=1)
    if n_features is not None:
        check_integer("n_features", n_features, least=1)
    if zero_based != "auto":
        check_truth("zero_based", zero_based)
    files = [paths] if isinstance(paths, str | PathLike) else list(paths)
    stretches = [
        Stretch(str(path), size, changed, start, min(start + block_bytes, size))
        for path in files
        for size, changed in [_state(Path(path))]
        for start in range(0, size, block_bytes)
    ]
    if not stretches:
        raise ValueError("there is no text in these files: nothing to learn from")
    first = None if zero_based == "auto" else 1 - int(zero_based)
    if n_features is None:
        seen = _columns(stretches, first)
        first = min(seen.least, 1) if first is None else first
        n_features = seen.largest - first + 1
    first = 1 if first is None else first
    begin = stretches[0]
    few = replace(begin, stop=min(begin.stop, begin.start + _LOOK_BYTES))
    look = Columns()
    look.look(_parsed(few, first, n_features))
    dense = look.suits_dense(n_features)
    read = delayed(_block, pure=True)
    return [
        read(
            stretch,
            first,
            n_features,
            dense=dense,
            dask_key_name=_key(number, stretch, first, n_features, dense),
        )
        for number, stretch in enumerate(stretches)
    ]


def _key(number: int, *what: Any) -> str:
    return f"read_libsvm-{dask.tokenize.tokenize(what)}-{number}"


def _state(path: Path) -> tuple[int, int]:
    """Return the bytes of a file, and when it changed last."""
    if path.suffix in _COMPRESSED:
        message = (
            f"{path} is compressed: nobody can begin to read in the middle of it. Unpack it first, or read it by "
            "budgetsvm.streams on one machine"
        )
        raise ValueError(message)
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _columns(stretches: Sequence[Stretch], first: int | None) -> Columns:
    """Read all files for what they do not say."""
    look = delayed(_look, pure=False)
    tasks = [look(stretch, 0 if first is None else first) for stretch in stretches]
    seen = Columns()
    for n_rows, n_entries, least, largest in dask.compute(*tasks):
        seen.n_rows += n_rows
        seen.n_entries += n_entries
        seen.least, seen.largest = min(seen.least, least), max(seen.largest, largest)
    if seen.largest < 0:
        message = f"no row of {stretches[0].path} has a feature; say n_features= if that is right"
        raise ValueError(message)
    return seen


def _look(stretch: Stretch, first: int) -> tuple[int, int, int, int]:
    rows = _parsed(stretch, first, LARGEST_INDEX)
    return len(rows), len(rows.values), rows.least, rows.largest


def _block(stretch: Stretch, first: int, n_features: int, *, dense: bool) -> Any:
    """Return the rows that begin in a stretch of a file, and their labels."""
    rows = _parsed(stretch, first, n_features)
    X = rows.matrix(n_features)
    return (X.toarray() if dense else X), rows.y


def _parsed(stretch: Stretch, first: int, n_features: int) -> Parsed:
    path, start = Path(stretch.path), stretch.start
    size = path.stat().st_size
    if size != stretch.size:
        message = f"{path} has {size} bytes, and had {stretch.size} when read_libsvm looked at it: call read_libsvm again"
        raise ValueError(message)
    text = _lines(path, start, stretch.stop)
    rows = parse(text, first, n_features)
    if rows.fault is not None:
        line = 1 + _count_lines(path, start)
        Piece(path, text, line, rows, first, n_features).check()
    return rows


def _lines(path: Path, start: int, stop: int) -> bytes:
    """Return the lines that begin in a stretch of a file."""
    with path.open("rb") as file:
        if start > 0:
            file.seek(start - 1)
            file.readline()  # the rest of a line that begins before
        begin = file.tell()
        if begin >= stop:
            return b""
        text = file.read(stop - begin)
        return text if text.endswith(b"\n") else text + file.readline()


def _count_lines(path: Path, start: int) -> int:
    """Return how many lines begin before a stretch."""
    count = 0
    with path.open("rb") as file:
        while start > 0 and (part := file.read(min(start, _COUNT_BYTES))):
            count += part.count(b"\n")
            last, start = part[-1:], start - len(part)
        if count and last != b"\n":
            count += 1  # that line is not ours
    return count

"""Lines of a text file, plain or compressed. What goes wrong names the file and the line."""

import bz2
import gzip
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from budgetsvm._common.extras import extra
from budgetsvm.streams._decompress import Streams


def _zstandard() -> Any:
    """Return the module, which Python has from 3.14 on."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    with extra("zstd", f"Zstandard files need {name}"):
        return import_module(name)


# A few bytes can ask for gigabytes; `xz -9` takes 65 MiB.
_MOST_MEMORY = 1 << 28


def _streams(kind: str, make: Callable[[], Any]) -> Callable[[Path], Any]:
    return lambda path: Streams(path, kind, make)


_OPEN: dict[str, Callable[[Path], Any]] = {
    "gzip": gzip.open,
    "bzip2": _streams("bzip2", bz2.BZ2Decompressor),
    "xz": _streams("xz", partial(lzma.LZMADecompressor, memlimit=_MOST_MEMORY)),
    "Zstandard": _streams("Zstandard", lambda: _zstandard().ZstdDecompressor()),
}
_BY_SUFFIX = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip", ".zst": "Zstandard"}
_BY_FIRST_BYTES = {
    "gzip": rb"\x1f\x8b",
    "bzip2": rb"BZh[1-9]",
    "xz": rb"\xfd7zXZ\x00",
    "zip": rb"PK\x03\x04",
    "Zstandard": rb"\x28\xb5\x2f\xfd",
}
_BUFFER = 1 << 18
_LONGEST_LINE = 1 << 28  # a file without line ends must not fill the memory
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # Windows begins UTF-8 files with it


def first_bytes(path: Path) -> bytes:
    """Return the bytes that tell what kind of file it is."""
    with path.open("rb") as file:
        return file.read(8)


def uncompressed_suffix(path: Path) -> str:
    """Return the suffix below that of the compression, in lower case: ".csv" for a.CSV.gz."""
    if path.suffix.lower() in _BY_SUFFIX:
        path = path.with_suffix("")
    return path.suffix.lower()


def compression(path: Path) -> str | None:
    """Return how a file is compressed: its bytes count, and its name must not contradict them."""
    start = first_bytes(path)
    found = next((kind for kind, p in _BY_FIRST_BYTES.items() if re.match(p, start)), None)
    named = _BY_SUFFIX.get(path.suffix.lower(), found)
    if found != named:
        message = (
            f"{path} is not a {named} file, although its name ends in {path.suffix}: was it cut off, "
            "or renamed?"
        )
        raise OSError(message)
    if found is not None and found not in _OPEN:
        message = (
            f"{path} is compressed by {found}; only {', '.join(_OPEN)} can be read: decompress it, "
            "or compress it by one of these"
        )
        raise ValueError(message)
    return found


def read_lines(path: Path) -> Iterator[bytes]:
    r"""Yield the lines of a file, every one with \n at its end."""
    number = 0
    kind = compression(path)
    try:
        with _open(path, kind) as file:
            for line in iter(partial(file.readline, _LONGEST_LINE), b""):
                number += 1
                yield _whole(line, path, number)
    except _damage(kind) as error:
        _complain(error, kind, f"{path}, after line {number}")


def read_pieces(path: Path, size: int = 1 << 24) -> Iterator[tuple[int, bytes]]:
    """Yield the text of a file, byte for byte, in pieces of whole lines, after the number of their first line."""
    line = 1
    kind = compression(path)
    try:
        with _open(path, kind) as file:
            while piece := file.read(size):
                piece += file.readline(_LONGEST_LINE)
                first, line = line, line + piece.count(b"\n")
                _check_end(piece, path, line)
                yield first, piece
    except _damage(kind) as error:
        _complain(error, kind, f"{path}, after line {line - 1}")


def _damage(kind: str | None) -> tuple[type[Exception], ...]:
    """Return what is raised where a compressed file is damaged."""
    return (*_DAMAGE, _zstandard().ZstdError) if kind == "Zstandard" else _DAMAGE


def _complain(error: Exception, kind: str | None, place: str) -> NoReturn:
    """Raise an error that names the file."""
    # Errors of the system have a number, and name the file themselves.
    if isinstance(error, OSError) and error.errno is not None:
        raise error
    message = f"{place}: the {kind} file is damaged or cut off ({error})"
    raise OSError(message) from error


def _open(path: Path, kind: str | None) -> BinaryIO:
    if kind is None:
        return path.open("rb", buffering=_BUFFER)
    # These files have a readline of their own, in Python and slow.
    return BufferedReader(_OPEN[kind](path), _BUFFER)


def _whole(line: bytes, path: Path, number: int) -> bytes:
    """Return a line with its end, and without a byte order mark."""
    if number == 1 and line.startswith(_BYTE_ORDER_MARK):
        line = line[len(_BYTE_ORDER_MARK) :]
    if line.endswith(b"\n"):
        return line
    _check_end(line, path, number)
    return line + b"\n"  # the last line, if its end is missing


def _check_end(text: bytes, path: Path, number: int) -> None:
    """Raise a ValueError if a text ends in a line that is too long to be one."""
    if len(text) < _LONGEST_LINE or len(text) - 1 - text.rfind(b"\n") < _LONGEST_LINE:
        return
    message = f"{path}, line {number} is longer than {_LONGEST_LINE} bytes: is this a text file?"
    raise ValueError(message)

"""What the header of an NPY file says of its array. Nothing in it is believed, and nothing is run.

``numpy.load`` would do, but for what it does with a header that lies: it allocates what that asks for.
"""

import ast
import math
import re
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

MAGIC = b"\x93NUMPY"
_LENGTHS = {1: 2, 2: 4, 3: 4}  # bytes that say how long the header is, by version
_LONGEST = 10_000  # numpy.load has the same limit
_TYPE = re.compile(r"[<>|=]?(?:b1|\?|[iu][1248]|f[248]|[US][1-9][0-9]{0,5})")
_LONG = re.compile(r"(?<=[0-9])L")  # Python 2 wrote 10L


@dataclass(frozen=True)
class Header:
    """Type and shape of an array, whether columns follow one another, and where its numbers begin."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_columns: bool
    begin: int

    @property
    def n_bytes(self) -> int:
        """What the array takes."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def row_bytes(self) -> int:
        """What a row takes."""
        return math.prod(self.shape[1:]) * self.dtype.itemsize


def read_header(file: BinaryIO, size: int, where: str) -> Header:
    """Read the header of a file of some size, which must be that of the array."""
    start = file.read(len(MAGIC) + 2)
    if not start.startswith(MAGIC):
        message = f"{where} is not an array of NumPy (a .npy file)"
        raise ValueError(message)
    version = start[len(MAGIC)] if len(start) == len(MAGIC) + 2 else 0
    if version not in _LENGTHS:
        message = f"{where} is damaged, or of a version of the format, {version}, that is not known"
        raise ValueError(message)
    length = int.from_bytes(file.read(_LENGTHS[version]), "little")
    begin = len(MAGIC) + 2 + _LENGTHS[version] + length
    if length > _LONGEST or begin > size:
        message = f"{where} is damaged or cut off: its header has {length} bytes"
        raise ValueError(message)
    found = _parse(file.read(length).decode("latin-1" if version < 3 else "utf-8", "replace"))
    if found is None:
        message = f"{where} is damaged: its header makes no sense"
        raise ValueError(message)
    header = Header(_dtype(found["descr"], where), found["shape"], found["fortran_order"], begin)
    if size != begin + header.n_bytes:
        shown = " × ".join(map(str, header.shape))
        message = (
            f"{where} is damaged, cut off, or holds more than one array: an array of {shown} numbers of "
            f"{header.dtype.itemsize} bytes does not fit to {size} bytes"
        )
        raise ValueError(message)
    return header


def _parse(text: str) -> dict[str, Any] | None:
    """Return what a header says, or None if it does not say it."""
    try:
        found = ast.literal_eval(_LONG.sub("", text.strip()))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    if not isinstance(found, dict) or found.keys() != {"descr", "fortran_order", "shape"}:
        return None
    shape = found["shape"]
    if not isinstance(found["fortran_order"], bool) or not isinstance(shape, tuple):
        return None
    sound = len(shape) <= 8 and all(type(n) is int and 0 <= n < 2**63 for n in shape)
    return found if sound else None


def _dtype(described: object, where: str) -> np.dtype[Any]:
    if isinstance(described, str) and "O" in described:
        message = (
            f"{where} holds Python objects, which are pickled; pickles can run code, and are never opened: save plain "
            "numbers or strings, as by X.astype(float)"
        )
        raise ValueError(message)
    if not isinstance(described, str) or not _TYPE.fullmatch(described):
        shown = str(described)[:60]
        message = f"{where} has the type {shown}, and must hold real numbers, or strings as labels"
        raise ValueError(message)
    return np.dtype(described)

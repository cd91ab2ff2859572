"""Arrays in files, read from the first row to the last: a .npy file, or one of those in an .npz file.

Memory maps would do for plain .npy files, but a file that is cut while it is mapped ends the process.
"""

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from budgetsvm.streams._numpy.header import MAGIC, Header, read_header

_PIECE = 1 << 20  # what is read at once: what a header promises is not allocated before it is there
_SUFFIX = ".npy"
# What zipfile raises where a file is damaged or not what it can read: errors of the system, too, which it asks for places
# that no file has.
_DAMAGE = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    KeyError,
    OverflowError,
)


class ArrayError(ValueError):
    """Something is wrong with an array, in words that name its file."""


class RowReader:
    """The rows of an array, some at a time."""

    def __init__(self, file: BinaryIO, size: int, where: str, *, in_archive: bool) -> None:
        try:
            self.header: Header = read_header(file, size, where)
        except ValueError as error:
            raise ArrayError(str(error)) from None
        self.where, self.done = where, 0
        self._file, self._start = file, self.header.begin
        if self.header.by_columns and len(self.header.shape) > 1 and in_archive:
            # Rows are all over the file, and an archive can only be read from its start.
            self._file, self._start = BytesIO(self._bytes(self.header.n_bytes)), 0

    def __len__(self) -> int:
        return self.header.shape[0] if self.header.shape else 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the numbers are."""
        return self.header.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and columns if there are any."""
        return self.header.shape

    def take(self, n: int) -> NDArray[Any]:
        """Return the next rows, at most n of them."""
        n = min(n, len(self) - self.done)
        if self.header.by_columns and len(self.shape) > 1:
            rows = self._take_columns(n)
        else:
            rows = np.frombuffer(self._bytes(n * self.header.row_bytes), self.dtype)
            rows = rows.reshape(n, *self.shape[1:])
        self.done += n
        return rows

    def finish(self) -> None:
        """Read on to the end, where an archive's checksum is looked at."""
        while self._file.read(_PIECE):
            pass

    def _take_columns(self, n: int) -> NDArray[Any]:
        size = self.dtype.itemsize
        rows = np.empty((n, *self.shape[1:]), self.dtype)
        for k in range(self.shape[1]):
            self._file.seek(self._start + (k * len(self) + self.done) * size)
            rows[:, k] = np.frombuffer(self._bytes(n * size), self.dtype)
        return rows

    def _bytes(self, n: int) -> bytearray:
        found = bytearray()
        while len(found) < n:
            piece = self._file.read(min(_PIECE, n - len(found)))
            if not piece:
                message = f"{self.where} is cut off"
                raise ArrayError(message)
            found += piece
        return found


class ArrayFile:
    """An open file with one array, or some that have names."""

    def __init__(self, path: Path, file: BinaryIO, archive: zipfile.ZipFile | None) -> None:
        self.path = path
        self._file, self._archive = file, archive
        self._members = {} if archive is None else _members(archive)

    @property
    def names(self) -> list[str] | None:
        """Names of the arrays, or None if there is one, without a name."""
        return None if self._archive is None else list(self._members)

    def read(self, name: str | None = None) -> RowReader:
        """Begin to read an array."""
        if self._archive is None:
            size = self.path.stat().st_size
            return RowReader(self._file, size, str(self.path), in_archive=False)
        assert name is not None
        info = self._members[name]
        where = f"{self.path}, array {name!r}"
        stream: Any = self._archive.open(info)
        return RowReader(stream, info.file_size, where, in_archive=True)

    def read_all(self, name: str) -> NDArray[Any]:
        """Return an array of an archive."""
        reader = self.read(name)
        if reader.shape:
            found = reader.take(len(reader))
        else:
            found = np.frombuffer(reader._bytes(reader.dtype.itemsize), reader.dtype).reshape(())
        reader.finish()
        return found


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = [info for info in archive.infolist() if info.filename.endswith(_SUFFIX)]
    return {info.filename.removesuffix(_SUFFIX): info for info in infos}


@contextmanager
def open_arrays(path: Path) -> Iterator[ArrayFile]:
    """Open a file. Damage turns into an error that names it, also while it is read."""
    with path.open("rb") as file:
        start = file.read(len(MAGIC))
        file.seek(0)
        if start == MAGIC:
            yield ArrayFile(path, file, None)
            return
        try:
            with zipfile.ZipFile(file) as archive:
                yield ArrayFile(path, file, archive)
        except ArrayError:
            raise
        except _DAMAGE as error:
            said = str(error) or type(error).__name__
            message = (
                f"{path} cannot be read as a file of NumPy, it may be damaged or cut off: {said}"
            )
            raise OSError(message) from error

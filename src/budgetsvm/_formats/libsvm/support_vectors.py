"""The part of a model of LIBSVM with the support vectors, one per line: ``coef ... index:value ...``.

Whatever is in it, memory stays within a few times that of the text: lines are checked where they are, and numbers are
read from many lines at once.
"""

import re
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_NUMBER = rb"[-+]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
_COEF = re.compile(rb"[ \t]*+(" + _NUMBER + rb")(?![^ \t\r\n])")
_ENTRIES = re.compile(rb"(?:[ \t]++[0-9]{1,10}:" + _NUMBER + rb"(?![^ \t\r\n]))*+[ \t]*+\r?+")
_BLOCK = 1 << 16  # bytes of text whose numbers are read at once
LARGEST_INDEX = 2**31 - 1  # of LIBSVM


@dataclass(frozen=True, eq=False)
class SupportVectors:
    """Coefficients (rows, support vectors), and the entries of all vectors one after the other."""

    coef: NDArray[np.float64]
    starts: NDArray[np.int64]  #: of the entries of every vector, and their end
    columns: NDArray[np.int32]  #: counted from 0
    values: NDArray[np.float64]

    @property
    def n_bytes(self) -> int:
        """How much memory they take."""
        arrays = (self.coef, self.starts, self.columns, self.values)
        return sum(one.nbytes for one in arrays)

    @property
    def width(self) -> int:
        """How many features the vectors have at least."""
        return int(self.columns.max(initial=-1)) + 1

    def sparse(self, n_features: int) -> Any:
        """Return the vectors as rows, without zeros."""
        shape = (len(self.starts) - 1, n_features)
        rows = sparse.csr_array((self.values, self.columns, self.starts.astype(np.int32)), shape)
        rows.eliminate_zeros()
        return rows


def read_support_vectors(
    text: bytes, at: int, *, line: int, n_coef: int, count: int, where: str
) -> SupportVectors:
    """Read `count` lines from a place in a text on; `line` is the number of the first one."""
    n_lines = text.count(b"\n", at) + bool(text[max(at, text.rfind(b"\n") + 1) :].strip())
    if n_lines < count:
        _refuse(where, line + n_lines, f"there are {n_lines} support vectors, not {count}")
    if 2 * n_coef * count > len(text) - at + 1:
        _refuse(where, line, f"there are too few coefficients, {n_coef} per support vector")
    reader = _Reader(text, at, n_coef=n_coef, count=count, where=where, line=line)
    begin = at
    for number in range(count):
        end = text.find(b"\n", at)
        if end < 0:  # LIBSVM ends every line; without that, nobody knows what is missing
            problem = "the file ends within the line, and was cut off; if it was not, put a line end behind it"
            _refuse(where, line + number, problem)
        _check(text, at, end, n_coef=n_coef, line=line + number, where=where)
        at = min(end + 1, len(text))
        if at - begin >= _BLOCK or number == count - 1:
            reader.read(begin, at, number + 1)
            begin = at
    if text[at:].strip():
        _refuse(where, line + count, f"there are more than {count} support vectors")
    return reader.found()


def _check(text: bytes, at: int, end: int, *, n_coef: int, line: int, where: str) -> None:
    """Check the form of a line."""
    place = at
    for _ in range(n_coef):
        found = _COEF.match(text, place, end)
        if found is None:
            _refuse(where, line, f"a coefficient must stand at {_word(text, place, end)!r}")
        place = found.end()
    found = _ENTRIES.match(text, place, end)
    assert found is not None  # which may be empty
    if found.end() < end:
        word = _word(text, found.end(), end)
        _refuse(where, line, f"{word!r} is not index:value, two finite numbers")


def _word(text: bytes, at: int, end: int) -> str:
    words = text[at : min(end, at + 200)].split(maxsplit=1)
    return words[0][:40].decode(errors="replace") if words else ""


class _Reader:
    """Room for all support vectors, which blocks of lines fill."""

    def __init__(
        self, text: bytes, at: int, *, n_coef: int, count: int, where: str, line: int
    ) -> None:
        self._text, self._n_coef, self._where, self._line = text, n_coef, where, line
        n_entries = min(text.count(b":", at), (len(text) - at) // 4 + 1)  # " 1:1" at least
        self._coef, self._starts = np.empty((n_coef, count)), np.zeros(count + 1, np.int64)
        self._columns, self._values = np.empty(n_entries, np.int32), np.empty(n_entries)
        self._rows = self._entries = 0

    def read(self, begin: int, end: int, row: int) -> None:
        """Read the numbers of lines that have been checked, up to a row."""
        rows, first = slice(self._rows, row), self._entries
        lines = self._text[begin:end]
        sizes = np.array([one.count(b":") for one in lines.splitlines()], np.int64)
        flat = np.fromstring(lines.translate(_BLANKS).decode(), sep=" ")
        begins = np.cumsum(self._n_coef + 2 * sizes) - (self._n_coef + 2 * sizes)
        of_entries = np.ones(len(flat), np.bool_)
        for m in range(self._n_coef):
            self._coef[m, rows] = flat[begins + m]
            of_entries[begins + m] = False
        entries = flat[of_entries]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        indices, values = entries[0::2].astype(np.int64), entries[1::2]
        _check_indices(indices, starts, self._line + self._rows, self._where)
        self._check_finite(rows, values, starts)
        some = slice(first, first + len(values))
        self._columns[some], self._values[some] = indices - 1, values
        self._starts[self._rows + 1 : row + 1] = first + starts[1:]
        self._rows, self._entries = row, some.stop

    def _check_finite(
        self, rows: slice, values: NDArray[np.float64], starts: NDArray[np.int64]
    ) -> None:
        wrong = np.flatnonzero(~np.isfinite(self._coef[:, rows]).all(axis=0))
        infinite = np.flatnonzero(~np.isfinite(values))
        found = [*wrong[:1], *(np.searchsorted(starts, infinite[:1], "right") - 1)]
        if found:
            line = self._line + rows.start + int(min(found))
            _refuse(self._where, line, "has a number too large for double precision")

    def found(self) -> SupportVectors:
        """Return all of them."""
        some = slice(0, self._entries)
        return SupportVectors(self._coef, self._starts, self._columns[some], self._values[some])


_BLANKS = bytes.maketrans(b":\n\r\t", b"    ")


def _check_indices(
    indices: NDArray[np.int64], starts: NDArray[np.int64], line: int, where: str
) -> None:
    """Indices must count from 1, and ascend in every line."""
    in_range = (indices >= 1) & (indices <= LARGEST_INDEX)
    ascending = np.concatenate([[True], np.diff(indices) > 0])[: len(indices)]
    ascending[starts[:-1][np.diff(starts) > 0]] = True  # the first of a line
    fits = in_range & ascending
    if not fits.all():
        entry = int(np.argmin(fits))
        row = int(np.searchsorted(starts, entry, "right")) - 1
        problem = f"the index {indices[entry]} stands where it must not: indices ascend, from 1 to {LARGEST_INDEX}"
        _refuse(where, line + row, problem)


def _refuse(where: str, line: int, problem: str) -> NoReturn:
    message = f"{where}, line {line}: {problem}"
    raise ValueError(message)

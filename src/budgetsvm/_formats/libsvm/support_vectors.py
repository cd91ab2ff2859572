"""The part of a model of LIBSVM with the support vectors, one per line: ``coef ... index:value ...``.

Whatever is in it, memory stays within a few times that of the text: lines are checked where they are, and numbers are
read from many lines at once.
"""

import re
from array import array
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

_NUMBER = rb"[-+]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
_COEF = re.compile(rb"[ \t]*+(" + _NUMBER + rb")(?![^ \t\r\n])")
_ENTRIES = re.compile(rb"(?:[ \t]++[0-9]{1,10}:" + _NUMBER + rb"(?![^ \t\r\n]))*+[ \t]*+\r?+")
_BLOCK = 1 << 20  # bytes of text whose numbers are read at once
LARGEST_INDEX = 2**31 - 1  # of LIBSVM


@dataclass(frozen=True, eq=False)
class SupportVectors:
    """Coefficients (rows, support vectors), and the entries of all vectors one after the other."""

    coef: NDArray[np.float64]
    starts: NDArray[np.int64]  #: of the entries of every vector, and their end
    columns: NDArray[np.int64]  #: counted from 0
    values: NDArray[np.float64]

    @property
    def width(self) -> int:
        """How many features the vectors have at least."""
        return int(self.columns.max(initial=-1)) + 1

    def dense(self, n_features: int) -> NDArray[np.float64]:
        """Return the vectors as rows."""
        points = np.zeros((len(self.starts) - 1, n_features))
        points[np.repeat(np.arange(len(points)), np.diff(self.starts)), self.columns] = self.values
        return points


def read_support_vectors(
    text: bytes, at: int, *, line: int, n_coef: int, count: int, where: str
) -> SupportVectors:
    """Read `count` lines from a place in a text on; `line` is the number of the first one."""
    blocks: list[SupportVectors] = []
    begin = at
    lengths = array("q")
    for number in range(count):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        if at >= len(text):
            _refuse(where, line + number, f"there are {number} support vectors, not {count}")
        _check(text, at, end, n_coef=n_coef, line=line + number, where=where)
        lengths.append(text.count(b":", at, end))
        at = min(end + 1, len(text))
        if at - begin >= _BLOCK:
            blocks.append(_numbers(text[begin:at], lengths, n_coef, line + number, where))
            begin, lengths = at, array("q")
    blocks.append(_numbers(text[begin:at], lengths, n_coef, line + count - 1, where))
    if text[at:].strip():
        _refuse(where, line + count, f"there are more than {count} support vectors")
    return _joined(blocks)


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


def _numbers(
    text: bytes, lengths: "array[int]", n_coef: int, last: int, where: str
) -> SupportVectors:
    """Return the numbers of lines that have been checked."""
    sizes = np.frombuffer(lengths, np.int64) if lengths else np.zeros(0, np.int64)
    first_line = last - len(sizes) + 1
    flat = np.fromstring(text.translate(_BLANKS).decode(), sep=" ")
    begins = np.concatenate([[0], np.cumsum(n_coef + 2 * sizes)])
    assert len(flat) == begins[-1]
    coef = np.stack([flat[begins[:-1] + m] for m in range(n_coef)])
    of_entries = np.ones(len(flat), np.bool_)
    for m in range(n_coef):
        of_entries[begins[:-1] + m] = False
    entries = flat[of_entries]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns, values = entries[0::2].astype(np.int64) - 1, entries[1::2].copy()
    _check_indices(columns, starts, first_line, where)
    wrong = np.flatnonzero(~np.isfinite(coef).all(axis=0))
    infinite = np.flatnonzero(~np.isfinite(values))
    rows = [*wrong[:1], *(np.searchsorted(starts, infinite[:1], "right") - 1)]
    if rows:
        _refuse(where, first_line + int(min(rows)), "has a number too large for double precision")
    return SupportVectors(coef, starts, columns, values)


_BLANKS = bytes.maketrans(b":\n\r\t", b"    ")


def _check_indices(
    columns: NDArray[np.int64], starts: NDArray[np.int64], line: int, where: str
) -> None:
    """Indices must count from 1, and ascend in every line."""
    fits = (columns >= 0) & (columns < LARGEST_INDEX)
    fits[1:] &= np.diff(columns) > 0
    begins = starts[:-1][np.diff(starts) > 0]
    fits[begins] = (columns[begins] >= 0) & (columns[begins] < LARGEST_INDEX)
    if not fits.all():
        entry = int(np.argmin(fits))
        row = int(np.searchsorted(starts, entry, "right")) - 1
        _refuse(
            where,
            line + row,
            f"the index {columns[entry] + 1} stands where it must not: indices ascend, from 1 to {LARGEST_INDEX}",
        )


def _joined(blocks: list[SupportVectors]) -> SupportVectors:
    if len(blocks) == 1:
        return blocks[0]
    ends = np.cumsum([0, *(block.starts[-1] for block in blocks)])
    starts = [block.starts[:-1] + end for block, end in zip(blocks, ends, strict=False)]
    return SupportVectors(
        np.concatenate([block.coef for block in blocks], axis=1),
        np.concatenate([*starts, ends[-1:]]),
        np.concatenate([block.columns for block in blocks]),
        np.concatenate([block.values for block in blocks]),
    )


def _refuse(where: str, line: int, problem: str) -> NoReturn:
    message = f"{where}, line {line}: {problem}"
    raise ValueError(message)

"""Blocks of rows from LIBSVM (SVMlight) files: ``label index:value index:value ...  # comment``."""

import math
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from budgetsvm.streams._blocks import Block, Blocks, all_finite
from budgetsvm.streams._text import read_lines
from budgetsvm.streams._text_blocks import TextBlock, extent, numbered, text_blocks

_LARGEST_INDEX = 2**31 - 1  # the parser's


class LibsvmBlocks(Blocks):
    """Blocks of CSR matrices."""

    def __init__(
        self, paths: Sequence[Path], rows: int, *, n_features: int | None, zero_based: bool
    ) -> None:
        super().__init__(paths, rows)
        self._first = 0 if zero_based else 1
        self._n_features = n_features

    @property
    def n_features(self) -> int:
        """Number of columns of every X; unless given, all files are read for it, once."""
        if self._n_features is None:
            self._n_features = self._count_features()
        return self._n_features

    def _read(self) -> Iterator[Block]:
        n_features = self.n_features
        files = ((path, 1, read_lines(path)) for path in self.paths)
        for block in text_blocks(files, self.rows, _is_row):
            yield self._parse(block, n_features)

    def _parse(self, block: TextBlock, n_features: int) -> Block:
        text = BytesIO(b"".join(line for piece in block for line in piece.lines))
        try:
            X, y = load_svmlight_file(text, n_features=n_features, zero_based=self._first == 0)
        except (ValueError, OverflowError) as error:
            raise self._complaint(block, n_features, str(error)) from error
        if not all_finite(X.data, y):
            raise self._complaint(block, n_features, "a value is not finite")
        # The parser makes 64-bit indices, and our core takes short ones in place.
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X.sum_duplicates()  # there are none: it only finds out that the format is canonical
        return X, y

    def _complaint(self, block: TextBlock, n_features: int, otherwise: str) -> ValueError:
        """Find the first bad line, and say what is wrong with it."""
        for place, line in numbered(block):
            flaw = _find_flaw(line, self._first, n_features)
            if flaw is not None:
                return ValueError(f"{place}: {flaw}")
        return ValueError(f"{extent(block)}: {otherwise}")

    def _count_features(self) -> int:
        """Return the number of columns up to the largest index in all files."""
        largest = self._first - 1
        empty = True
        for path in self.paths:
            for number, line in enumerate(read_lines(path), 1):
                if _is_row(line):
                    empty = False
                    largest = max(largest, self._last_index(line, path, number))
        if empty:
            raise self._no_rows()
        if largest < self._first:
            message = f"no row of {self.paths[0]} has a feature; say n_features= if that is right"
            raise ValueError(message)
        return largest - self._first + 1

    def _last_index(self, line: bytes, path: Path, number: int) -> int:
        """Return a row's last index, its largest: the parser insists on ascending ones."""
        words = line.partition(b"#")[0].rsplit(None, 1)
        index, colon, _ = words[-1].partition(b":")
        if len(words) == 1 or index == b"qid":
            return self._first - 1
        try:
            if not colon or int(index) > _LARGEST_INDEX:
                raise ValueError
            return int(index)
        except ValueError:
            flaw = _find_flaw(line, self._first, _LARGEST_INDEX) or "this is no row"
            message = f"{path}, line {number}: {flaw}"
            raise ValueError(message) from None


def _is_row(line: bytes) -> bool:
    """Whether a line has something besides a comment."""
    return not line.isspace() and not line.lstrip().startswith(b"#")


def _find_flaw(line: bytes, first: int, n_features: int) -> str | None:
    """Say what is wrong with a line, if anything."""
    words = line.partition(b"#")[0].decode("utf-8", "backslashreplace").split()
    if not words:
        return None
    label, *entries = words
    if not _is_finite(label):
        return _label_flaw(label)
    if entries and entries[0].startswith("qid:"):
        del entries[0]
    previous = first - 1
    for entry in entries:
        index, _, value = entry.partition(":")
        flaw = _index_flaw(index, first, n_features) or _order_flaw(int(index), previous)
        if flaw is None and not _is_finite(value):
            flaw = "the value is not a finite number"
        if flaw is not None:
            return f"{_short(entry)} is not a valid index:value, {flaw}"
        previous = int(index)
    return None


def _label_flaw(label: str) -> str:
    if "," in label:
        return (
            f"{_short(label)} are several labels; rows must have one label each: make one file per "
            "label"
        )
    if ":" in label:
        return f"the row begins with {_short(label)}, not with a label"
    return f"the label {_short(label)} is not a finite number"


def _index_flaw(index: str, first: int, n_features: int) -> str | None:
    if not index.removeprefix("-").isdecimal():
        return "the index is not an integer"
    if int(index) < first:
        hint = ": say zero_based=True if all files do so" if index == "0" else ""
        return f"the index is below {first}, where counting starts{hint}"
    if int(index) > _LARGEST_INDEX:
        return f"the index is above {_LARGEST_INDEX}, the largest that can be read"
    if int(index) >= n_features + first:
        return f"the index is above the largest that n_features={n_features} allows"
    return None


def _order_flaw(index: int, previous: int) -> str | None:
    if index > previous:
        return None
    return f"indices must ascend, and the one before is {previous}"


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _short(text: str) -> str:
    """Quote a text that may be very long."""
    return repr(text if len(text) <= 40 else f"{text[:40]}...")

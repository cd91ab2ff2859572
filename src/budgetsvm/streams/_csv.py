"""Blocks of rows from CSV files: numeric features, and labels that are numbers or strings."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm.streams._blocks import (
    LARGEST_EXACT,
    LONGEST_LABEL,
    Block,
    Blocks,
    all_finite,
    check_width,
    inexact,
    too_long,
)
from budgetsvm.streams._csv_line import (
    has_header,
    is_number,
    looks_like_number,
    other_delimiter,
    split,
)
from budgetsvm.streams._csv_value import NO_NUMBER, advice, flaw_of
from budgetsvm.streams._table_columns import Column, Target, choose_columns
from budgetsvm.streams._text import read_lines, uncompressed_suffix
from budgetsvm.streams._text_blocks import TextBlock, extent, numbered, text_blocks

_USUAL = {".": ",", ",": ";"}  # delimiters, by what stands before decimals
_WITH_POINTS = str.maketrans(",.", ".,")  # of numbers with a decimal comma
_FOR_SPREADSHEETS = re.compile(r"sep=.?")
_INTEGER = re.compile(r"[-+]?[0-9]+")


class CsvBlocks(Blocks):
    """Blocks of dense arrays."""

    def __init__(
        self,
        paths: Sequence[Path],
        rows: int,
        *,
        n_features: int | None,
        target: Target,
        features: Sequence[Column] | None,
        header: bool | str,
        delimiter: str | None,
        decimal: str,
        labels: str,
    ) -> None:
        super().__init__(paths, rows)
        tabs = uncompressed_suffix(paths[0]) == ".tsv"
        self._delimiter = delimiter or ("\t" if tabs else _USUAL[decimal])
        self._commas = decimal == ","
        self._labels = labels
        path, head = self._head()
        numbers = [list(map(self._with_points, row)) for row in head]
        self._header = has_header(numbers, target, features) if header == "auto" else bool(header)
        self._guessed = header == "auto" and not self._header
        names = [name.strip() for name in head[0]] if self._header else None
        try:
            self._columns = choose_columns(path, names, len(head[0]), target, features)
        except ValueError as error:
            hint = other_delimiter("".join(head[0]), self._delimiter, alone=len(head[0]) == 1)
            message = f"{error}{hint}"
            raise ValueError(message) from error
        check_width(path, self.n_features, n_features)

    @property
    def n_features(self) -> int:
        """Number of columns of every X."""
        return len(self._columns.features)

    @property
    def feature_names(self) -> list[str] | None:
        """The names of these columns, or None without a header."""
        names = self._columns.names
        return None if names is None else [names[position] for position in self._columns.features]

    def _read(self) -> Iterator[Block]:
        strings = None if self._labels == "auto" else self._labels == "string"
        files = ((path, *self._body(path)) for path in self.paths)
        for block in text_blocks(files, self.rows, _is_row):
            if strings is None:
                strings = self._first_label_is_a_string(block)
            yield self._parse(block, strings=strings)

    def _head(self) -> tuple[Path, list[list[str]]]:
        """Return the first two rows of the first file that has any."""
        for path in self.paths:
            rows = ((n, line) for n, line in enumerate(read_lines(path), 1) if _is_row(line))
            head = [self._split(line, f"{path}, line {n}") for n, line in islice(rows, 2)]
            if head and _FOR_SPREADSHEETS.fullmatch(self._delimiter.join(head[0])):
                message = f"{path} begins with a line for spreadsheets, {head[0][0]!r}...: take it out, and say delimiter='...'"
                raise ValueError(message)
            if head:
                return path, head
        raise self._no_rows()

    def _body(self, path: Path) -> tuple[int, Iterator[bytes]]:
        """Return the lines below the header, after the number of the first of them."""
        lines = read_lines(path)
        if not self._header:
            return 1, lines
        for number, line in enumerate(lines, 1):
            if _is_row(line):
                place = f"{path}, line {number}"
                names = tuple(name.strip() for name in self._split(line, place))
                if names != self._columns.names:
                    message = (
                        f"{place}: this is not the header of {self.paths[0]}; all files must have "
                        "the same columns in the same order, and the same header"
                    )
                    raise ValueError(message)
                return number + 1, lines
        return 1, lines

    def _parse(self, block: TextBlock, *, strings: bool) -> Block:
        rows = self._rows(block)
        self._check_counts(rows, block)
        target = self._columns.target
        if strings and target is not None:
            self._check_lengths(block)
        try:
            X, y = self._numbers(rows, strings=strings)
            if strings and target is not None:
                y = np.strings.strip(self._load(rows, np.str_, usecols=[target])[:, 0])
        except ValueError as error:
            raise self._complaint(block, str(error), strings=strings) from error
        labels = X[:0] if y is None else y
        if not all_finite(X, labels) or (strings and np.any(y == "")):
            raise self._complaint(block, "a value is not finite", strings=strings)
        if y is not None and not strings:
            self._check_exact(block, y)
        return X, y

    def _check_lengths(self, block: TextBlock) -> None:
        """Refuse labels so long that every row would take many times the memory of its line."""
        target, delimiter = self._columns.target, self._delimiter.encode()
        assert target is not None
        for place, line in numbered(block):
            if len(line) <= LONGEST_LABEL or not _is_row(line):
                continue
            # Quotation marks may hide delimiters; without them, a part of the line is soon found.
            if b'"' in line or len(line.split(delimiter, target + 1)[target]) > LONGEST_LABEL:
                label = self._split(line, place)[target]
                if len(label) > LONGEST_LABEL:
                    message = f"{place}, {self._columns.describe(target)}: {too_long(label)}"
                    raise ValueError(message)

    def _check_exact(self, block: TextBlock, y: NDArray[Any]) -> None:
        """Refuse integers that double precision does not have: two labels would become one."""
        if np.abs(y).max(initial=0.0) < LARGEST_EXACT:  # a number beyond it may have become it
            return
        for place, line in numbered(block):
            if _is_row(line):
                assert self._columns.target is not None
                text = self._with_points(self._split(line, place)[self._columns.target].strip())
                if _INTEGER.fullmatch(text) and int(text) != float(text):
                    where = f"{place}, {self._columns.describe(self._columns.target)}"
                    message = f"{where}: {inexact(text)}; or say labels='string'"
                    raise ValueError(message)

    def _rows(self, block: TextBlock) -> list[str]:
        try:
            return [line.decode() for piece in block for line in piece.lines if _is_row(line)]
        except UnicodeDecodeError:
            for place, line in numbered(block):  # to name the line costs time: only now
                self._decode(line, place)
            raise

    def _numbers(self, rows: list[str], *, strings: bool) -> Block:
        """Return the features, and labels that are numbers."""
        features, target = self._columns.features, self._columns.target
        rows = [*map(self._with_points, rows)] if self._commas else rows
        missing = (
            2 * self._delimiter
        )  # nothing but delimiters: NumPy would take fifty times as much
        if self._columns.all and any(missing in row and '"' not in row for row in rows):
            raise ValueError("a value is missing")
        if target is None or (strings and not self._columns.all):
            # NumPy makes a list of the columns, which takes more memory than their text.
            chosen = None if self._columns.all else features
            return self._load(rows, np.float64, usecols=chosen), None
        if not self._columns.all:
            table = self._load(rows, np.float64, usecols=[*features, target])
            return np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()
        words = {target: lambda _: 0.0} if strings else None
        table = self._load(rows, np.float64, converters=words)
        return np.delete(table, target, axis=1), table[:, target].copy()

    def _load(self, rows: list[str], dtype: Any, **options: Any) -> NDArray[Any]:
        table: NDArray[Any] = np.loadtxt(
            rows,
            dtype=dtype,
            comments=None,
            delimiter=self._delimiter,
            quotechar='"',
            ndmin=2,
            **options,
        )
        expected = len(options.get("usecols") or range(self._columns.count))
        if table.shape != (len(rows), expected):  # NumPy has taken several lines for one row, say
            raise ValueError("a quotation mark is not closed in its line")
        return table

    def _check_counts(self, rows: list[str], block: TextBlock) -> None:
        """Raise a ValueError unless all rows have as many columns as the first file's first."""
        delimiters = self._columns.count - 1
        # Counting is much faster than splitting; quotes may hide delimiters.
        if all('"' not in row and row.count(self._delimiter) == delimiters for row in rows):
            return
        for place, line in numbered(block):
            if _is_row(line):
                values, expected = self._split(line, place), self._columns.count
                if len(values) != expected:
                    hint = other_delimiter("".join(values), self._delimiter)
                    message = f"{place}: {len(values)} columns, where {expected} are expected{hint}"
                    raise ValueError(message)

    def _complaint(self, block: TextBlock, otherwise: str, *, strings: bool) -> ValueError:
        """Find the first bad value, and say what is wrong with it."""
        used = self._columns.used
        for place, line in numbered(block):
            if not _is_row(line):
                continue
            values = self._split(line, place)
            for position in used:
                is_label = position == self._columns.target
                value = values[position].strip()
                number = self._with_points(value)
                flaw = flaw_of(value, number, is_label=is_label, strings=strings)
                if flaw is not None:
                    hint = other_delimiter(value, self._delimiter)
                    if flaw.endswith(NO_NUMBER) and hint:
                        flaw += hint
                    # The one mistake that a wrong guess about the header leads to.
                    elif self._guessed and place.endswith(", line 1"):
                        flaw += "; say header=True if this line holds the names of the columns"
                    elif flaw.endswith(NO_NUMBER):
                        flaw += f"; {advice(value, commas=self._commas, is_label=is_label)}"
                    return ValueError(f"{place}, {self._columns.describe(position)}: {flaw}")
        return ValueError(f"{extent(block)}: {otherwise}")

    def _first_label_is_a_string(self, block: TextBlock) -> bool:
        place, line = next((place, line) for place, line in numbered(block) if _is_row(line))
        values, target = self._split(line, place), self._columns.target
        if target is None or len(values) != self._columns.count:
            return False
        label = values[target].strip()
        if is_number(self._with_points(label)):
            return False
        if self._commas and looks_like_number(label):
            where = f"{place}, {self._columns.describe(target)}"
            what = advice(label, commas=True, is_label=True)
            message = f"{where}: the label {label!r}{NO_NUMBER}; {what}; or say labels='string'"
            raise ValueError(message)
        return True

    def _with_points(self, text: str) -> str:
        """Return text whose numbers are written as Python has them; a thousands separator makes none."""
        return text.translate(_WITH_POINTS) if self._commas else text

    def _split(self, line: bytes, place: str) -> list[str]:
        return split(self._decode(line, place), self._delimiter, place)

    def _decode(self, line: bytes, place: str) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            message = f"{place}: this is not UTF-8 text ({error.reason} at byte {error.start}): {_ENCODINGS}"
            raise ValueError(message) from None


_ENCODINGS = "make it such by iconv -f WINDOWS-1252 -t UTF-8, or -f UTF-16, whichever it is"


def _is_row(line: bytes) -> bool:
    return line.strip(b" \r\n") != b""  # tabs may stand between missing values

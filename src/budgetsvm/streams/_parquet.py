"""Blocks of rows from Parquet and Arrow files, by the optional pyarrow."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.extras import extra
from budgetsvm.streams import _blocks
from budgetsvm.streams._blocks import (
    LONGEST_LABEL,
    Block,
    Blocks,
    check_exact,
    check_width,
    regroup,
    too_long,
)
from budgetsvm.streams._table_columns import ADVICE, Column, Target, choose_columns
from budgetsvm.streams._text import first_bytes

ARROW = b"ARROW1"  #: how Arrow files begin, those of Feather among them
_BUFFER = 1 << 16  # read columns piece by piece: a row group may be as large as the file


class ParquetBlocks(Blocks):
    """Blocks of dense arrays."""

    def __init__(
        self,
        paths: Sequence[Path],
        rows: int,
        *,
        n_features: int | None,
        target: Target,
        features: Sequence[Column] | None,
    ) -> None:
        super().__init__(paths, rows)
        with _open(paths[0]) as file:
            schema = file.schema_arrow
        index, asked_for = _index_of_pandas(schema), [target, *(features or ())]
        names = [name for name in schema.names if name not in index or name in asked_for]
        columns = choose_columns(paths[0], names, len(names), target, features)
        self._features = [names[position] for position in columns.features]
        self._target = None if columns.target is None else names[columns.target]
        # All files must agree on what labels are, or else a class would have two names.
        kind = None if self._target is None else _kind(schema.field(self._target).type)
        self._label_kinds = ("numbers", "strings") if kind is None else (kind,)
        self._check_types(paths[0], schema)
        check_width(paths[0], self.n_features, n_features)

    @property
    def n_features(self) -> int:
        """Number of columns of every X."""
        return len(self._features)

    @property
    def feature_names(self) -> list[str]:
        """The names of these columns."""
        return list(self._features)

    def _read(self) -> Iterator[Block]:
        rows = max(1, min(self.rows, _blocks.BLOCK_BYTES // (8 * (self.n_features + 1))))
        return regroup(self._batches(rows), rows)

    def _batches(self, rows: int) -> Iterator[Block]:
        wanted = self._wanted()
        for path in self.paths:
            done = 0
            with _open(path) as file:
                self._check_types(path, file.schema_arrow)
                for batch in file.iter_batches(batch_size=rows, columns=wanted):
                    yield self._convert(path, done, batch)
                    done += batch.num_rows

    def _convert(self, path: Path, done: int, batch: Any) -> Block:
        """Turn a batch into arrays; `done` rows of the file came before."""
        X = np.empty((batch.num_rows, self.n_features))
        for position, name in enumerate(self._features):
            X[:, position] = _numbers(path, done, name, batch.column(name))
        if self._target is None:
            return X, None
        return X, _labels(path, done, self._target, batch.column(self._target))

    def _wanted(self) -> list[str]:
        return self._features if self._target is None else [*self._features, self._target]

    def _check_types(self, path: Path, schema: Any) -> None:
        """Raise a ValueError unless a file has all columns, and all of them are of use."""
        times = Counter(schema.names)
        for name in self._wanted():
            if times[name] != 1:
                message = f"{path} must have one column {name!r}, as {self.paths[0]} has"
                raise ValueError(message)
            kind = _kind(schema.field(name).type)
            wanted = ("numbers",) if name != self._target else self._label_kinds
            if kind not in wanted:
                message = (
                    f"{path}, column {name!r} has the type {schema.field(name).type}, and must hold "
                    f"{' or '.join(wanted)}: {ADVICE if kind == 'strings' else 'convert it'}, or choose columns by features=[...]"
                )
                raise ValueError(message)


def _arrow() -> Any:
    with extra("arrow", "Parquet and Arrow files need pyarrow"):
        import pyarrow as pa
        import pyarrow.ipc  # so that pa.ipc is there
        import pyarrow.parquet
    return pa


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a file. Damage turns into an OSError that names the file, also while it is read."""
    pa = _arrow()
    try:
        if first_bytes(path).startswith(ARROW):
            with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
                yield _ArrowFile(file)
        else:
            with pa.parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
                yield file
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        message = (
            f"{path} cannot be read as Parquet or Arrow, it may be damaged or cut off: {error}"
        )
        raise OSError(message) from error


class _ArrowFile:
    """An Arrow file with the two words that are needed of a Parquet file."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.schema_arrow = file.schema

    def iter_batches(self, batch_size: int, columns: list[str]) -> Iterator[Any]:
        """Return some columns of all rows, at most `batch_size` at a time."""
        for number in range(self._file.num_record_batches):
            batch = self._file.get_batch(number).select(columns)
            batch.validate(full=True)  # nothing in a file is believed
            for start in range(0, batch.num_rows, batch_size):
                yield batch.slice(start, batch_size)


def _index_of_pandas(schema: Any) -> set[Any]:
    """Return the columns that pandas has written for the index of a frame: they name rows, and are no features."""
    try:
        found = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):  # not of pandas, or not in its words
        return set()
    return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()


def _kind(type_: Any) -> str | None:
    """Return what a column of this type holds: numbers, strings, or neither."""
    types = _arrow().types
    if types.is_dictionary(type_):  # pandas' categories
        type_ = type_.value_type
    if any(f(type_) for f in (types.is_integer, types.is_floating, types.is_decimal)):
        return "numbers"
    if types.is_boolean(type_):
        return "numbers"
    return "strings" if types.is_string(type_) or types.is_large_string(type_) else None


def _numbers(path: Path, done: int, name: str, column: Any) -> NDArray[np.float64]:
    """Return a column as finite numbers; `done` rows of the file came before."""
    column = _plain(path, done, name, column)
    numbers = column.to_numpy(zero_copy_only=False).astype(np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        message = (
            f"{path}, row {done + row + 1}, column {name!r}: {float(numbers[row])} is not finite; "
            "leave the row out, or fill it in"
        )
        raise ValueError(message)
    return np.asarray(numbers)


def _labels(path: Path, done: int, name: str, column: Any) -> NDArray[Any]:
    """Return a column as numbers or strings."""
    if _kind(column.type) == "numbers":
        numbers = _numbers(path, done, name, column)
        if _arrow().types.is_integer(column.type):
            exact = _plain(path, done, name, column).to_numpy(zero_copy_only=False)
            check_exact(exact, f"{path}, column {name!r}")
        return numbers
    texts = _plain(path, done, name, column).to_pylist()
    for row, text in enumerate(texts):
        if len(text) > LONGEST_LABEL:
            message = f"{path}, row {done + row + 1}, column {name!r}: {too_long(text)}"
            raise ValueError(message)
    return np.array(texts, dtype=np.str_)


def _plain(path: Path, done: int, name: str, column: Any) -> Any:
    """Return a column with categories spelt out, and nothing missing."""
    if _arrow().types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count > 0:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        message = (
            f"{path}, row {done + row + 1}, column {name!r}: the value is missing; leave the row "
            "out, or fill it in"
        )
        raise ValueError(message)
    return column

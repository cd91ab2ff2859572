"""Blocks of rows from .npy and .npz files."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from numbers import Integral
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm.streams import _blocks
from budgetsvm.streams._blocks import Block, Blocks, check_exact, check_width, joined, regroup
from budgetsvm.streams._numpy.arrays import ArrayError, ArrayFile, RowReader, open_arrays
from budgetsvm.streams._numpy.layout import Layout, check_labels, check_rows, find_layout
from budgetsvm.streams._numpy.sparse_rows import SparseRows
from budgetsvm.streams._table_columns import Column


class NumpyBlocks(Blocks):
    """Blocks of dense arrays, or of CSR matrices where that is what files hold."""

    def __init__(
        self,
        paths: Sequence[Path],
        rows: int,
        *,
        n_features: int | None,
        target: Column | None,
        y: Path | None,
    ) -> None:
        super().__init__(paths, rows)
        self._target, self._labels = target, y
        if isinstance(target, bool) or not isinstance(target, (str, Integral, NoneType)):
            message = (
                f"target must be the name of an array, or the number of a column, not {target!r}"
            )
            raise TypeError(message)
        if y is not None and target is not None:
            message = f"labels are either in {y} (y) or in {paths[0]} (target={target!r}): leave one of them out"
            raise ValueError(message)
        with open_arrays(paths[0]) as file:
            X, _ = self._find(file)
            self._n_features = X.shape[1] - (self._column(X) is not None)
        check_width(paths[0], self._n_features, n_features)

    @property
    def n_features(self) -> int:
        """Number of columns of every X."""
        return self._n_features

    def whole(self) -> Block:
        """Read all files, once."""
        parts = list(self._files(None))
        if sum(X.shape[0] for X, _ in parts) == 0:
            raise self._no_rows()
        return joined(parts)

    def _read(self) -> Iterator[Block]:
        rows = max(1, min(self.rows, _blocks.BLOCK_BYTES // (8 * (self.n_features + 1))))
        return regroup(self._files(rows), rows)

    def _files(self, rows: int | None) -> Iterator[Block]:
        """Yield so many rows at a time, or a file at a time."""
        with ExitStack() as stack:
            labels = None
            if self._labels is not None:
                labels = _only_array(stack.enter_context(open_arrays(self._labels)))
                check_labels(labels, len(labels), "the data")
            for path in self.paths:
                with open_arrays(path) as file:
                    yield from self._parts(file, labels, rows)
            if labels is not None and labels.done < len(labels):
                message = (
                    f"{labels.where} has {len(labels)} labels, and there are {labels.done} rows"
                )
                raise ArrayError(message)

    def _parts(
        self, file: ArrayFile, labels: RowReader | None, rows: int | None
    ) -> Iterator[Block]:
        X, layout = self._find(file)
        column = self._column(X)
        if X.shape[1] - (column is not None) != self.n_features:
            message = f"{X.where} has {X.shape[1]} columns, and not those of {self.paths[0]}"
            raise ArrayError(message)
        if layout.labels is not None:
            labels = file.read(layout.labels)
            check_labels(labels, len(X), X.where)
        where = labels.where if labels is not None and column is None else X.where
        while X.done < len(X):
            done = X.done
            some = X.take(rows or len(X))
            y: Any = None
            if column is not None:
                y, some = some[:, column].copy(), np.delete(some, column, axis=1)
            elif labels is not None:
                y = labels.take(some.shape[0])
                if len(y) < some.shape[0]:
                    message = f"{labels.where} has {len(labels)} labels, and there are more rows than that"
                    raise ArrayError(message)
            some = _numbers(some, X.where, done)
            yield some, None if y is None else _label_values(y, where, done)
        X.finish()
        if layout.labels is not None and labels is not None:
            labels.finish()

    def _find(self, file: ArrayFile) -> tuple[RowReader | SparseRows, Layout]:
        layout = find_layout(file, self._target, elsewhere=self._labels is not None)
        if layout.sparse:
            return SparseRows(file), layout
        X = file.read(layout.rows)
        check_rows(X)
        return X, layout

    def _column(self, X: RowReader | SparseRows) -> int | None:
        """Return which column holds the labels, if one does."""
        if self._target is None or isinstance(self._target, str):
            return None
        number, count = int(self._target), X.shape[1]
        if not -count <= number < count or count < 2:
            message = f"{X.where} has no column {number} (target) besides features; it has {count} columns"
            raise ArrayError(message)
        return number % count


def _only_array(file: ArrayFile) -> RowReader:
    """Return the array of a .npy file."""
    if file.names is not None:
        message = f"{file.path} must be a .npy file with one array, the labels"
        raise ArrayError(message)
    return file.read()


def _numbers(X: Any, where: str, done: int) -> Any:
    """Return rows in single or double precision, all of them finite; `done` rows came before."""
    kept = X.dtype.kind == "f" and X.dtype.itemsize >= 4
    X = X.astype(X.dtype.newbyteorder("=") if kept else np.float64, copy=False)
    finite = np.isfinite(X.data if not isinstance(X, np.ndarray) else X)
    if not finite.all():
        if isinstance(X, np.ndarray):
            row, column = np.argwhere(~finite)[0].tolist()
        else:
            entry = int(np.argmin(finite))
            row, column = int(np.searchsorted(X.indptr, entry, "right")) - 1, int(X.indices[entry])
        message = (
            f"{where}, row {done + row + 1}, column {column}: {X[row, column]} is not finite; leave the row out, or "
            "fill it in"
        )
        raise ArrayError(message)
    return X


def _label_values(y: NDArray[Any], where: str, done: int) -> NDArray[Any]:
    """Return labels as float64, or as strings."""
    y = y.reshape(len(y))
    if y.dtype.kind == "S":
        y = np.strings.decode(y, "utf-8", "replace")
    if y.dtype.kind == "U":
        return y.astype(y.dtype.newbyteorder("="), copy=False)
    try:
        check_exact(y, where)
    except ValueError as error:
        raise ArrayError(str(error)) from None
    numbers: NDArray[np.float64] = y.astype(np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        message = f"{where}, row {done + row + 1}: the label {numbers[row]} is not finite; leave the row out"
        raise ArrayError(message)
    return numbers

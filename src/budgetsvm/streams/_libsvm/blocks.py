"""Blocks of rows from LIBSVM files: ``label index:value index:value ...  # comment``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm.streams import _blocks
from budgetsvm.streams._blocks import Block, Blocks, joined
from budgetsvm.streams._libsvm.flaws import LARGEST_INDEX
from budgetsvm.streams._libsvm.gather import Columns, Gathered
from budgetsvm.streams._libsvm.pieces import parsed_pieces

THREADS = 2  # more would wait for the file, or for its decompression
_WHOLE_PIECE = 1 << 22
_PIECE = 1 << 18  # of text: what is parsed at once, and waits to become blocks


class LibsvmBlocks(Blocks):
    """Blocks of CSR matrices."""

    def __init__(
        self,
        paths: Sequence[Path],
        rows: int,
        *,
        n_features: int | None,
        zero_based: bool | Literal["auto"],
    ) -> None:
        super().__init__(paths, rows)
        self._n_features = n_features
        self._first = None if zero_based == "auto" else 1 - zero_based
        if n_features is not None and self._first is None:
            self._first = 1  # files are not read twice to find out

    @property
    def n_features(self) -> int:
        """Number of columns of every X; unless given, all files are read for it, once."""
        if self._n_features is None:
            self._look()
        assert self._n_features is not None
        return self._n_features

    def whole(self) -> Block:
        """Read all files, once."""
        first = 0 if self._first is None else self._first
        limit = LARGEST_INDEX if self._n_features is None else self._n_features
        gathered = Gathered(first, self._n_features)
        for path in self.paths:
            for piece in parsed_pieces(path, first, limit, _WHOLE_PIECE, n_threads=THREADS):
                piece.check()
                gathered.add(piece.rows)
        self._take_columns(gathered)
        assert self._n_features is not None
        assert self._first is not None
        return gathered.matrix(self._n_features, self._first - first), gathered.targets()

    def _read(self) -> Iterator[Block]:
        n_features, first = self.n_features, self._first
        assert first is not None
        gathered = _Gathered(self.rows)
        for path in self.paths:
            for piece in parsed_pieces(path, first, n_features, _piece_bytes()):
                yield from gathered.add(piece.rows.matrix(n_features), piece.rows.y, piece.size)
                piece.check()
        yield from gathered.rest()

    def _look(self) -> None:
        """Read all files for what they do not say."""
        seen = Columns()
        first = 0 if self._first is None else self._first
        for path in self.paths:
            for piece in parsed_pieces(path, first, LARGEST_INDEX, _piece_bytes()):
                piece.check()
                seen.look(piece.rows)
        self._take_columns(seen)

    def _take_columns(self, seen: Columns) -> None:
        """Settle the number of columns, up to the largest index, and where counting starts."""
        if seen.n_rows == 0:
            raise self._no_rows()
        if self._first is None:
            self._first = min(seen.least, 1)
        if self._n_features is None and seen.largest < 0:
            message = f"no row of {self.paths[0]} has a feature; say n_features= if that is right"
            raise ValueError(message)
        if self._n_features is None:
            self._n_features = seen.largest - self._first + 1


def _piece_bytes() -> int:
    return min(_PIECE, _blocks.BLOCK_BYTES)


class _Gathered:
    """Rows that wait until there are enough for a block."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._parts: list[Block] = []
        self._n_rows = self._n_bytes = 0

    def add(self, X: sparse.csr_array, y: NDArray[np.float64], n_bytes: int) -> Iterator[Block]:
        """Take some rows, and yield the blocks that are full."""
        while self._n_rows + len(y) >= self._rows:
            missing = self._rows - self._n_rows
            self._parts.append((X[:missing], y[:missing]))
            X, y = X[missing:], y[missing:]
            yield from self.rest()
        if len(y) > 0:
            self._parts.append((X, y))
            self._n_rows += len(y)
            self._n_bytes += n_bytes
        if self._n_bytes >= _blocks.BLOCK_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[Block]:
        """Yield what is there, if anything."""
        parts, self._parts, self._n_rows, self._n_bytes = self._parts, [], 0, 0
        if parts:
            yield joined(parts)

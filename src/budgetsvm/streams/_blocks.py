"""What all readers of files have in common: they can be walked through again and again."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.public import public_in

#: Rows, and their labels; None if there are none.
Block: TypeAlias = tuple[Any, Any]

#: Every integer up to this has a number of its own in double precision.
LARGEST_EXACT = 2**53

#: Characters of a label that is a string: an array has room for the longest of them in every row.
LONGEST_LABEL = 200

#: What a block may take, whatever the number of rows: text, or numbers of dense rows, in bytes.
BLOCK_BYTES = 1 << 24


@public_in("budgetsvm.streams")
class Blocks(ABC):
    """Blocks ``(X, y)`` of the rows of some files. Every ``iter`` reads the files anew.

    Made by :func:`read_blocks`.

    Attributes
    ----------
    paths : tuple of Path
        The files, in the order in which they are read.
    rows : int
        The largest number of rows of a block.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from budgetsvm.streams import read_blocks
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.csv")
    ...     _ = path.write_text("1,0.5,2\\n-1,1,0\\n1,4,0\\n")
    ...     blocks = read_blocks(path, target=0, rows=2)
    ...     print(blocks.n_features, blocks.rows, [len(y) for X, y in blocks])
    2 2 [2, 1]
    """

    def __init__(self, paths: Sequence[Path], rows: int) -> None:
        self.paths = tuple(paths)
        self.rows = rows

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns of every X."""

    @property
    def feature_names(self) -> list[str] | None:
        """The names of these columns, or None where files have none."""
        return None

    def __iter__(self) -> Iterator[Block]:
        """Read all files from the start."""
        empty = True
        for block in self._read():
            empty = False
            yield block
        if empty:
            raise self._no_rows()

    def whole(self) -> Block:
        """Read all rows at once.

        Returns
        -------
        X : ndarray or csr_array of shape (n_rows, n_features)
            Rows of LIBSVM files are dense if that takes less memory.
        y : ndarray of shape (n_rows,)
            Their labels.
        """
        return joined(list(self))

    @abstractmethod
    def _read(self) -> Iterator[Block]:
        """Yield all blocks, if there are any."""

    def __repr__(self) -> str:
        others = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return f"<blocks of at most {self.rows} rows of {self.paths[0]}{others}>"

    def _no_rows(self) -> ValueError:
        """Return the complaint that there is not a single row."""
        if len(self.paths) == 1:
            return ValueError(f"{self.paths[0]} is empty: it holds no rows")
        return ValueError(f"the {len(self.paths)} files from {self.paths[0]} on hold no rows")


def joined(parts: Sequence[Block]) -> Block:
    """Return blocks as one: all of them have labels, or none."""
    if len(parts) == 1:
        return parts[0]
    X, y = zip(*parts, strict=True)
    if sparse.issparse(X[0]):
        rows = sparse.vstack(X, format="csr")
        rows.has_canonical_format = True
    else:
        rows = np.concatenate(X)
    return rows, None if y[0] is None else np.concatenate(y)


def regroup(batches: Iterable[Block], rows: int) -> Iterator[Block]:
    """Yield blocks of exactly `rows` rows, but for the last: batches end where files do."""
    parts: list[Block] = []
    size = 0
    for batch in batches:
        parts.append(batch)
        size += batch[0].shape[0]
        if size >= rows:
            X, y = joined(parts)
            if size == rows:
                yield X, y
                parts, size = [], 0
                continue
            yield X[:rows], None if y is None else y[:rows]
            # Copies: a view would keep the whole block alive.
            parts, size = [(X[rows:].copy(), None if y is None else y[rows:].copy())], size - rows
    if size > 0:
        yield joined(parts)


def all_finite(X: Any, y: NDArray[Any]) -> bool:
    """Whether no value and no label is infinite or not a number; y may hold strings."""
    return bool(np.isfinite(X).all() and (y.dtype.kind != "f" or np.isfinite(y).all()))


def check_width(path: Path, found: int, wanted: int | None) -> None:
    """Raise a ValueError if a table does not have the number of features that was asked for."""
    if wanted is not None and found != wanted:
        message = (
            f"{path} has {found} feature columns, not n_features={wanted}; leave n_features out, "
            "or choose columns by features="
        )
        raise ValueError(message)


def inexact(label: object) -> str:
    """Say why an integer cannot be a label."""
    return (
        f"the label {label} is an integer that double precision does not have, so that others would be taken for it: "
        "number the labels anew"
    )


def too_long(label: str) -> str:
    """Say why a string cannot be a label."""
    return f"the label {label[:20]!r}... has {len(label):,} characters, more than {LONGEST_LABEL}: is this the column?"


def check_exact(labels: NDArray[Any], where: str) -> None:
    """Raise a ValueError if labels that are integers would become others in double precision."""
    if labels.dtype.kind not in "iu" or labels.itemsize < 8:
        return
    large = (labels > LARGEST_EXACT) | (
        labels < -LARGEST_EXACT if labels.dtype.kind == "i" else False
    )
    for label in labels[large].tolist():
        if int(float(label)) != label:
            message = f"{where}: {inexact(label)}"
            raise ValueError(message)

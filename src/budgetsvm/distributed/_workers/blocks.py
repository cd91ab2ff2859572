"""Partitions as they are on their workers: rows, targets and weights that were checked, and what is known of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._problem.rows import as_rows, squared_norms, variance
from budgetsvm.distributed._workers.memory import counted

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of a partition, and what goes with each of them; `flaw` says what is wrong, if anything."""

    X: Any
    y: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    flaw: str | None = None
    names: list[Any] | None = None  #: of the columns of a data frame

    def __sizeof__(self) -> int:
        """Return what Dask counts with when a worker has little memory left."""
        X = self.X
        rows = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
        others = (part.nbytes for part in (self.y, self.weights) if part is not None)
        return counted(int(rows) + sum(others) + 1024)


@dataclass(frozen=True, eq=False)
class Summary:
    """What the client has to know of a partition."""

    n: int
    n_features: int
    is_sparse: bool
    n_bytes: int
    y: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    spread: tuple[float, float]  #: mean and variance of all entries
    farthest: Any  #: the row of the largest norm
    flaw: str | None
    names: list[Any] | None


def checked_block(X: Any, y: Any = None, weights: Any = None) -> Block:
    """Return a partition as training needs it; never fails for what is in it, so that the first flaw is told."""
    if isinstance(X, tuple | list) and y is None and weights is None:
        X, y, weights = (*X, None, None)[:3]
    names = list(X.columns) if hasattr(X, "columns") else None
    try:
        rows = _rows(X)
        targets = None if y is None else _column(y, "y")
        own = None if weights is None else _column(weights, "sample_weight").astype(np.float64)
        for name, column in (("y", targets), ("sample_weight", own)):
            if column is not None and len(column) != rows.shape[0]:
                message = f"X has {rows.shape[0]} rows, but {name} has {len(column)}"
                raise ValueError(message)
    except (TypeError, ValueError) as error:
        return Block(np.zeros((0, 0)), None, None, str(error) or type(error).__name__)
    if own is not None and not own.all() and (own >= 0).all():
        used = own > 0
        rows, own = rows[used], own[used]
        targets = None if targets is None else targets[used]
    return Block(rows, targets, own, names=names)


def _rows(X: Any) -> Any:
    if hasattr(X, "to_numpy"):  # a data frame
        X = X.to_numpy()
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    elif hasattr(X, "tocsr"):  # of the package `sparse`
        X = sparse.csr_array(X.tocsr())
    else:
        X = np.asarray(X)
    if X.ndim != 2:
        message = f"X must have two axes, rows and features, not {X.ndim}"
        raise ValueError(message)
    if X.dtype.kind == "c":
        raise ValueError("X contains complex numbers, which are not supported: give real ones")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    X = as_rows(X) if sparse.issparse(X) else np.ascontiguousarray(X)
    values = X.data if sparse.issparse(X) else X
    for start in range(0, len(values), _ROWS_AT_ONCE):
        part = values[start : start + _ROWS_AT_ONCE]
        if not np.isfinite(part).all():
            row = "" if sparse.issparse(X) else f", row {start + _first_bad(part)}"
            message = f"X contains NaN or infinity{row}"
            raise ValueError(message)
    return X


def _first_bad(part: NDArray[Any]) -> int:
    return int(np.flatnonzero(~np.isfinite(part).all(axis=1))[0])


def _column(values: Any, name: str) -> NDArray[Any]:
    column = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim not in ((1, 2) if name == "y" else (1,)):
        message = f"{name} must have one value per row, not the shape {column.shape}"
        raise ValueError(message)
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        message = f"{name} contains NaN or infinity"
        raise ValueError(message)
    return np.asarray(column)


def summary_of(block: Block) -> Summary:
    """Return what the client has to know."""
    X = block.X
    n, n_features = X.shape
    n_bytes = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
    spread, farthest, largest = (0.0, 0.0), X[:0], -1.0
    with np.errstate(over="ignore", invalid="ignore"):
        if n * n_features:
            spread = float(X.sum(dtype=np.float64)) / (n * n_features), variance(X)
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = X[start : start + _ROWS_AT_ONCE]
            norms = _norms(rows)
            if norms.max() > largest:
                largest, farthest = float(norms.max()), rows[[int(norms.argmax())]]
    return Summary(
        n,
        n_features,
        sparse.issparse(X),
        int(n_bytes),
        block.y,
        block.weights,
        spread,
        farthest,
        block.flaw,
        block.names,
    )


def _norms(rows: Any) -> NDArray[np.float64]:
    if sparse.issparse(rows):
        return squared_norms((rows.data, rows.indices, rows.indptr.astype(np.int64)))
    return squared_norms(rows)


def joined(blocks: Sequence[Block]) -> Block:
    """Return the rows of several partitions as one; the client has their targets already."""
    rows = [block.X for block in blocks]
    if sparse.issparse(rows[0]):
        return Block(sparse.csr_array(sparse.vstack(rows, format="csr")), None, None)
    return Block(np.concatenate(rows), None, None)


def rows_here(block: Block, chosen: NDArray[np.int64]) -> Any:
    """Return some rows."""
    return block.X[chosen]


def sparse_block(block: Block) -> Block:
    """Return the rows as sparse ones."""
    return replace(block, X=sparse.csr_array(block.X))

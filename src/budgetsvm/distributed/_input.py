"""What users hand over: Dask arrays, data frames, or lists of delayed blocks, as blocks of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import dask
import numpy as np
from dask import delayed
from dask.array import Array
from dask.delayed import Delayed
from numpy.typing import NDArray

from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._rows import SpreadX
from budgetsvm.distributed._workers.blocks import Summary, checked_block, joined, summary_of

# Bytes that joined partitions may have, of rows and of kernel values in single precision; and of a worker's memory.
_CELL_ROWS, _CELL_VALUES, _VALUE = float(1 << 26), float(1 << 27), 4
_CELL_SHARE = 1 / 16
_TARGETS, _WEIGHTS = "__budgetsvm_y__", "__budgetsvm_weight__"
_LARGEST = 0.4  # of a worker's memory, that a partition may have: its rows are not all that has to find room


@dataclass(frozen=True, eq=False)
class Data:
    """Rows on the workers; what goes with each of them, and what is known of all of them, here."""

    X: SpreadX
    y: NDArray[Any] | None
    weights: NDArray[np.float64]
    variance: float
    farthest: Any  #: a row of every partition
    names: NDArray[Any] | None


def is_lazy(X: Any) -> bool:
    """Whether this is a collection of Dask, or a list of delayed blocks."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(block, Delayed) for block in X)
    return bool(dask.is_dask_collection(X))


def load(cluster: Cluster, X: Any, y: Any, weights: Any, budget: int) -> Data:
    """Let workers read and check all partitions; returns them without those that are empty."""
    if not is_lazy(X):
        message = (
            "X must be a Dask array, a Dask data frame or a list of delayed blocks, not a "
            f"{type(X).__name__}: for rows in memory there are the estimators of budgetsvm itself"
        )
        raise TypeError(message)
    limit = min(cluster.memory_limits(), default=inf)
    names = _names(X)
    X, y, weights = _one_frame(_whole_rows(X, limit), y, weights)
    blocks = _partitions(X, "X")
    own = [_beside(X, blocks, one, name) for one, name in ((y, "y"), (weights, "sample_weight"))]
    columns = [[None] * len(blocks) if column is None else column for column in own]
    name = cluster.name("rows")
    check = delayed(checked_block, pure=False)
    tasks = [
        check(*parts, dask_key_name=f"{name}-{i}")
        for i, parts in enumerate(zip(blocks, *columns, strict=True))
    ]
    futures = cluster.compute(tasks)
    summaries: list[Summary] = cluster.ask("look", summary_of, futures)
    _complain(summaries, limit)
    used = [i for i, summary in enumerate(summaries) if summary.n]
    if not used:
        raise ValueError(
            "X has no rows, or none of positive weight: there is nothing to learn from"
        )
    some = [summaries[i] for i in used]
    cells = _cells(some, budget, limit)
    blocks = [[futures[used[i]] for i in cell] for cell in cells]
    spread = SpreadX(
        cluster,
        [
            cell[0] if len(cell) == 1 else cluster.once("joined_rows", joined, cell)
            for cell in blocks
        ],
        np.cumsum([sum(some[i].n for i in cell) for cell in cells]),
        some[0].n_features,
        some[0].is_sparse,
        sum(part.n_bytes for part in some) / sum(part.n for part in some),
    )
    given = (
        None if own[0] is not None else y,
        None if own[1] is not None else weights,
    )
    return _put_together(spread, some, given, names)


def _cells(parts: Sequence[Summary], budget: int, limit: float) -> list[list[int]]:
    """Join partitions that follow each other while they are small: a task takes a few milliseconds, whatever it does.

    That is a matter of the partitions alone, unless workers have less than a GiB each: with the number of workers, sums
    would have other last digits.
    """
    cells: list[list[int]] = []
    room = rows = 0.0
    most = min(_CELL_ROWS, _CELL_SHARE * limit)
    for i, part in enumerate(parts):
        values = float(_VALUE * part.n * budget)
        if cells and values <= room and part.n_bytes <= rows:
            cells[-1].append(i)
        else:
            cells.append([i])
            room, rows = _CELL_VALUES, most
        room, rows = room - values, rows - part.n_bytes
    return cells


def _put_together(
    X: SpreadX, parts: Sequence[Summary], given: tuple[Any, Any], names: NDArray[Any] | None
) -> Data:
    n = X.shape[0]
    y, weights = (None if one is None else np.asarray(one) for one in given)
    if weights is not None and weights.ndim == 0:
        weights = np.full(n, float(weights))
    for name, column in (("y", y), ("sample_weight", weights)):
        if column is not None and len(column) != n:
            message = f"X has {n} rows, but {name} has {len(column)}"
            raise ValueError(message)
    if y is None and parts[0].y is not None:
        y = np.concatenate([part.y for part in parts])
    if weights is None:
        weights = np.ones(n)
        if parts[0].weights is not None:
            weights = np.concatenate([part.weights for part in parts])
    sizes = np.array([part.n for part in parts], np.float64)
    means, variances = np.array([part.spread for part in parts]).T
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(sizes @ means) / n
        variance = float(sizes @ (variances + (means - mean) ** 2)) / n
    return Data(X, y, weights, variance, [part.farthest for part in parts], names)


def _names(X: Any) -> NDArray[Any] | None:
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(columns, dtype=object)


def _whole_rows(X: Any, limit: float) -> Any:
    """Return an array whose chunks have all features; complain about chunks that no worker has room for."""
    if not isinstance(X, Array):
        return X
    if X.ndim != 2:
        message = f"X must have two axes, rows and features, not {X.ndim}"
        raise ValueError(message)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    rows = np.array(X.chunks[0], np.float64)
    sizes = rows * X.shape[1] * X.dtype.itemsize
    if _is_dense(X) and np.isfinite(sizes).all():
        _check_size(int(sizes.argmax()), float(sizes.max()), limit)
    return X


def _one_frame(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return a data frame with its targets and weights as blocks: Dask reads columns by themselves in other partitions."""
    if not hasattr(X, "columns"):
        return X, y, weights
    beside = {
        name: column
        for name, column in ((_TARGETS, y), (_WEIGHTS, weights))
        if hasattr(column, "to_frame") and is_lazy(column)
    }
    if not beside:
        return X, y, weights
    n_features, split = len(X.columns), delayed(_split, pure=False)
    parts = X.assign(**beside).to_delayed()
    blocks = [split(part, n_features) for part in parts]
    return blocks, None if _TARGETS in beside else y, None if _WEIGHTS in beside else weights


def _split(frame: Any, n_features: int) -> Any:
    """Return the rows of a partition, its targets and its weights."""
    columns = (frame.get(name) for name in (_TARGETS, _WEIGHTS))
    return frame.iloc[:, :n_features], *columns


def _is_dense(X: Array) -> bool:
    return isinstance(X._meta, np.ndarray)


def _check_size(number: int, size: float, limit: float) -> None:
    if size > _LARGEST * limit:
        message = (
            f"partition {number} of X has {size / 2**20:.0f} MiB, too much for a worker with {limit / 2**20:.0f} MiB: make "
            "partitions smaller, by rechunk of an array or repartition of a data frame; a hundred MiB are a good size"
        )
        raise ValueError(message)


def _partitions(X: Any, name: str) -> list[Any]:
    """Return a collection as delayed blocks of rows."""
    if isinstance(X, list | tuple):
        return list(X)
    if not hasattr(X, "to_delayed"):
        message = f"{name} must be a Dask array, a Dask data frame or a list of delayed blocks"
        raise TypeError(message)
    return list(np.ravel(X.to_delayed()))


def _beside(X: Any, blocks: list[Any], column: Any, name: str) -> list[Any] | None:
    """Return the partitions of what goes with rows; None where it is in memory, or not there."""
    if column is None or not is_lazy(column):
        return None
    if isinstance(column, Array) and isinstance(X, Array):
        rows = X.chunks[0]
        if column.chunks[0] != rows and not np.isnan([*rows, *column.chunks[0]]).any():
            if column.shape[0] != X.shape[0]:
                message = f"X has {X.shape[0]} rows, but {name} has {column.shape[0]}"
                raise ValueError(message)
            column = column.rechunk({0: rows})
        if column.ndim > 1:
            column = column.rechunk({1: -1})
    parts = _partitions(column, name)
    if len(parts) != len(blocks):
        message = (
            f"X has {len(blocks)} partitions, but {name} has {len(parts)}, and of unknown sizes: make both from the same "
            "collection, or call compute_chunk_sizes() first"
        )
        raise ValueError(message)
    return parts


def _kind(y: NDArray[Any] | None) -> str | None:
    """Return whether targets are numbers or words, of which NumPy would make words; None: they may be either."""
    if y is None or y.dtype.kind == "O":
        return None
    return "words" if y.dtype.kind in "UST" else "numbers"


def _complain(parts: Sequence[Summary], limit: float) -> None:
    """Raise a ValueError that names the first partition with which something is wrong."""
    for i, part in enumerate(parts):
        if part.flaw is not None:
            message = f"partition {i}: {part.flaw}"
            raise ValueError(message)
    used = [(i, part) for i, part in enumerate(parts) if part.n]
    for i, part in used:
        first, known = used[0]
        for what, here, there in (
            ("features", part.n_features, known.n_features),
            ("sparse rows", part.is_sparse, known.is_sparse),
            ("targets", part.y is not None, known.y is not None),
            ("weights", part.weights is not None, known.weights is not None),
            ("columns", part.names or known.names, known.names or part.names),
            ("types of targets", _kind(part.y) or _kind(known.y), _kind(known.y) or _kind(part.y)),
        ):
            if here != there:
                message = f"partitions differ in their {what}: {there} in partition {first}, {here} in partition {i}"
                raise ValueError(message)
        _check_size(i, part.n_bytes, limit)

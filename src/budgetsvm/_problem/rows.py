"""Access to the rows of a data matrix, block by block, in the form the compiled core wants.

Data come as anything from a Fortran-ordered float64 array to a memory-mapped file or a sparse matrix.
The core reads C-ordered arrays and compressed sparse rows in place, converting a few rows at a time;
of other data the rows at hand are copied. Which arithmetic their kernel values need is decided here, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm.kernels import Kernel, KernelInPython

Block: TypeAlias = NDArray[Any] | tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]
# What the core calls *rows*: a matrix, which of its rows, and what to subtract from them.
Source: TypeAlias = tuple[Block, NDArray[np.int64] | None, NDArray[np.float64] | None]
Precision: TypeAlias = type[np.float32] | type[np.float64]

_MOST_FEATURES = (1 << 31) - 4097  # as the core counts
_BLOCK_BYTES, _BLOCK_ROWS = 1 << 24, 4096  # small enough for threads to share the rows evenly
_ZERO_SAMPLE, _MEDIAN_SAMPLE = (
    4096,
    512,
)  # rows that tell how common zeros are, and where the middle is

# float32 distances carry an error of about 2⁻²³ times the squared norms they are the difference of.
# γ times that is the relative error of the Gaussian kernel; beyond this we compute in float64.
_TOLERATED_ERROR = 1e-3
# Squared norms and kernel values that float32 can hold, with a margin for sums and products of them.
_SMALLEST_NORM, _LARGEST_NORM, _LARGEST_VALUE = 1e-25, 1e25, 1e15
_SMALLEST_GAP, _LARGEST_WEIGHT = 1e-6, 1e5
# Where the kernel differs from 1 by less than this everywhere, float32 sees little of what there is to see.
_FLATTEST = 1e-2
# What float64 has room for, when it comes to products of sums over all rows.
_LARGEST, _SMALLEST_WEIGHT = 1e100, float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Rows:
    """The rows of X, less `centre`, in the precision of the core."""

    X: Any
    dtype: Precision
    centre: NDArray[np.float64] | None
    sparse_points: bool = False  #: whether terms that are made from them are sparse

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def row_cost(self) -> float:
        """Values per row that the core has to look at."""
        if sparse.issparse(self.X) and self.centre is None:
            return float(self.X.nnz / max(1, len(self)))
        return float(self.X.shape[1])

    @property
    def point_cost(self) -> float:
        """Values of a row that is a term, what goes with sparse ones included."""
        return 4 * self.row_cost if self.sparse_points else float(self.X.shape[1])

    def block(self, chosen: slice | NDArray[np.int64]) -> Block:
        """Return the chosen rows."""
        part = self._part(chosen)
        if sparse.issparse(part):
            return (
                np.ascontiguousarray(part.data, dtype=self.dtype),
                np.ascontiguousarray(part.indices, dtype=np.int32),
                np.ascontiguousarray(part.indptr, dtype=np.int64),
            )
        if self.centre is not None:
            part = part - self.centre  # in float64
        return np.ascontiguousarray(part, dtype=self.dtype)

    def given(self, chosen: NDArray[np.int64]) -> Any:
        """Return the chosen rows of X as they were given; all of them without a copy."""
        return self.X if len(chosen) == self.X.shape[0] else self.X[chosen]

    def source(self, chosen: slice | NDArray[np.int64]) -> Source:
        """Return the chosen rows for the core."""
        if sparse.issparse(self.X):
            if self.centre is None:
                return self._sparse_source(chosen)
            return np.ascontiguousarray(self._part(chosen)), None, self.centre
        X = np.asarray(self.X)
        if isinstance(chosen, slice):
            return np.ascontiguousarray(X[chosen]), None, self.centre
        if X.flags.c_contiguous:
            return X, np.ascontiguousarray(chosen), self.centre
        return np.ascontiguousarray(X[chosen]), None, self.centre

    def _part(self, chosen: slice | NDArray[np.int64]) -> Any:
        """Return rows of X; less a centre, sparse ones are no longer sparse."""
        part = self.X[chosen]
        return part.toarray() if sparse.issparse(part) and self.centre is not None else part

    def _sparse_source(self, chosen: slice | NDArray[np.int64]) -> Source:
        if (
            self.X.indices.dtype != np.int32
        ):  # as scipy makes them where there are very many entries
            return self.block(chosen), None, None
        data, indices = np.ascontiguousarray(self.X.data), np.ascontiguousarray(self.X.indices)
        if isinstance(chosen, slice):
            return (data, indices, self._starts[chosen.start : chosen.stop + 1]), None, None
        return (data, indices, self._starts), np.ascontiguousarray(chosen), None

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(self.X.indptr, dtype=np.int64)

    def chunks(self) -> Iterator[slice]:
        """Consecutive slices of bounded size that cover all rows."""
        return _chunks(len(self), self.row_cost)


def _chunks(n: int, row_cost: float) -> Iterator[slice]:
    step = int(np.clip(_BLOCK_BYTES / (8 * max(1.0, row_cost)), 16, _BLOCK_ROWS))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def dense_block(block: Block, n_features: int) -> NDArray[Any]:
    """Return a block of rows as a dense array."""
    if not isinstance(block, tuple):
        return block
    values, indices, starts = block
    dense = np.zeros((len(starts) - 1, n_features), values.dtype)
    dense[np.repeat(np.arange(len(dense)), np.diff(starts)), indices] = values
    return dense


def kernel_diagonal(rows: Rows, kernel: Kernel, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return k(x, x) of some rows."""
    if kernel.translation_invariant:
        return np.ones(len(chosen))
    if isinstance(kernel, KernelInPython):
        return kernel.of_itself(dense_points(rows, chosen))
    return kernel.diagonal(squared_norms(rows.block(chosen)))


def dense_points(rows: Rows, chosen: NDArray[np.int64]) -> NDArray[Any]:
    """Return rows as dense points."""
    return dense_block(rows.block(chosen), rows.X.shape[1])


def squared_norms(block: Block) -> NDArray[np.float64]:
    """Return ‖x‖² for every row of a block."""
    if isinstance(block, tuple):
        values, _, starts = block
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        squares = values.astype(np.float64) ** 2
        norms = np.bincount(owner, weights=squares, minlength=len(starts) - 1)
        return norms.astype(np.float64)
    return np.asarray(np.einsum("ij,ij->i", block, block, dtype=np.float64))


def as_rows(X: Any) -> Any:
    """Return X with sparse duplicates summed, and without zeros among the entries.

    A row must name every feature once at most; and sums must not depend on what is written down of it.
    """
    if not sparse.issparse(X):
        return X
    _check_sparse(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if np.count_nonzero(X.data[: X.indptr[-1]]) < X.indptr[-1]:
        X = X.copy()
        X.eliminate_zeros()
    return X


def _check_sparse(X: Any) -> None:
    """Raise a ValueError if compressed sparse rows point outside of themselves: nobody else looks."""
    starts, n = np.asarray(X.indptr), X.shape[1]
    if n > _MOST_FEATURES:
        message = f"X has {n} features, more than {_MOST_FEATURES}; leave out columns that are zero"
        raise ValueError(message)
    sound = len(starts) == X.shape[0] + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    if not (sound and starts[-1] <= min(len(X.indices), len(X.data))):
        raise ValueError("X is a broken sparse matrix: its indptr does not fit to its entries")
    indices = X.indices[: starts[-1]]
    if len(indices) and not (int(indices.min()) >= 0 and int(indices.max()) < n):
        message = (
            f"X is a broken sparse matrix: the index of a feature is not between 0 and {n - 1}"
        )
        raise ValueError(message)


def feature_means(X: Any) -> NDArray[np.float64]:
    """Return the mean of every feature of a dense X, in float64 and without a copy of X."""
    total: NDArray[np.float64] = np.zeros(X.shape[1])
    for chunk in _chunks(X.shape[0], X.shape[1]):
        total += np.ascontiguousarray(X[chunk]).sum(axis=0, dtype=np.float64)
    return total / int(X.shape[0])


def centre_of(X: Any) -> NDArray[np.float64]:
    """Return what to subtract from a dense X, for the sake of precision: medians of some rows.

    A mean would do but for a single row far away, which takes it out of reach of all others. Features that
    are zero in most rows stay as they are, since the core skips zeros: think of one-hot columns.
    """
    n = int(X.shape[0])
    sample = X[:: max(1, n // _ZERO_SAMPLE)]
    mostly_zero = np.count_nonzero(sample, axis=0) < 0.5 * len(sample)
    middle = np.median(X[:: max(1, n // _MEDIAN_SAMPLE)], axis=0).astype(np.float64)
    return np.where(mostly_zero, 0.0, middle)


def variance(X: Any) -> float:
    """Return the variance of all entries of X, dense or sparse: what gamma="scale" divides by."""
    n, d = X.shape
    if sparse.issparse(X):
        mean = X.data.sum(dtype=np.float64) / (n * d)
        inside = float(np.sum((X.data.astype(np.float64) - mean) ** 2))
        return float((inside + (n * d - X.nnz) * mean**2) / (n * d))
    means = feature_means(X)
    chunks = (np.ascontiguousarray(X[chunk]) for chunk in _chunks(n, d))  # sums go by the order
    within = sum(float(np.sum((chunk - means) ** 2)) for chunk in chunks)
    return float(within / (n * d) + np.var(means))


def choose_precision(
    X: Any,
    kernel: Kernel,
    centre: NDArray[np.float64] | None,
    wanted: str,
    *,
    tol: float,
    largest_weight: float,
) -> Precision:
    """Return float32, unless that would ruin kernel values, or float64 was asked for.

    That is asked for by name, or by a duality gap `tol` that cannot be told from rounding errors, or by
    weights C_i so large that coefficients will be, too.
    """
    if kernel.in_python:
        return np.float64
    rows = Rows(X, np.float64, centre)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = max(float(squared_norms(rows.block(c)).max(initial=0.0)) for c in rows.chunks())
        top = float(abs(kernel.diagonal(np.array([largest])))[0])
    if not np.isfinite(largest):
        raise ValueError("X has values too large for their squares; scale the features first")
    if not top <= _LARGEST:
        message = (
            f"kernel values reach {top:.2g}, too large to compute with; scale the features first"
        )
        raise ValueError(message)
    if wanted == "double":
        return np.float64
    argument = kernel.argument(largest)
    fits = largest == 0 or _SMALLEST_NORM < largest < _LARGEST_NORM
    fits = fits and max(kernel.argument(1.0), argument) < _LARGEST_NORM and top <= _LARGEST_VALUE
    if wanted == "single":
        if not fits:
            raise ValueError(_TOO_FAR.format(largest, kernel))
        return np.float32
    if tol < _SMALLEST_GAP or largest_weight * top > _LARGEST_WEIGHT:
        return np.float64
    if kernel.translation_invariant and 0 < argument < _FLATTEST:
        return np.float64
    error = argument * float(np.finfo(np.float32).eps)
    return np.float32 if fits and error <= _TOLERATED_ERROR else np.float64


_TOO_FAR = (
    "precision='single' has no room for squares of rows that reach {:.2g}, with {}: scale the features, or leave "
    "precision='auto', which goes over to double by itself"
)


def check_weights(box: NDArray[np.float64]) -> None:
    """Raise a ValueError if the weights C_i of the rows are beyond what can be computed with."""
    least, most = float(box.min()), float(box.max())
    if not (least >= _SMALLEST_WEIGHT and len(box) * most <= _LARGEST):
        message = (
            f"C times the weights of the rows reaches from {least:.3g} to {most:.3g}, too far to compute with; "
            "keep C and the weights between 1e-30 and 1e30, say"
        )
        raise ValueError(message)

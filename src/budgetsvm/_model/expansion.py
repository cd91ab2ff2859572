"""The trained model: f_c(x) = Σ_j β_cj k(x, z_j) + b_c, for one output c or several."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm import _core
from budgetsvm._common.records import Fields, Record
from budgetsvm._common.threads import for_each
from budgetsvm._model.option_records import read_option
from budgetsvm._model.pruning import OrderedTerms, ordered_if_it_pays
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.points import Points, longest_row, points_record, read_points
from budgetsvm._problem.rows import Precision, Rows, dense_block
from budgetsvm.kernels import Kernel
from budgetsvm.kernels._interface import CoreKernel

_Evaluate: TypeAlias = Callable[[Rows, slice, NDArray[Any]], None]
_Make: TypeAlias = Callable[["KernelExpansion"], _Evaluate]

_MANY_ROWS = 8192  # for which it may pay to bring the terms into another order
_LARGE = 1 << 31  # bytes that sparse points may take when they become dense
_DEVIATIONS = 8  # standard deviations, of errors that are no larger than one: 1.6 of them were seen
_PIECE = 256  # rows whose kernel values are held at once, where there are several outputs


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """Points z_j, stored relative to `centre`, with coefficients (outputs, terms) and a bias each."""

    kernel: Kernel
    points: Points
    coef: NDArray[np.float64]
    bias: NDArray[np.float64]
    centre: NDArray[np.float64] | None

    @classmethod
    def empty(
        cls,
        kernel: Kernel,
        n_features: int,
        n_outputs: int,
        dtype: Precision,
        centre: NDArray[np.float64] | None,
        *,
        sparse_points: bool = False,
    ) -> Self:
        """Return a model without terms."""
        make = sparse.csr_array if sparse_points else np.zeros
        points, coef = make((0, n_features), dtype=dtype), np.zeros((n_outputs, 0))
        return cls(kernel, points, coef, np.zeros(n_outputs), centre)

    def record(self) -> Record:
        """Return what it is made of."""
        return {
            "kernel": self.kernel,
            "points": points_record(self.points),
            "coef": self.coef,
            "bias": self.bias,
            "centre": self.centre,
        }

    @classmethod
    def of_record(cls, fields: Fields) -> Self:
        """Make a model from its record."""
        kernel = read_option(Kernel, fields, "kernel")  # type: ignore[type-abstract]
        if kernel.resolve(1, 1.0) != kernel:
            fields.fail("kernel", f"must have numbers in it, not {kernel!r}")
        points = read_points(fields, "points")
        coef = fields.array("coef", (np.float64,), (None, points.shape[0]), finite=True)
        bias = fields.array("bias", (np.float64,), (len(coef),), finite=True)
        centre = fields.optional(lambda name: _read_centre(fields, name, points.shape[1]), "centre")
        fields.end()
        if points.shape[1] == 0 or len(coef) == 0:
            fields.fail("points", "must have a feature, and 'coef' an output")
        if centre is not None and not kernel.translation_invariant:
            fields.fail("centre", f"must be None: the kernel {kernel!r} depends on the origin")
        if sparse.issparse(points) and (kernel.in_python or centre is not None):
            fields.fail("points", "must be dense for a kernel function, and less a centre")
        with np.errstate(over="ignore"):
            if not np.isfinite((points.astype(np.float64) ** 2).sum()):
                fields.fail("points", "has values too large for their squares")
        return cls(kernel, points, coef, bias, centre)

    def with_points(self, points: Points) -> Self:
        """Return a model with other points, whose coefficients are not known yet."""
        n_outputs = len(self.coef)
        coef, bias = np.zeros((n_outputs, points.shape[0])), np.zeros(n_outputs)
        return replace(self, points=points, coef=coef, bias=bias)

    @property
    def sparse_points(self) -> bool:
        """Whether its points are sparse."""
        return bool(sparse.issparse(self.points))

    def with_dense_points(self, purpose: str = "") -> Self:
        """Return the same model with points that are not sparse; for some purposes they must not be too large."""
        if not self.sparse_points:
            return self
        needed = 8 * self.points.shape[0] * self.points.shape[1]
        if purpose and needed > _LARGE:
            message = (
                f"{purpose} knows no sparse terms, and with all {self.points.shape[1]:,} features "
                f"{self.points.shape[0]:,} of them take {needed:,} bytes"
            )
            raise ValueError(message)
        return replace(self, points=self.points.toarray())

    def stored(self, capacity: int = 0, room: int = 0) -> TermStore:
        """Return the terms for the core, which goes by the norms of rows of coefficients if there are several.

        They can change; sparse ones may have as many entries as there is room for, or as they have already.
        """
        sizes = self.coef[0] if len(self.coef) == 1 else np.linalg.norm(self.coef, axis=0)
        entries = max(room, longest_row(self.points)) if self.sparse_points else None
        return TermStore.of(self.points, sizes, self.kernel, capacity, entries)

    def in_precision(self, dtype: Precision) -> Self:
        """Return the same model in other arithmetic."""
        return replace(self, points=self.points.astype(dtype))

    @cached_property
    def wide(self) -> Self:
        """The same model in double precision."""
        if self.points.dtype == np.float64:
            return self
        wide = self.in_precision(np.float64)
        wide.__dict__["_narrow"] = self  # whose order of the terms is good enough
        return wide

    def __getstate__(self) -> Record:
        return self.record()  # and nothing that can be found anew

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def original_points(self) -> Points:
        """Return the points in the coordinates of the data, in float64."""
        points = self.points.astype(np.float64)
        return points if self.centre is None else points + self.centre

    def decision(self, X: Any, n_threads: int = 1, among: int | None = None) -> NDArray[np.float64]:
        """Return f_c(x) for every row of X, which may be some `among` more, (rows, outputs). Memory beyond the result is bounded."""
        rows = Rows(X, self.points.dtype.type, self.centre)
        values = np.zeros((len(rows), len(self.coef)))
        evaluate = self._careful(self._sum_of_terms(among or len(rows)))
        for_each(lambda chunk: evaluate(rows, chunk, values[chunk]), rows.chunks(), n_threads)
        values += self.bias
        return values

    def kernel_values(self, X: Any, n_threads: int = 1) -> NDArray[Any]:
        """Return k(x, z_j) for every row and term, in the precision of the model."""
        rows = Rows(X, self.points.dtype.type, self.centre)
        values = np.empty((len(rows), len(self)), rows.dtype)
        fill = self._careful(KernelExpansion._kernel_block)
        for_each(lambda chunk: fill(rows, chunk, values[chunk]), rows.chunks(), n_threads)
        return values

    @property
    def is_double(self) -> bool:
        """Whether values are computed in double precision."""
        return bool(self.points.dtype == np.float64) or self.kernel.in_python

    @cached_property
    def rounding(self) -> NDArray[np.float64]:
        """What rounding may do to the value of an output: errors of kernel values are independent of each other."""
        error = float(np.finfo(self.points.dtype).eps) * self.kernel.relative_error(self.points)
        norms = np.asarray((self.points.astype(np.float64) ** 2).sum(axis=1)).ravel()
        sizes = abs(self.kernel.diagonal(norms))
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # of values so large that they say nothing
            return _DEVIATIONS * max(1, self.kernel.growth) * error * np.sqrt(self.coef**2 @ sizes)

    @cached_property
    def _terms(self) -> TermStore:
        """The terms in the layout of the core, with the coefficients of the first output."""
        return TermStore.of(self.points, self.coef[0], self.kernel, 0)

    @cached_property
    def _core_kernel(self) -> CoreKernel:
        return self._terms.core_kernel(self.kernel)

    def _careful(self, make: _Make) -> _Evaluate:
        """Evaluate in the precision of the model, but rows that are too large for it in another way."""
        evaluate, limit = make(self), self._largest_value()

        def carefully(rows: Rows, chunk: slice, out: NDArray[Any]) -> None:
            part = rows.X[chunk]
            far = np.flatnonzero(_largest_values(part) > limit)
            # What overflows is computed anew; and what is too large for `out` is infinite there.
            with np.errstate(over="ignore", invalid="ignore"):
                evaluate(rows, chunk, out)
                if len(far):
                    out[far] = self._far_values(make, part[far], out.shape[1])

        return evaluate if limit == np.inf else carefully

    def _largest_value(self) -> float:
        """Return the |x_k| up to which no kernel value, nor what it is made of, overflows.

        The core itself takes care of kernels of a distance, which are 0 long before.
        """
        least = 1 if self.points.dtype == np.float32 else 2  # products themselves fit into double
        if self.kernel.growth < least:
            return np.inf
        most = float(np.finfo(self.points.dtype).max) / 8
        longest = float(abs(self.points.astype(np.float64)).sum(axis=1).max(initial=1e-300))
        return self.kernel.largest_product(most) / max(1.0, longest)

    def _far_values(self, make: _Make, X: Any, width: int) -> NDArray[np.float64]:
        """Evaluate rows that overflow: in double, and what still does with the size of a row split off.

        That may be infinite, but is of the right sign.
        """
        values = np.zeros((X.shape[0], width))
        if self.points.dtype == np.float32:
            wide = self.in_precision(np.float64)
            wide._careful(make)(Rows(X, np.float64, self.centre), slice(0, len(values)), values)
            return values
        for i, size in enumerate(np.maximum(1.0, _largest_values(X))):
            kernel = self.kernel.of_shrunk_row(float(size))
            evaluate, row = make(replace(self, kernel=kernel)), values[i : i + 1]
            evaluate(Rows(X[[i]] / size, np.float64, self.centre), slice(0, 1), row)
            row[row != 0] *= size**self.kernel.growth
        return values

    def _sum_of_terms(self, n_rows: int) -> _Make:
        """Return how to evaluate so many rows."""
        if len(self.coef) > 1 or self.kernel.in_python:
            return KernelExpansion._products
        if n_rows >= _MANY_ROWS and self._pruned is not None:
            return KernelExpansion._pruned_sums
        return KernelExpansion._sums

    @cached_property
    def _pruned(self) -> OrderedTerms | None:
        """The terms in an order in which many need not be evaluated; None: nearly all must be."""
        narrow = self.__dict__.get("_narrow")
        if narrow is not None:
            known = narrow._pruned
            return known and OrderedTerms(self.points, self.coef[0], self.kernel, known.order)
        return ordered_if_it_pays(self.points, self.coef[0], self.kernel)

    def _pruned_sums(self) -> _Evaluate:
        """One output: the core leaves out terms that add less than rounding does."""
        assert self._pruned is not None
        ordered = self._pruned
        terms, extents = ordered.store, ordered.extents

        def evaluate(rows: Rows, chunk: slice, out: NDArray[Any]) -> None:
            source, values = rows.source(chunk), out[:, 0]
            _core.pruned_decision(source, terms.arrays, terms.size, ordered.kernel, extents, values)

        return evaluate

    def _sums(self) -> _Evaluate:
        """One output: the core adds up kernel values as it computes them."""
        terms, kernel = self._terms, self._core_kernel

        def evaluate(rows: Rows, chunk: slice, out: NDArray[Any]) -> None:
            _core.decision(rows.source(chunk), terms.arrays, terms.size, kernel, out[:, 0])

        return evaluate

    def _products(self) -> _Evaluate:
        """Several outputs: a few rows of kernel values at a time serve all of them."""
        fill = self._kernel_block()

        def evaluate(rows: Rows, chunk: slice, out: NDArray[Any]) -> None:
            dtype = np.float64 if self.kernel.in_python else rows.dtype
            block = np.empty((_PIECE, len(self)), dtype)
            for start in range(chunk.start, chunk.stop, _PIECE):
                piece = slice(start, min(start + _PIECE, chunk.stop))
                part = block[: piece.stop - start]
                fill(rows, piece, part)
                to = slice(start - chunk.start, piece.stop - chunk.start)
                out[to] = part.astype(np.float64) @ self.coef.T

        return evaluate

    def _kernel_block(self) -> _Evaluate:
        """Kernel values of some rows."""
        if self.kernel.in_python:
            return self._called()
        terms, kernel = self._terms, self._core_kernel

        def evaluate(rows: Rows, piece: slice, out: NDArray[Any]) -> None:
            _core.kernel_block(rows.source(piece), terms.arrays, terms.size, kernel, out)

        return evaluate

    def _called(self) -> _Evaluate:
        """Kernel values by a Python function, which sees double precision."""
        points = self.points.astype(np.float64)

        def evaluate(rows: Rows, piece: slice, out: NDArray[Any]) -> None:
            wide = Rows(rows.X, np.float64, rows.centre)
            out[:] = self.kernel.matrix(dense_block(wide.block(piece), rows.X.shape[1]), points)

        return evaluate


def _read_centre(fields: Fields, name: str, n_features: int) -> NDArray[np.float64]:
    return fields.array(name, (np.float64,), (n_features,), finite=True)


def _largest_values(X: Any) -> NDArray[np.float64]:
    """Return the largest |x_k| of every row, dense or sparse."""
    largest: NDArray[np.float64]
    if sparse.issparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
    else:
        largest = np.maximum(np.max(X, axis=1, initial=0), -np.min(X, axis=1, initial=0))
    return largest.astype(np.float64)

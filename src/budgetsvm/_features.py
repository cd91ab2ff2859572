"""Rows as functions on the span of a basis: products with n × r matrices, in threads.

`KernelMatrix` has the kernel values k(x_i, z_j), held in memory or computed anew in every pass.
`FeatureMatrix` holds the orthonormal features g_i of some rows. Both answer the same questions in the
orthonormal coordinates w. Sums are in double: the change of coordinates amplifies their errors.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from budgetsvm import _core
from budgetsvm._basis import Basis
from budgetsvm._rows import Rows, dense_block
from budgetsvm._terms import TermStore
from budgetsvm._threads import for_each, map_in_order
from budgetsvm.kernels import Callback

_HELD_SHARE = 0.75  # of the memory limit; the rest is for working sets and parts
_PART_BYTES = 1 << 23  # of a part of the matrix: large enough for BLAS, small enough for the cache


class Matrix(ABC):
    """n rows, of which `part` returns some; `width` is the dimension r."""

    def __init__(self, n: int, width: int, n_threads: int, part_bytes: float) -> None:
        self.n = n
        self.width = width
        self.n_threads = n_threads
        self.part_bytes = part_bytes

    @abstractmethod
    def part(self, chosen: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return the chosen rows of the matrix."""

    @abstractmethod
    def from_coordinates(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the vector whose product with a row is f(x_i)."""

    @abstractmethod
    def to_coordinates(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w of a sum of rows; for a matrix on the left, of its columns."""

    def parts(self, n: int) -> list[slice]:
        """Return slices of n rows; the work of all threads on one each takes bounded memory."""
        step = int(max(64, self.part_bytes / (8 * self.width)))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f(x_i) for the function with coordinates w."""
        vector, values = self.from_coordinates(w), np.empty(self.n)

        def evaluate(part: slice) -> None:
            _core.times(self.part(part), vector, values[part])

        for_each(evaluate, self.parts(self.n), self.n_threads)
        return values

    def transposed_times(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the coordinates of Σ_i v_i k(x_i, ·), projected onto the span."""

        def evaluate(part: slice) -> NDArray[np.float64]:
            sums = np.zeros(self.width)
            if v[part].any():
                _core.add_transposed_times(self.part(part), v[part], sums)
            return sums

        total = np.zeros(self.width)
        for sums in map_in_order(evaluate, self.parts(self.n), self.n_threads):
            total += sums
        return self.to_coordinates(total)

    @abstractmethod
    def solve_hessian(
        self, indices: NDArray[np.int64], weights: NDArray[np.float64], v: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return (I + Σ_i weights_i g_i g_iᵀ)⁻¹ v, the sum being over the given rows."""

    def _weighted_sum(
        self, indices: NDArray[np.int64], weights: NDArray[np.float64], dtype: Any
    ) -> NDArray[np.float64]:
        """Return the weighted sum of the outer products of rows, multiplied in `dtype`."""
        roots = np.sqrt(weights)

        def evaluate(part: slice) -> NDArray[Any]:
            block = self.part(indices[part]).astype(dtype)
            block *= roots[part, np.newaxis].astype(dtype)
            return np.asarray(block.T @ block)

        total = np.zeros((self.width, self.width))
        for gram in map_in_order(evaluate, self.parts(len(indices)), self.n_threads):
            total += gram
        return total


class FeatureMatrix(Matrix):
    """The orthonormal features of some rows, held."""

    def __init__(self, values: NDArray[Any], n_threads: int, part_bytes: float) -> None:
        super().__init__(values.shape[0], values.shape[1], n_threads, part_bytes)
        self.values = values

    def part(self, chosen: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return the chosen rows."""
        return self.values[chosen]

    def from_coordinates(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w."""
        return w

    def to_coordinates(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums."""
        return sums

    def solve_hessian(
        self, indices: NDArray[np.int64], weights: NDArray[np.float64], v: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Solve the system; nothing amplifies errors here, so the sum is in the rows' precision."""
        hessian = self._weighted_sum(indices, weights, self.values.dtype)
        hessian[np.diag_indices_from(hessian)] += 1
        return _solve(hessian, v)


class KernelMatrix(Matrix):
    """The kernel values of all rows against a basis.

    Holding them takes n × r numbers; where that exceeds `memory_limit` bytes they are computed anew
    in every pass, part by part.
    """

    def __init__(self, rows: Rows, basis: Basis, n_threads: int, memory_limit: float) -> None:
        part_bytes = min(_PART_BYTES, memory_limit / (4 * n_threads))
        super().__init__(len(rows), len(basis), n_threads, part_bytes)
        self.rows = rows
        self.basis = basis
        row_bytes = len(basis) * np.dtype(rows.dtype).itemsize
        self.most_rows = int(_HELD_SHARE * memory_limit / row_bytes)
        self._terms = TermStore.of(basis.points, np.zeros(len(basis)), basis.kernel, 0)
        self._kernel = self._terms.core_kernel(basis.kernel)
        self._gram = basis.lower @ basis.lower.T
        self._held: NDArray[Any] | None = None
        if len(rows) <= self.most_rows:
            self._held = self._compute()

    def _compute(self) -> NDArray[Any]:
        held = np.empty((self.n, self.width), self.rows.dtype)
        for_each(lambda part: self._fill(part, held[part]), self.parts(self.n), self.n_threads)
        return held

    def part(self, chosen: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return the chosen rows of the matrix."""
        if self._held is not None:
            return self._held[chosen]
        count = chosen.stop - chosen.start if isinstance(chosen, slice) else len(chosen)
        out = np.empty((count, self.width), self.rows.dtype)
        self._fill(chosen, out)
        return out

    def _fill(self, chosen: slice | NDArray[np.int64], out: NDArray[Any]) -> None:
        """Evaluate the kernel."""
        kernel = self.basis.kernel
        if isinstance(kernel, Callback):
            block = dense_block(self.rows.block(chosen), self.basis.points.shape[1])
            out[:] = kernel.matrix(block, self.basis.points)
        else:
            rows = self.rows.source(chosen)
            _core.kernel_block(rows, self._terms.arrays, self.width, self._kernel, out)

    def from_coordinates(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return β."""
        return self.basis.coefficients(w)

    def to_coordinates(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return L⁻¹ times the sums."""
        return np.asarray(self.basis.inverse.T @ sums)

    def solve_hessian(
        self, indices: NDArray[np.int64], weights: NDArray[np.float64], v: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Solve the system as Lᵀ (K_ZZ + Σ_i weights_i k_i k_iᵀ)⁻¹ L v."""
        lower = self.basis.lower
        hessian = self._weighted_sum(indices, weights, np.float64)
        hessian += self._gram
        return np.asarray(lower.T @ _solve(hessian, lower @ v))

    def features(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> FeatureMatrix:
        """Return the orthonormal features of some rows, multiplied in `dtype`."""
        values = np.empty((len(indices), self.width), self.rows.dtype)
        inverse = self.basis.inverse.astype(dtype)

        def evaluate(part: slice) -> None:
            values[part] = self.part(indices[part]).astype(dtype, copy=False) @ inverse

        for_each(evaluate, self.parts(len(indices)), self.n_threads)
        return FeatureMatrix(values, self.n_threads, self.part_bytes)


def _solve(matrix: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve a positive definite system; one that rounding made indefinite gets a ridge."""
    diagonal = np.diag_indices_from(matrix)
    ridge = 1e-12 * float(matrix[diagonal].max())
    while True:
        try:
            return np.asarray(cho_solve(cho_factor(matrix, lower=True), v))
        except LinAlgError:
            matrix[diagonal] += ridge
            ridge *= 100

"""Rows as functions on the span of a basis: products with n × r matrices, in threads.

`KernelMatrix` has the kernel values k(x_i, z_j) of all rows, held in memory or computed anew in every
pass; `SomeRows` has those of some. Both answer questions in the orthonormal coordinates w. Sums are in
double: the change of coordinates amplifies their errors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.threads import for_each, map_in_order
from budgetsvm._model.term_store import TermStore
from budgetsvm._polish.basis import Basis
from budgetsvm._problem.rows import Rows, dense_block
from budgetsvm.kernels import Callback

_HELD_SHARE = 0.75  # of the memory limit; the rest is for working sets and parts
_PART_BYTES = 1 << 23  # of a part of the matrix, in double: large enough for BLAS
_PARTS_AT_ONCE = 8  # of a part, the memory limit has room for; with more threads, some of them wait
# Parts of a pass, whatever the number of threads: at most so many, of so many values at least.
_PARTS, _SMALLEST_PART = 32, 1 << 18
# The same for sums of outer products: so many at most, of so many rows at least.
_GRAM_PARTS, _SMALLEST_GRAM = 8, 512

Tick: TypeAlias = Callable[..., None]


def _no_limit(multiplications: float = 0.0) -> None:
    """There is no limit."""


class Matrix(ABC):
    """n rows of kernel values; `width` is the dimension r."""

    at_hand: bool  #: whether the values are in memory

    def __init__(
        self, n: int, basis: Basis, n_threads: int, part_bytes: float, tick: Tick = _no_limit
    ) -> None:
        self.n = n
        self.basis = basis
        self.width = basis.width
        self.n_threads = n_threads
        self.part_bytes = part_bytes
        self.tick = tick  #: called between parts; may raise an exception to end the computation
        self._most_rows = int(max(64, part_bytes / (8 * self.width)))  # of a part
        self._everyone = np.arange(n)

    @abstractmethod
    def part(self, chosen: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return a block that has the chosen rows, and where they are in it."""

    def parts(self, n: int) -> list[slice]:
        """Return slices of n rows; the work of all threads on one each takes bounded memory."""
        return _slices(
            0, n, min(self._most_rows, max(_SMALLEST_PART // self.width, -(-n // _PARTS)))
        )

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f(x_i) for the function with coordinates w."""
        coef, values = self.basis.coefficients(w), np.empty(self.n)

        def evaluate(part: slice) -> None:
            self.tick()
            _core.times(*self.part(self._everyone[part]), coef, values[part])

        for_each(evaluate, self.parts(self.n), self.n_threads)
        return values

    def transposed_times(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the coordinates of Σ_i v_i k(x_i, ·), projected onto the span."""
        chosen = np.flatnonzero(v)
        scale = v[chosen]

        def evaluate(part: slice, sums: NDArray[np.float64]) -> None:
            _core.add_transposed_times(*self.part(chosen[part]), scale[part], sums)

        return self.basis.projection(self._sum(evaluate, self.parts(len(chosen)), (self.width,)))

    def normal_times(
        self,
        indices: NDArray[np.int64],
        weights: NDArray[np.float64],
        coef: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return Σ_i weights_i <k_i, coef> k_i over the given rows k_i of kernel values."""

        def evaluate(part: slice, sums: NDArray[np.float64]) -> None:
            _core.add_normal_times(*self.part(indices[part]), weights[part], coef, sums)

        return self._sum(evaluate, self.parts(len(indices)), (self.width,))

    def gram(self, indices: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ over the given rows k_i of kernel values."""
        roots, n = np.sqrt(weights), len(indices)

        def evaluate(part: slice, sums: NDArray[np.float64]) -> None:
            for piece in _slices(part.start, part.stop, self._most_rows):
                self.tick()
                block, chosen = self.part(indices[piece])
                scaled = block[chosen] * roots[piece, np.newaxis]
                sums += scaled.T @ scaled

        parts = _slices(0, n, max(_SMALLEST_GRAM, -(-n // _GRAM_PARTS)))
        return self._sum(evaluate, parts, (self.width, self.width))

    def _sum(
        self,
        evaluate: Callable[[slice, NDArray[np.float64]], None],
        parts: list[slice],
        shape: tuple[int, ...],
    ) -> NDArray[np.float64]:
        """Add up what the parts contribute, in their order: threads do not change it."""

        def contribution(part: slice) -> NDArray[np.float64]:
            self.tick()
            sums = np.zeros(shape)
            evaluate(part, sums)
            return sums

        total = np.zeros(shape)
        for sums in map_in_order(contribution, parts, self.n_threads):
            total += sums
        return total


class AllRows(Matrix):
    """All rows of a problem."""

    most_some: int  #: rows of a sample or working set

    @abstractmethod
    def part_at_hand(
        self, chosen: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
        """Return a block that has the chosen rows and may be kept, at most `most_some` of them.

        None: there is no room for it.
        """

    @abstractmethod
    def feature_rows(self, chosen: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return a block that has the orthonormal features of the chosen rows, and where they are."""

    def squared_norms(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return ‖g‖² of the rows of a block."""
        return np.asarray(np.einsum("ij,ij->i", rows, rows))


class SomeRows(Matrix):
    """Some rows of a matrix, at hand."""

    at_hand = True

    def __init__(self, of: AllRows, chosen: NDArray[np.int64]) -> None:
        super().__init__(len(chosen), of.basis, of.n_threads, of.part_bytes, of.tick)
        self._of, self._rows = of, chosen
        self._at_hand = of.part_at_hand(chosen)

    def part(self, chosen: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return a block that has the chosen rows, and where they are in it."""
        if self._at_hand is None:
            return self._of.part(self._rows[chosen])
        block, where = self._at_hand
        return block, where[chosen]


class KernelMatrix(AllRows):
    """The kernel values of all rows against a basis.

    Holding them takes n × r numbers; where that exceeds `memory_limit` bytes they are computed anew
    in every pass, part by part.
    """

    def __init__(
        self,
        rows: Rows,
        basis: Basis,
        n_threads: int,
        memory_limit: float,
        *,
        hold: bool = True,
        room: float = np.inf,
        tick: Tick = _no_limit,
    ) -> None:
        # Where parts begin and end changes how sums are rounded: that must not depend on threads.
        part_bytes = min(_PART_BYTES, memory_limit / (4 * _PARTS_AT_ONCE))
        n_threads = min(n_threads, max(1, int(memory_limit / (4 * part_bytes))))
        super().__init__(len(rows), basis, n_threads, part_bytes, tick)
        self.rows = rows
        row_bytes = basis.width * np.dtype(rows.dtype).itemsize
        most_rows = int(_HELD_SHARE * memory_limit / row_bytes)
        self.most_some = max(1024, most_rows // 4)
        self._terms = TermStore.of(basis.points, np.zeros(len(basis)), basis.kernel, 0)
        self._kernel = self._terms.core_kernel(basis.kernel)
        self.at_hand = hold and len(rows) <= most_rows
        # What the machine has no room for, though it may be used, is computed anew each time it is needed:
        # that takes longer, and changes no result.
        self._room = _HELD_SHARE * room / row_bytes
        #: whether there is memory for all values
        self.fits = len(rows) <= min(most_rows, self._room)
        self._held = None
        if self.at_hand and len(rows) <= self._room:
            self._held = self._compute(self._everyone)

    def part(self, chosen: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return a block that has the chosen rows, and where they are in it."""
        if self._held is not None:
            return self._held, chosen
        out = np.empty((len(chosen), self.width), self.rows.dtype)
        self._fill(chosen, out)
        return out, self._everyone[: len(chosen)]

    def part_at_hand(
        self, chosen: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
        """Return a block that has the chosen rows and may be kept, at most `most_some` of them."""
        if self._held is not None:
            return self._held, chosen
        if len(chosen) > self._room:
            return None
        return self._compute(chosen), self._everyone[: len(chosen)]

    def _compute(self, chosen: NDArray[np.int64]) -> NDArray[Any]:
        values = np.empty((len(chosen), self.width), self.rows.dtype)

        def fill(part: slice) -> None:
            self.tick()
            self._fill(chosen[part], values[part])

        for_each(fill, self.parts(len(chosen)), self.n_threads)
        return values

    def _fill(self, chosen: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Evaluate the kernel."""
        kernel, where = self.basis.kernel, _as_slice(chosen)
        if isinstance(kernel, Callback):
            block = dense_block(self.rows.block(where), self.basis.points.shape[1])
            out[:, len(self.basis) :] = 1
            out[:, : len(self.basis)] = kernel.matrix(block, self.basis.points)
        else:
            rows = self.rows.source(where)
            _core.kernel_block(rows, self._terms.arrays, len(self.basis), self._kernel, out)

    def feature_rows(self, chosen: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return a block that has the orthonormal features of the chosen rows, and where they are."""
        return self.features(chosen), self._everyone[: len(chosen)]

    def features(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        """Return the orthonormal features of some rows, multiplied in double."""
        values = np.empty((len(indices), self.width), self.rows.dtype)

        def evaluate(part: slice) -> None:
            self.tick()
            block, chosen = self.part(indices[part])
            values[part] = self.basis.features(block[chosen])

        for_each(evaluate, self.parts(len(indices)), self.n_threads)
        return values


class FeatureMatrix(AllRows):
    """The orthonormal features of all rows, held in memory.

    To compute them takes as long as a hundred passes over kernel values; then coordinate ascent can
    visit any row at once. Worth it where there are several outputs.
    """

    at_hand = True

    def __init__(self, of: KernelMatrix) -> None:
        super().__init__(of.n, of.basis.orthonormal(), 1, of.part_bytes, of.tick)
        self.most_some = self.n
        self._held = of.features(self._everyone)
        self._squared_norms = super().squared_norms(self._held)

    def part(self, chosen: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return a block that has the chosen rows, and where they are in it."""
        return self._held, chosen

    feature_rows = part_at_hand = part

    def squared_norms(self, rows: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002 - they are all rows
        """Return ‖g‖² of the rows of a block."""
        return self._squared_norms


def _slices(start: int, stop: int, step: int) -> list[slice]:
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]


def _as_slice(chosen: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return consecutive indices as a slice, which needs no copy of the data."""
    first, count = (int(chosen[0]), len(chosen)) if len(chosen) else (0, 0)
    consecutive = (
        count > 0 and int(chosen[-1]) - first == count - 1 and (np.diff(chosen) == 1).all()
    )
    return slice(first, first + count) if consecutive else chosen

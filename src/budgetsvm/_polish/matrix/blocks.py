"""Products by dense blocks of rows, in threads.

Sums are in double: the change of coordinates amplifies their errors. Where parts begin and end changes how
sums are rounded, so that it does not depend on the number of threads.
"""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._common.threads import for_each, map_in_order
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Block, RowMatrix, Tick, no_limit

# Parts of a pass, whatever the number of threads: at most so many, of so many values at least.
_PARTS, _SMALLEST_PART = 32, 1 << 18
# The same for sums of outer products: so many at most, of so many rows at least.
_GRAM_PARTS, _SMALLEST_GRAM = 8, 512
# Of more terms than that, such sums are filled tile by tile; so many parts of rows are at hand then.
_TILED, _TILE, _TILED_PARTS = 512, 256, 8


class BlockMatrix(RowMatrix):
    """Rows that come as dense blocks; `part_bytes` is what one of them may take, in double."""

    def __init__(
        self, n: int, basis: Basis, n_threads: int, part_bytes: float, tick: Tick = no_limit
    ) -> None:
        super().__init__(n, basis, tick)
        self.n_threads = n_threads
        self.part_bytes = part_bytes
        self._most_rows = int(max(64, part_bytes / (8 * self.basis.dimension)))  # of a part
        self._everyone = np.arange(n)

    @abstractmethod
    def rows_to_keep(self, chosen: NDArray[np.int64]) -> Block | None:
        """Return the kernel values of at most `most_some` rows; None: there is no room for them."""

    def some(self, chosen: NDArray[np.int64]) -> "BlockMatrix":
        """Return a matrix of the chosen rows, at hand."""
        return SomeBlockRows(self, chosen)

    @abstractmethod
    def against(self, basis: Basis) -> "BlockMatrix":
        """Return the same rows on another basis, of few terms."""

    def parts(self, n: int) -> list[slice]:
        """Return slices of n rows; the work of all threads on one each takes bounded memory."""
        return _slices(
            0, n, min(self._most_rows, max(_SMALLEST_PART // self.basis.dimension, -(-n // _PARTS)))
        )

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f(x_i) for orthonormal coordinates w."""
        coef, values = self.basis.coefficients(w), np.empty(self.n)

        def evaluate(part: slice) -> None:
            self.tick()
            _core.times(*self.value_rows(self._everyone[part]), coef, values[part])

        for_each(evaluate, self.parts(self.n), self.n_threads)
        return values

    def transposed_times(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the coordinates of Σ_i v_i k(x_i, ·), projected onto the span."""
        chosen = nonzero_places(v)
        if len(chosen) == 0:
            return np.zeros(self.basis.dimension)
        scale = v[chosen]

        def evaluate(part: slice, sums: NDArray[np.float64]) -> None:
            _core.add_transposed_times(*self.value_rows(chosen[part]), scale[part], sums)

        return self.basis.projection(
            self._sum(evaluate, self.parts(len(chosen)), (self.basis.dimension,))
        )

    def normal_times(
        self,
        indices: NDArray[np.int64],
        weights: NDArray[np.float64],
        coef: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return Σ_i weights_i <k_i, coef> k_i over the given rows."""

        def evaluate(part: slice, sums: NDArray[np.float64]) -> None:
            _core.add_normal_times(*self.value_rows(indices[part]), weights[part], coef, sums)

        return self._sum(evaluate, self.parts(len(indices)), (self.basis.dimension,))

    def gram(self, indices: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ over the given rows."""
        roots, r = np.sqrt(weights), self.basis.dimension

        def scaled(piece: slice) -> NDArray[np.float64]:
            self.tick()
            block = self.value_rows(indices[piece])
            return np.asarray(block.rows[block.where] * roots[piece, np.newaxis])

        if r > _TILED:
            return self._tiled_gram(scaled, len(indices))

        def evaluate(part: slice, sums: NDArray[np.float64]) -> None:
            for piece in _slices(part.start, part.stop, self._most_rows):
                rows = scaled(piece)
                sums += rows.T @ rows

        step = max(_SMALLEST_GRAM, -(-len(indices) // _GRAM_PARTS))
        return self._sum(evaluate, _slices(0, len(indices), step), (r, r))

    def _tiled_gram(
        self, scaled: Callable[[slice], NDArray[np.float64]], n: int
    ) -> NDArray[np.float64]:
        """Sum up tile by tile: a matrix for each thread would take more memory, and longer to add up than to fill."""
        total = np.zeros((self.basis.dimension, self.basis.dimension))
        tiles = _slices(0, len(total), _TILE)
        for rows in _slices(0, n, _TILED_PARTS * self._most_rows):
            values = np.empty((rows.stop - rows.start, len(total)))

            def fill(
                piece: slice, values: NDArray[np.float64] = values, first: int = rows.start
            ) -> None:
                values[piece.start - first : piece.stop - first] = scaled(piece)

            def add(tile: slice, values: NDArray[np.float64] = values) -> None:
                self.tick()
                own, before = values[:, tile], slice(0, tile.start)
                total[tile, tile] += own.T @ own
                if tile.start:
                    total[tile, before] += own.T @ values[:, before]

            for_each(fill, _slices(rows.start, rows.stop, self._most_rows), self.n_threads)
            for_each(add, tiles[::-1], self.n_threads)  # the long ones first

        def mirror(tile: slice) -> None:
            total[: tile.start, tile] = total[tile, : tile.start].T

        for_each(mirror, tiles, self.n_threads)
        return total

    def _sum(
        self,
        evaluate: Callable[[slice, NDArray[np.float64]], None],
        parts: list[slice],
        shape: tuple[int, ...],
    ) -> NDArray[np.float64]:
        """Add up what the parts contribute, in their order: threads do not change it."""
        if len(parts) <= 1:  # a function for it takes longer than a few rows do
            total = np.zeros(shape)
            self.tick()
            for part in parts:
                evaluate(part, total)
            return total

        def contribution(part: slice) -> NDArray[np.float64]:
            self.tick()
            sums = np.zeros(shape)
            evaluate(part, sums)
            return sums

        total = np.zeros(shape)
        for sums in map_in_order(contribution, parts, self.n_threads):
            total += sums
        return total


class SomeBlockRows(BlockMatrix):
    """Some rows of such a matrix, kept if there is room."""

    def __init__(self, of: BlockMatrix, chosen: NDArray[np.int64]) -> None:
        super().__init__(len(chosen), of.basis, of.n_threads, of.part_bytes, of.tick)
        self.dtype = of.dtype
        self._of, self._chosen = of, chosen
        self._kept = of.rows_to_keep(chosen)

    def value_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the kernel values of the chosen rows."""
        if self._kept is None:
            return self._of.value_rows(self._chosen[chosen])
        return Block(self._kept.rows, self._kept.where[chosen])

    def rows_to_keep(self, chosen: NDArray[np.int64]) -> Block | None:
        """Return the kernel values of the chosen rows, if there is room for them."""
        return None if self._kept is None else self.value_rows(chosen)

    def feature_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the orthonormal features of the chosen rows."""
        return self._of.feature_rows(self._chosen[chosen])

    def against(self, basis: Basis) -> BlockMatrix:
        """Return the same rows on another basis."""
        return self._of.against(basis).some(self._chosen)


def _slices(start: int, stop: int, step: int) -> list[slice]:
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]

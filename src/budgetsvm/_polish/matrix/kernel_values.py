"""The kernel values k(x_i, z_j) of all rows and terms, held in memory or computed anew in every pass."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.threads import for_each
from budgetsvm._model.term_store import TermStore
from budgetsvm._polish.basis import Basis, orthonormal_features
from budgetsvm._polish.matrix.blocks import BlockMatrix
from budgetsvm._polish.matrix.interface import Block, Tick, no_limit
from budgetsvm._polish.matrix.orthonormal import OrthonormalMatrix
from budgetsvm._problem.rows import Rows, dense_block
from budgetsvm.kernels import KernelInPython

_HELD_SHARE = 0.75  # of the memory limit; the rest is for working sets and parts
_PART_BYTES = 1 << 23  # of a part of the matrix, in double: large enough for BLAS
_PARTS_AT_ONCE = 8  # of a part, the memory limit has room for; with more threads, some of them wait
_FEW_TERMS_MEMORY = 1e9  # bytes: few terms, computed part by part


class KernelMatrix(BlockMatrix):
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
        tick: Tick = no_limit,
    ) -> None:
        part_bytes = min(_PART_BYTES, memory_limit / (4 * _PARTS_AT_ONCE))
        n_threads = min(n_threads, max(1, int(memory_limit / (4 * part_bytes))))
        super().__init__(len(rows), basis, n_threads, part_bytes, tick)
        self.rows, self.dtype = rows, rows.dtype
        row_bytes = basis.dimension * np.dtype(rows.dtype).itemsize
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

    def value_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the kernel values of the chosen rows."""
        if self._held is not None:
            return Block(self._held, chosen)
        out = np.empty((len(chosen), self.basis.dimension), self.dtype)
        self._fill(chosen, out)
        return Block(out, self._everyone[: len(chosen)])

    def rows_to_keep(self, chosen: NDArray[np.int64]) -> Block | None:
        """Return the kernel values of at most `most_some` rows; None: there is no room for them."""
        if self._held is not None:
            return Block(self._held, chosen)
        if len(chosen) > self._room:
            return None
        return Block(self._compute(chosen), self._everyone[: len(chosen)])

    def feature_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the orthonormal features of the chosen rows, multiplied in double."""
        values = np.empty((len(chosen), self.basis.dimension), self.dtype)
        inverse = self.basis.inverse

        def evaluate(part: slice) -> None:
            self.tick()
            block = self.value_rows(chosen[part])
            values[part] = orthonormal_features(inverse, block.rows[block.where])

        for_each(evaluate, self.parts(len(chosen)), self.n_threads)
        return Block(values, self._everyone[: len(chosen)])

    def against(self, basis: Basis) -> "KernelMatrix":
        """Return the same rows on another basis, of few terms."""
        return KernelMatrix(
            self.rows, basis, self.n_threads, _FEW_TERMS_MEMORY, hold=False, tick=self.tick
        )

    def orthonormal(self) -> OrthonormalMatrix | None:
        """Return the features of all rows, if there is memory for them."""
        return OrthonormalMatrix(self) if self.fits else None

    def _compute(self, chosen: NDArray[np.int64]) -> NDArray[Any]:
        values = np.empty((len(chosen), self.basis.dimension), self.dtype)

        def fill(part: slice) -> None:
            self.tick()
            self._fill(chosen[part], values[part])

        for_each(fill, self.parts(len(chosen)), self.n_threads)
        return values

    def _fill(self, chosen: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Evaluate the kernel."""
        kernel, where = self.basis.kernel, _as_slice(chosen)
        if isinstance(kernel, KernelInPython):
            block = dense_block(self.rows.block(where), self.basis.points.shape[1])
            out[:, len(self.basis) :] = 1
            out[:, : len(self.basis)] = kernel.matrix(block, self.basis.points)
        else:
            rows = self.rows.source(where)
            _core.kernel_block(rows, self._terms.arrays, len(self.basis), self._kernel, out)


def _as_slice(chosen: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return consecutive indices as a slice, which needs no copy of the data."""
    first, count = (int(chosen[0]), len(chosen)) if len(chosen) else (0, 0)
    consecutive = (
        count > 0 and int(chosen[-1]) - first == count - 1 and (np.diff(chosen) == 1).all()
    )
    return slice(first, first + count) if consecutive else chosen

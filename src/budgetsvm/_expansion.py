"""The trained model: f_c(x) = Σ_j β_cj k(x, z_j) + b_c, for one output c or several."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._rows import Rows, dense_block
from budgetsvm._terms import TermStore
from budgetsvm._threads import for_each
from budgetsvm.kernels import Callback, Kernel

_Evaluate: TypeAlias = Callable[[Rows, slice, NDArray[Any]], None]

_PIECE = 256  # rows whose kernel values are held at once, where there are several outputs


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """Points z_j, stored relative to `centre`, with coefficients (outputs, terms) and a bias each."""

    kernel: Kernel
    points: NDArray[Any]
    coef: NDArray[np.float64]
    bias: NDArray[np.float64]
    centre: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.points)

    def original_points(self) -> NDArray[np.float64]:
        """Return the points in the coordinates of the data."""
        points = self.points.astype(np.float64)
        return points if self.centre is None else points + self.centre

    def decision(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Return f_c(x) for every row of X, (rows, outputs). Memory beyond the result is bounded."""
        rows = Rows(X, self.points.dtype.type, self.centre)
        values = np.zeros((len(rows), len(self.coef)))
        evaluate = self._one_output() if len(self.coef) == 1 else self._many_outputs()
        for_each(lambda chunk: evaluate(rows, chunk, values[chunk]), rows.chunks(), n_threads)
        values += self.bias
        return values

    def kernel_values(self, X: Any, n_threads: int = 1) -> NDArray[Any]:
        """Return k(x, z_j) for every row and term, in the precision of the model."""
        rows = Rows(X, self.points.dtype.type, self.centre)
        values, fill = np.empty((len(rows), len(self)), rows.dtype), self._kernel_block()
        for_each(lambda chunk: fill(rows, chunk, values[chunk]), rows.chunks(), n_threads)
        return values

    def _one_output(self) -> _Evaluate:
        """The core adds up kernel values as it computes them."""
        terms = TermStore.of(self.points, self.coef[0], self.kernel, 0)
        kernel = terms.core_kernel(self.kernel)

        def evaluate(rows: Rows, chunk: slice, out: NDArray[Any]) -> None:
            _core.decision(rows.source(chunk), terms.arrays, terms.size, kernel, out[:, 0])

        return evaluate

    def _many_outputs(self) -> _Evaluate:
        """A few rows of kernel values at a time serve all outputs."""
        fill = self._kernel_block()

        def evaluate(rows: Rows, chunk: slice, out: NDArray[Any]) -> None:
            block = np.empty((_PIECE, len(self)), rows.dtype)
            for start in range(chunk.start, chunk.stop, _PIECE):
                piece = slice(start, min(start + _PIECE, chunk.stop))
                part = block[: piece.stop - start]
                fill(rows, piece, part)
                to = slice(start - chunk.start, piece.stop - chunk.start)
                out[to] = part.astype(np.float64) @ self.coef.T

        return evaluate

    def _kernel_block(self) -> _Evaluate:
        """Kernel values of some rows."""
        terms = TermStore.of(self.points, np.zeros(len(self)), self.kernel, 0)
        kernel = terms.core_kernel(self.kernel)

        def evaluate(rows: Rows, piece: slice, out: NDArray[Any]) -> None:
            if isinstance(self.kernel, Callback):
                block = dense_block(rows.block(piece), rows.X.shape[1])
                out[:] = self.kernel.matrix(block, self.points)
            else:
                _core.kernel_block(rows.source(piece), terms.arrays, terms.size, kernel, out)

        return evaluate

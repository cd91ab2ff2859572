"""Orthonormal features, held in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.blocks import BlockMatrix
from budgetsvm._polish.matrix.interface import Block


class OrthonormalMatrix(BlockMatrix):
    """The orthonormal features of all rows of another matrix.

    To compute them takes as long as a hundred passes over kernel values; then coordinate ascent can
    visit any row at once. Worth it where there are several outputs, which run in threads of their own.
    """

    def __init__(self, of: BlockMatrix) -> None:
        super().__init__(of.n, of.basis.orthonormal(), 1, of.part_bytes, of.tick)
        self.dtype = of.dtype
        self._of = of
        self._held = of.feature_rows(self._everyone).rows
        self._squared_norms = super().squared_norms(self._held)

    def value_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the features of the chosen rows: their terms are orthonormal."""
        return Block(self._held, chosen)

    feature_rows = rows_to_keep = value_rows

    def squared_norms(self, features: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002 - they are all rows
        """Return ‖g‖² of all rows."""
        return self._squared_norms

    def against(self, basis: Basis) -> BlockMatrix:
        """Return the same rows on another basis."""
        return self._of.against(basis)

    def orthonormal(self) -> "OrthonormalMatrix":
        """Return itself."""
        return self

    def only(self, chosen: NDArray[np.int64]) -> "OrthonormalMatrix":
        """Return a copy of some rows, side by side, for many visits."""
        return _SomeOrthonormal(self, chosen)


class _SomeOrthonormal(OrthonormalMatrix):
    def __init__(self, of: OrthonormalMatrix, chosen: NDArray[np.int64]) -> None:
        BlockMatrix.__init__(self, len(chosen), of.basis, 1, of.part_bytes, of.tick)
        self.dtype, self._of, self._chosen = of.dtype, of, chosen
        self._held, self._squared_norms = of._held[chosen], of._squared_norms[chosen]

    def against(self, basis: Basis) -> BlockMatrix:
        """Return the same rows on another basis."""
        return self._of.against(basis).some(self._chosen)

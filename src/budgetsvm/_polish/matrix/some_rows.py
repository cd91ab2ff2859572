"""Some rows of any matrix, by the products of all of its rows."""

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix


class SomeRows(Matrix):
    """Some rows, each once, of a matrix that knows no better way: `times` costs as much as that of all."""

    def __init__(self, of: Matrix, chosen: NDArray[np.int64]) -> None:
        super().__init__(len(chosen), of.basis, of.tick)
        self.at_hand = of.at_hand
        self._of, self._chosen = of, chosen

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f(x_i) for orthonormal coordinates w."""
        return self._of.times(w)[self._chosen]

    def transposed_times(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i v_i g_i."""
        everyone = np.zeros(self._of.n)
        everyone[self._chosen] = v
        return self._of.transposed_times(everyone)

    def normal_times(
        self,
        indices: NDArray[np.int64],
        weights: NDArray[np.float64],
        coef: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return Σ_i weights_i <k_i, coef> k_i."""
        return self._of.normal_times(self._chosen[indices], weights, coef)

    def gram(self, indices: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ."""
        return self._of.gram(self._chosen[indices], weights)

    def some(self, chosen: NDArray[np.int64]) -> Matrix:
        """Return a matrix of the chosen rows."""
        return SomeRows(self._of, self._chosen[chosen])

    def against(self, basis: Basis) -> Matrix:
        """Return the same rows on another basis."""
        return SomeRows(self._of.against(basis), self._chosen)

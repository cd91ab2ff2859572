"""What the terms that are left out of a basis would have contributed.

In the larger span the certificate of a dual point α is D(α) less ½‖u‖², u being the coordinates of w(α) along
what is new in the other terms: no model in the larger span is better than that. So where ½‖u‖² is small
beside the gap that is asked for, leaving those terms out has cost nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import AllRows, KernelMatrix

_MEMORY = 1e9  # bytes: few terms, computed part by part


class LeftOutTerms:
    """The terms that the basis of a matrix lacks, against all its rows."""

    def __init__(self, matrix: KernelMatrix) -> None:
        basis, left_out = matrix.basis, matrix.basis.left_out
        self._kept = len(basis)
        self._lower: NDArray[np.float64] = np.empty((0, self._kept))
        self.matrix: AllRows | None = None
        if left_out is not None:
            plain = Basis.plain(left_out.points, basis.kernel)
            self._lower = left_out.lower
            self.matrix = KernelMatrix(
                matrix.rows, plain, matrix.n_threads, _MEMORY, hold=False, tick=matrix.tick
            )

    def pull(self, weights: NDArray[np.float64], point: NDArray[np.float64]) -> float:
        """Return ½‖u‖² for a dual point, given α_i y_i of all rows and the coordinates of its w(α)."""
        if self.matrix is None:
            return 0.0
        return self.pull_of_sums(self.matrix.transposed_times(weights), point)

    def pull_of_sums(self, sums: NDArray[Any], point: NDArray[np.float64]) -> float:
        """Return the same, given the sums Σ_i α_i y_i k(x_i, z_j) over all rows."""
        known, new = self._lower[:, : self._kept], self._lower[:, self._kept :]
        u = solve_triangular(new, sums - known @ point[: self._kept], lower=True)
        return 0.5 * float(u @ u)

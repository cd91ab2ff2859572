"""What the terms that are left out of a basis would have contributed.

In the larger span the certificate of a dual point α is D(α) less ½‖u‖², u being the coordinates of w(α) along
what is new in the other terms: no model in the larger span is better than that. So where ½‖u‖² is small
beside the gap that is asked for, leaving those terms out has cost nothing.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from budgetsvm._polish.basis import Basis


class LeftOutTerms:
    """The terms that a basis lacks: `basis` has them as they are, None where there are none."""

    def __init__(self, of: Basis) -> None:
        self._kept = len(of)
        self._lower: NDArray[np.float64] = np.empty((0, self._kept))
        self.basis: Basis | None = None
        if of.left_out is not None:
            self._lower = of.left_out.lower
            self.basis = Basis.plain(of.left_out.points, of.kernel)

    def pull(self, sums: NDArray[np.float64], point: NDArray[np.float64]) -> float:
        """Return ½‖u‖² of a dual point, given Σ_i α_i y_i k(x_i, z_j) for these terms, and its w(α)."""
        known, new = self._lower[:, : self._kept], self._lower[:, self._kept :]
        u = solve_triangular(new, sums - known @ point[: self._kept], lower=True)
        return 0.5 * float(u @ u)

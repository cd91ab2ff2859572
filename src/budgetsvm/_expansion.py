"""The trained model: f(x) = Σ_j β_j k(x, z_j)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._rows import Rows
from budgetsvm._terms import TermStore
from budgetsvm._threads import for_each
from budgetsvm.kernels import Kernel


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """A list of terms (β_j, z_j) with their kernel; points are stored relative to `centre`."""

    kernel: Kernel
    points: NDArray[Any]
    coef: NDArray[np.float64]
    centre: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.coef)

    def original_points(self) -> NDArray[np.float64]:
        """Return the points in the coordinates of the data."""
        points = self.points.astype(np.float64)
        return points if self.centre is None else points + self.centre

    def decision(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Return f(x) for every row of X. Memory beyond the result is bounded."""
        rows = Rows(X, self.points.dtype.type, self.centre)
        terms = TermStore.of(self.points, self.coef, self.kernel, 0)
        kernel = terms.core_kernel(self.kernel)
        values = np.zeros(len(rows))

        def evaluate(chunk: slice) -> None:
            _core.decision(rows.source(chunk), terms.arrays, terms.size, kernel, values[chunk])

        for_each(evaluate, rows.chunks(), n_threads)
        return values

"""How much of the kernel lies in the span of a basis, and what C is to be for that."""

import numpy as np
from scipy.linalg import solve_triangular

from budgetsvm._common.limits import Limits
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._problem.rows import Rows, kernel_diagonal

_ROWS = 256  # of a sample: enough for a share that is right up to a few hundredths
_LEAST = 0.1  # where the span has less than that, hardly a row says what C should be


def captured_share(rows: Rows, basis: Basis, limits: Limits) -> float:
    """Return Σ_i ‖g_i‖² / Σ_i k(x_i, x_i): the share of the kernel that the span of a basis has, on a sample of rows.

    What a span lacks it cannot overfit: it regularises by itself, and with the same C a model in it is regularised
    more than the machine of all rows. A machine with the kernel s k and C / s is that with k and C; as the
    span leaves of k a kernel that is s times as large on the rows, C / s undoes that (docs/theory.md has figures).
    """
    n, r = len(rows), len(basis)
    # Always the same rows: for the same terms C is the same, whatever the seed.
    chosen = np.sort(np.random.default_rng(0).choice(n, min(n, _ROWS), replace=False))
    limits.tick(len(chosen) * float(r) ** 2)
    matrix = KernelMatrix(rows, basis, 1, limits.memory, hold=False, tick=limits.tick)
    block = matrix.value_rows(chosen)
    values = block.rows[block.where, :r].astype(np.float64)
    features = solve_triangular(basis.lower[:r, :r], values.T, lower=True, check_finite=False)
    whole = float(kernel_diagonal(rows, basis.kernel, chosen).sum())
    share = float((features**2).sum()) / whole if whole > 0 else 1.0
    return float(np.clip(share, _LEAST, 1.0)) if np.isfinite(share) else 1.0

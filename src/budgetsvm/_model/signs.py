"""Decision values whose signs rounding does not decide.

A label hangs on a sign. In single precision, values of rows next to the boundary may have the wrong one; these rows, one
in a thousand or so, are evaluated anew in double. So labels are those that the same terms have in double precision, as
LIBSVM computes, whatever the precision of the model is.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.rows import Rows, squared_norms


def sure_decision(model: KernelExpansion, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
    """Return f_c(x) for every row of X, (rows, outputs), of the right signs."""
    values = model.decision(X, n_threads)
    if model.is_double or len(model) == 0:
        return values
    # What overflows belongs to values so large that they say nothing: then all is computed in double.
    with np.errstate(over="ignore", invalid="ignore"):
        near = abs(values) < _sizes(model, X) * model.rounding
    wide = model.in_precision(np.float64) if near.any() else model
    # One output at a time: bits of the product of two matrices depend on how many rows there are.
    for c in np.flatnonzero(near.any(axis=0)):
        rows, output = np.flatnonzero(near[:, c]), slice(c, c + 1)
        single = replace(wide, coef=wide.coef[output], bias=wide.bias[output])
        values[rows, c] = single.decision(X[rows], n_threads)[:, 0]
    return values


def _sizes(model: KernelExpansion, X: Any) -> NDArray[np.float64] | float:
    """Return a bound of |k(x, z)| / √k(z, z) for every row, in a column."""
    if model.kernel.growth == 0:
        return 1.0
    rows = Rows(X, np.float64, model.centre)
    norms = np.concatenate([squared_norms(rows.block(chunk)) for chunk in rows.chunks()])
    return np.sqrt(np.maximum(1.0, abs(model.kernel.diagonal(norms))))[:, np.newaxis]

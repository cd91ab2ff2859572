"""Values of a model as a user gets them: as precise as they look, and of labels that rounding does not decide.

Kernel values in single precision make errors of 1e-7, which large coefficients of both signs leave far more of: 1e-3 of a
margin, where C is large. So values that are returned are evaluated in double wherever more than 1e-5 may be lost. A label
takes less: only rows next to the boundary, one in a thousand or so, are evaluated anew. In both ways labels are those that
the same terms have in double precision, as LIBSVM computes, whatever the precision of the model is.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.rows import Rows, squared_norms

_Matrix = NDArray[np.float64]
#: Says, from the values of rows and what these may be off by, of which rows something hangs on rounding.
Doubtful: TypeAlias = Callable[[_Matrix, _Matrix], NDArray[np.bool_]]

_ERROR = 1e-5  # of a margin, of the scale of targets, of the score at which outliers begin


def precise_decision(
    model: KernelExpansion, X: Any, n_threads: int = 1, doubtful: Doubtful | None = None
) -> _Matrix:
    """Return f_c(x) for every row of X, (rows, outputs), off by 1e-5 at most."""
    if model.is_double or len(model) == 0:
        return model.decision(X, n_threads)
    exact = ~(_errors(model, X).max(axis=1) <= _ERROR)
    if exact.all():
        return model.wide.decision(X, n_threads)
    found = sure_decision(model, X, doubtful or _none, n_threads)
    if exact.any():
        found[exact] = model.wide.decision(X[np.flatnonzero(exact)], n_threads, among=len(found))
    return found


def sure_decision(
    model: KernelExpansion, X: Any, doubtful: Doubtful, n_threads: int = 1
) -> _Matrix:
    """Return f_c(x) for every row of X, (rows, outputs), rounded but where something hangs on it."""
    values = model.decision(X, n_threads)
    if model.is_double or len(model) == 0:
        return values
    # What overflows belongs to values so large that they say nothing: then all is computed in double.
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.flatnonzero(doubtful(values, _errors(model, X)))
    if len(rows):
        values[rows] = model.wide.decision(X[rows], n_threads, among=len(values))
    return values


def near_zero(values: _Matrix, errors: _Matrix) -> NDArray[np.bool_]:
    """Say of which rows the sign of an output may be wrong."""
    return np.asarray((abs(values) < errors).any(axis=1))


def near_each_other(values: _Matrix, errors: _Matrix) -> NDArray[np.bool_]:
    """Say of which rows the largest value may be another."""
    second, first = np.partition(values, -2, axis=1)[:, -2:].T
    return np.asarray(~(first - second >= 2 * errors.max(axis=1)))


def _none(values: _Matrix, errors: _Matrix) -> NDArray[np.bool_]:  # noqa: ARG001
    return np.zeros(len(values), np.bool_)


def _errors(model: KernelExpansion, X: Any) -> _Matrix:
    """Return what values may be off by, (rows or 1, outputs)."""
    if model.kernel.growth == 0:
        return model.rounding[np.newaxis]
    rows = Rows(X, np.float64, model.centre)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.concatenate([squared_norms(rows.block(chunk)) for chunk in rows.chunks()])
        # A bound of |k(x, z)| / √k(z, z).
        sizes = np.sqrt(np.maximum(1.0, abs(model.kernel.diagonal(norms))))
        return sizes[:, np.newaxis] * model.rounding

"""R², of targets of any scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def r_squared(y: Any, found: Any, **how: Any) -> Any:
    """Return the R² of scikit-learn, which takes `how`, too.

    It is the same in all units, but its squares overflow or vanish in some. So numbers are divided by a power of two, which
    leaves every digit as it is.
    """
    from sklearn.metrics import r2_score

    return r2_score(*_in_own_units(y, found), **how)


def shares_of_variance(y: Any, found: Any) -> NDArray[np.float64]:
    """Return for every row what it adds to R², in numbers whose mean is that: of several targets their mean."""
    y, found = (_as_columns(values) for values in _in_own_units(y, found))
    variance = ((y - y.mean(axis=0)) ** 2).mean(axis=0)
    errors = (y - found) ** 2
    right = (errors == 0).all(axis=0)  # of targets that are all the same, R² is 1 or 0
    shares = np.where(variance > 0, 1 - errors / np.where(variance > 0, variance, 1.0), right)
    return np.asarray(shares.mean(axis=1))


def _as_columns(values: NDArray[Any]) -> NDArray[Any]:
    return values[:, np.newaxis] if values.ndim == 1 else values


def _in_own_units(y: Any, found: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return targets and predictions, divided by a power of two that leaves their squares room."""
    y, found = np.asarray(y), np.asarray(found)
    if y.shape == (*found.shape, 1):  # a column, for which a machine predicts a vector
        y = y[..., 0]
    numbers = y.dtype.kind in "iuf" and y.size > 0
    if numbers and y.shape == found.shape:
        _, power = np.frexp(np.abs(y.astype(float)).max(axis=0))
        y, found = np.ldexp(y, -power), np.ldexp(found, -power)
    return y, found

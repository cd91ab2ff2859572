"""R², of targets of any scale."""

from typing import Any

import numpy as np


def r_squared(y: Any, found: Any, **how: Any) -> Any:
    """Return the R² of scikit-learn, which takes `how`, too.

    It is the same in all units, but its squares overflow or vanish in some. So numbers are divided by a power of two, which
    leaves every digit as it is.
    """
    from sklearn.metrics import r2_score

    y, found = np.asarray(y), np.asarray(found)
    if y.shape == (*found.shape, 1):  # a column, for which a machine predicts a vector
        y = y[..., 0]
    numbers = y.dtype.kind in "iuf" and y.size > 0
    if numbers and y.shape == found.shape:
        _, power = np.frexp(np.abs(y.astype(float)).max(axis=0))
        y, found = np.ldexp(y, -power), np.ldexp(found, -power)
    return r2_score(y, found, **how)

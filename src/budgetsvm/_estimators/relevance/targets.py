"""Whether y is labels or numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from budgetsvm._common.saying import say

_MANY_NUMBERS = 30  # different ones: are they classes?


def labels_or_numbers(y: NDArray[Any], task: str) -> tuple[NDArray[Any], bool]:
    """Return y, as a vector if it has one column, and whether it is labels; `task` may say so, or be "auto"."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = np.asarray(column_or_1d(y, warn=True))
    with np.errstate(invalid="ignore"):  # of numbers too large for integers
        kind = type_of_target(y, input_name="y")
    numbers, fractions = y.dtype.kind in "biuf", kind.startswith("continuous")
    if kind == "unknown" or (y.ndim == 2 and not numbers):
        message = f"Unknown label type: y must be labels in one column, or numbers, not {kind} of dtype {y.dtype}"
        raise ValueError(message)
    if task == "classification" and (y.ndim == 2 or fractions):
        found = "fractions" if fractions else f"shape {y.shape}"
        message = f"task='classification' is for one column of labels, and y has {found}"
        raise ValueError(message)
    if task == "regression" and not numbers:
        message = f"task='regression' is for numbers, and y has dtype {y.dtype}"
        raise ValueError(message)
    labels = y.ndim == 1 and not fractions and task != "regression"
    if labels and numbers and task == "auto":
        _warn_of_many(len(np.unique(y)))
    return y, labels


def _warn_of_many(different: int) -> None:
    if different > _MANY_NUMBERS:
        message = f"y has {different} different whole numbers, which are taken for classes: say task='regression' or task='classification'"
        say(message, UserWarning)

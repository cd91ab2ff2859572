"""Decision values of classes, of any classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _ovr_decision_function


def class_values(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return the values of the second of two classes, (rows,), or those of all, (rows, classes).

    Where an estimator speaks of pairs of classes, a class has as many as it wins, as with ``decision_function_shape="ovr"``.
    """
    values = np.asarray(estimator.decision_function(X), np.float64)
    n_classes = len(estimator.classes_)
    if values.ndim == 1 or not _speaks_of_pairs(estimator):
        return values
    return np.asarray(_ovr_decision_function(values < 0, -values, n_classes))


def _speaks_of_pairs(estimator: Any) -> bool:
    """Whether values are of pairs: three classes have as many of these."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            break
    pairs = getattr(estimator, "multi_class", "ovo") == "ovo"
    return pairs and getattr(estimator, "decision_function_shape", None) == "ovo"

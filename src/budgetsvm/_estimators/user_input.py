"""From a user's data to a training problem: labels, weights, random numbers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

_LARGEST_WEIGHT = 1e100


def find_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the labels in y, or say what is wrong with them."""
    check_classification_targets(y)
    classes: NDArray[Any] = np.unique(y)
    if len(classes) == 1:
        message = f"y has only one class, {classes.tolist()[0]!r}; a classifier needs two"
        raise ValueError(message)
    return classes


def weighted_rows(
    X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, classes: NDArray[Any] | None
) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
    """Check the weights, and leave out rows of weight zero; all `classes` must remain."""
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if weights.max(initial=0.0) > _LARGEST_WEIGHT:
        message = (
            f"sample_weight has {weights.max():.3g}, too large to compute with; scale the weights"
        )
        raise ValueError(message)
    used = weights > 0
    if used.all():
        return X, y, weights
    if not used.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    X, y = X[used], y[used]
    if classes is not None and len(np.unique(y)) < len(classes):
        missing = np.setdiff1d(classes, y).tolist()
        message = (
            f"all rows of class {missing[0]!r} have weight zero; a classifier needs all its classes"
        )
        raise ValueError(message)
    return X, y, weights[used]


def generator(random_state: Any) -> np.random.Generator:
    """Turn what scikit-learn accepts as a random_state, or a Generator, into a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))

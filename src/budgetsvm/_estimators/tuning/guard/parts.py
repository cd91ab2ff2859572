"""Scores of parts of the rows held out: how sure a gain is, is told by ten of them and not by five splits, or by a single one.

A mean over the parts of a split is its score, up to a row in each. So there are enough of them for a standard error even where there was
time for one split.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from budgetsvm._problem.r_squared import shares_of_variance

_Array = NDArray[np.float64]

PARTS = 10  # that the rows of a split are cut into, and that a comparison has at least


def scores_of_parts(machine: Any, X: Any, y: Any) -> _Array:
    """Return accuracies of every tenth row, or how much of the variance of all rows there is explained on it; nan without rows."""
    y, found = np.asarray(y), machine.predict(X)
    rows = found == y if is_classifier(machine) else shares_of_variance(y, found)
    parts = [np.asarray(rows[k::PARTS], float) for k in range(PARTS)]
    return np.array([part.mean() if part.size else np.nan for part in parts])


def together(parts: _Array) -> _Array:
    """Return, of scores (..., splits, PARTS), those of as few parts as make ten of all splits, (..., all parts)."""
    *lead, n_splits, _ = parts.shape
    each = next(n for n in (1, 2, 5, PARTS) if n * n_splits >= PARTS or n == PARTS)
    grouped = parts.reshape(*lead, n_splits, PARTS // each, each)
    known = np.isfinite(grouped)
    counts = known.sum(axis=-2)
    sums = np.where(known, grouped, 0.0).sum(axis=-2)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.asarray(means.reshape(*lead, n_splits * each))

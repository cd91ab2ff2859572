"""What a search gains over the default cell on rows that had no say in it, and whether that is more than noise.

The best of many cells owes a part of its lead to luck: it was chosen by the very scores that it is praised for. So for each
split a cell is chosen by the other splits alone, and compared with the default cell on this one. The mean of
these differences says what choosing is worth. It has to exceed its standard error, that of C. Nadeau, Y. Bengio: Inference
for the Generalization Error. Machine Learning 52 (2003), which knows that the training rows of splits overlap.
docs/theory.md, *When a search is believed*, has the reasons.
"""

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]

_ALONE = 0.01  # what the score has to gain where there is one split, and so no standard error


def is_gain(cells: _Array, default: _Array, n_splits: int) -> bool:
    """Whether the best of cells, (cells, splits), is better than the default cell on the same splits, of so many that there are."""
    if len(default) == 1:
        return bool(cells.max() - default[0] > _ALONE)
    gains = chosen_by_others(cells) - default
    return bool(gains.mean() > standard_error(gains, n_splits))


def chosen_by_others(cells: _Array) -> _Array:
    """Return for every split the score there of the cell that is the best on all other splits."""
    others = cells.sum(axis=1, keepdims=True) - cells
    return np.asarray(np.take_along_axis(cells, others.argmax(axis=0)[np.newaxis], axis=0)[0])


def standard_error(differences: _Array, n_splits: int) -> float:
    """Return the standard error of a mean over splits, of a cross-validation with `n_splits` of them."""
    overlap = 1 / max(1, n_splits - 1)
    return float(differences.std(ddof=1) * np.sqrt(1 / len(differences) + overlap))

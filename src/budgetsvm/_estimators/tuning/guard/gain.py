"""What a search gains over the default cell on rows that had no say in it, and whether that is more than noise.

The best of many cells owes a part of its lead to luck: it was chosen by the very scores that it is praised for. So for each
part of the rows held out a cell is chosen by the other parts alone, and compared with the default cell on this one. The mean of
these differences says what choosing is worth. It has to exceed twice its standard error; docs/theory.md, *When a search is
believed*, has the reasons.
"""

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]

_ERRORS = 2.0  # standard errors that a gain has to exceed
_FEWEST = 2  # parts, without which there is no standard error


def is_gain(cells: _Array, default: _Array) -> bool:
    """Whether the best of cells, (cells, parts), is better than the default cell on the same parts of the rows held out."""
    if len(default) < _FEWEST:
        return False
    gains = chosen_by_others(cells) - default
    return bool(gains.mean() > _ERRORS * standard_error(gains))


def chosen_by_others(cells: _Array) -> _Array:
    """Return for every part the score there of the cell that is the best on all other parts."""
    others = cells.sum(axis=1, keepdims=True) - cells
    return np.asarray(np.take_along_axis(cells, others.argmax(axis=0)[np.newaxis], axis=0)[0])


def standard_error(differences: _Array) -> float:
    """Return the standard error of a mean over parts."""
    return float(differences.std(ddof=1) / np.sqrt(len(differences)))

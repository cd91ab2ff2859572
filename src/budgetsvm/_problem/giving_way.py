"""Which rows give way where the dual variables of one side are too large: those that lose least by it."""

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.matrices.vectors import pieces

_Vector = NDArray[np.float64]

_SAMPLE = 4096  # rows, of which is asked how many give way
# Times as much as is wanted, that rows up to a bound should have by the sample; after the last, all rows are sorted.
_AMPLE = 2.0, 32.0


def first_to_give_way(
    alpha: _Vector, slack: _Vector, side: _Vector, amount: float
) -> tuple[NDArray[np.int64], _Vector]:
    """Return the rows with α_i side_i > 0 of the least sign(α_i) slack_i, the least first, and their |α_i|.

    There are enough of them for an amount, if all have that much. That is nearly always a few of many: to sort all of them
    would take longer than anything else of a step, so a sample tells how far to look.
    """
    for bound in _bounds(alpha, slack, side, amount):
        rows, keys, sizes = _up_to(bound, alpha, slack, side)
        if float(sizes.sum()) >= amount or bound == np.inf:
            break
    order = np.argsort(keys, kind="stable")
    return rows[order], sizes[order]


def _bounds(alpha: _Vector, slack: _Vector, side: _Vector, amount: float) -> list[float]:
    step = max(1, len(alpha) // _SAMPLE)
    if step == 1:
        return [np.inf]
    _, keys, sizes = _up_to(np.inf, alpha[::step], slack[::step], side[::step])
    order = np.argsort(keys)
    sums = step * np.cumsum(sizes[order])
    places = np.searchsorted(sums, np.array(_AMPLE) * amount)
    return [*(float(keys[order[place]]) for place in places if place < len(order)), np.inf]


def _up_to(
    bound: float, alpha: _Vector, slack: _Vector, side: _Vector
) -> tuple[NDArray[np.int64], _Vector, _Vector]:
    """Return the rows of a side up to a bound, with their keys and sizes."""
    rows = []
    for piece in pieces(len(alpha)):
        own, keys = alpha[piece], np.sign(alpha[piece]) * slack[piece]
        rows.append(np.flatnonzero((own * side[piece] > 0) & (keys <= bound)) + piece.start)
    chosen = np.concatenate(rows) if rows else np.empty(0, np.int64)
    own = alpha[chosen]
    return chosen, np.sign(own) * slack[chosen], abs(own)

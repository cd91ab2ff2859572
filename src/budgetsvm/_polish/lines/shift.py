"""The constant by which all values should be larger: the best bias, where that costs nothing."""

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.lines.line import PRECISION, Line, exact_length
from budgetsvm._problem.targets import SingleTarget

_Vector = NDArray[np.float64]

_FIRST_SHIFT, _LONGER, _LONGEST_SHIFT = 0.25, 4.0, 1e6
_WINDOW = 1 / 64  # of shifts


def best_shift(targets: SingleTarget, width: float, f: _Vector) -> float:
    """Return the constant by which all values should be larger, for the least loss; it is smoothed over `width`.

    Where no constant is best, as of the logistic loss if there is one class alone, it ends somewhere.
    """
    if not len(f):  # a pair of classes of which a sample has no rows
        return 0.0
    if width == 0 and targets.loss.kinks:
        return _between_kinks(targets, f)
    pull = float(targets.alpha_of(f, width) @ targets.y)
    shift, length = 0.0, float(np.sign(pull)) * _FIRST_SHIFT
    while length and abs(shift) < _LONGEST_SHIFT:
        line = Line(targets, width, f + shift, np.broadcast_to(length, len(f)), (0.0, 0.0))
        if not line.falls_at_end():
            return shift + length * exact_length(line)
        shift, length = shift + length, _LONGER * length
    return shift


def _between_kinks(targets: SingleTarget, f: _Vector) -> float:
    """Return the best constant for a loss that is linear between its kinks: a weighted quantile of where they are.

    The slope grows by C_i at each of these places. If all of a stretch is best, as where no variable is inside its
    box, its middle, as LIBSVM has it.
    """
    y, slack = targets.y, targets.slack(f)
    places = np.concatenate([y * (slack - kink) for kink in targets.loss.kinks])
    steps = np.tile(targets.box, len(targets.loss.kinks))
    least, largest = targets.loss.slopes
    begin = float(targets.box @ np.where(y > 0, -largest, least))
    rounding = PRECISION * float(targets.box.sum())
    near, before = _around_the_best(places, steps, begin, rounding)
    places, steps = places[near], steps[near]
    order = np.argsort(places, kind="stable")
    slopes = before + np.cumsum(steps[order])
    first = int(np.searchsorted(slopes, -rounding))
    last = int(np.searchsorted(slopes, rounding, side="right"))
    if not 0 <= first < len(places):
        return float(places[order[-1]])
    return 0.5 * float(places[order[first]] + places[order[min(last, len(places) - 1)]])


def _around_the_best(
    places: _Vector, steps: _Vector, begin: float, rounding: float
) -> tuple[NDArray[np.bool_], float]:
    """Return among which places the slope changes its sign, and what it is before them.

    As a rule that is near by, and most places are not: to sort them all would take longer.
    """
    window = _WINDOW
    while window < _LONGEST_SHIFT:
        near = abs(places) <= window
        before = begin + float(steps[places < -window].sum())
        if before < -rounding and before + float(steps[near].sum()) > rounding:
            return near, before
        window *= 8
    return np.ones(len(places), bool), begin

"""The best point between two: where the derivative of P along a line changes its sign.

It is monotone along the line, and so is every α_i = C_i φ'(u_i) in it: where one is the same at both ends, it need not be
looked at in between. `exact_length` is for a point that is kept, `rough_length` for a step among many.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.matrices.vectors import pieces
from budgetsvm._polish.lines.root import find_root
from budgetsvm._problem.targets import SingleTarget

_Vector = NDArray[np.float64]

PRECISION = 1e-9  # of an exact length
_SHORTEST_STEP = 1e-12
_BISECTIONS = 5  # of a rough length


class _Ends(NamedTuple):
    """What is known of the rows at both ends of a line: Σ α_i rate_i there, and all of those whose α is not the same."""

    start: float
    end: float
    unmoved: float  #: of the rows whose α is the same, the sum
    rows: NDArray[np.int64]  #: the others
    slack: _Vector  #: of these, at the beginning
    rate: _Vector  #: by which it falls


class Line:
    """A line from a point with values f, which change by `change` along it, and its derivative.

    `quadratic` are the derivative of the quadratic part at the beginning, and its second derivative.
    """

    def __init__(
        self,
        targets: SingleTarget,
        width: float,
        f: _Vector,
        change: _Vector,
        quadratic: tuple[float, float],
    ) -> None:
        self._targets, self._width = targets, width
        self._f, self._change = f, change
        self._linear, self._square = quadratic

    @cached_property
    def _ends(self) -> _Ends:
        """Look at both ends, a piece of the rows at a time: of many rows, memory takes longer than numbers."""
        start = end = unmoved = 0.0
        rows, slacks, rates = [], [], []
        for piece in pieces(len(self._f)):
            targets = self._targets.piece(piece)
            slack, rate = targets.slack(self._f[piece]), targets.y * self._change[piece]
            first = targets.alpha(slack, self._width)
            last = targets.alpha(slack - rate, self._width)
            moved = np.flatnonzero(first != last)
            total = float(last @ rate)
            start, end = start + float(first @ rate), end + total
            slacks.append(slack[moved])
            rates.append(rate[moved])
            rows.append(moved + piece.start)
            unmoved += total - float(last[moved] @ rates[-1])
        parts = (np.concatenate(each) if each else np.empty(0) for each in (slacks, rates))
        everybody = np.concatenate(rows) if rows else np.empty(0, np.int64)
        return _Ends(start, end, unmoved, everybody, *parts)

    def falls_at_end(self) -> bool:
        """Whether the objective still falls at the end: then the whole step is best."""
        return self._linear + self._square <= self._ends.end

    def rises_at_start(self) -> bool:
        """Whether the objective rises from the beginning: then no step is best."""
        return self._linear >= self._ends.start

    def slope(self) -> Callable[[float], float]:
        """Return the derivative as a function of the length, which looks at those α alone that change."""
        ends, width, square = self._ends, self._width, self._square
        linear, some = self._linear - ends.unmoved, self._targets.some(ends.rows)

        def slope(length: float) -> float:
            alpha = some.alpha(ends.slack - length * ends.rate, width)
            return linear + length * square - float(alpha @ ends.rate)

        return slope


def exact_length(line: Line) -> float:
    """Return the best length in [0, 1]."""
    if line.falls_at_end():
        return 1.0
    if line.rises_at_start():
        return 0.0
    slope = line.slope()
    if slope(0.0) >= 0:  # but for rounding, this was said above
        return 0.0
    return find_root(slope, 0.0, 1.0, PRECISION) if slope(1.0) > 0 else 1.0


def rough_length(line: Line) -> float:
    """Return a length in [0, 1] at which the objective still falls, and that is nearly the best.

    Far from the solution the step may be too long by orders of magnitude, so halve it until the
    derivative at its end is negative; then bisect.
    """
    if line.falls_at_end():
        return 1.0
    slope, high = line.slope(), 1.0
    while slope(high / 2) > 0 and high > _SHORTEST_STEP:
        high /= 2
    low = high / 2
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) <= 0 else (low, middle)
    return low

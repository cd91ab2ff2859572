"""How far to go along a line, from w towards w + step: where the derivative of the objective changes its sign.

The objective is ½‖w‖² - <w, fixed> + Σ_i C_i φ(u_i), the loss smoothed over a width or not. Its derivative
is monotone along the line, and so is every α_i = C_i φ'(u_i) in it: where one is the same at both ends, it need
not be looked at in between. `exact_length` is for a point that is kept, `rough_length` for a step among many.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from budgetsvm._problem.targets import Targets

_Vector = NDArray[np.float64]

_PRECISION = 1e-9  # of an exact length
_SHORTEST_STEP = 1e-12
_BISECTIONS = 5  # of a rough length


class Line:
    """A line from a point with values f, which change by `change` along it, and its derivative."""

    def __init__(
        self,
        targets: Targets,
        width: float,
        f: _Vector,
        direction: tuple[_Vector, _Vector],
        gradient: _Vector,
    ) -> None:
        """Take the direction as (step, change of f), and the gradient of the quadratic part, w - fixed."""
        step, change = direction
        self._targets, self._width = targets, width
        self._slack, self._rate = targets.slack(f), targets.y * change
        self._linear, self._square = float(gradient @ step), float(step @ step)

    @cached_property
    def _start(self) -> _Vector:
        """The α at the beginning."""
        return self._targets.alpha(self._slack, self._width)

    @cached_property
    def _end(self) -> _Vector:
        """The α at the end."""
        return self._targets.alpha(self._slack - self._rate, self._width)

    def falls_at_end(self) -> bool:
        """Whether the objective still falls at the end: then the whole step is best."""
        return self._linear + self._square <= float(self._end @ self._rate)

    def rises_at_start(self) -> bool:
        """Whether the objective rises from the beginning: then no step is best."""
        return self._linear >= float(self._start @ self._rate)

    def slope(self) -> Callable[[float], float]:
        """Return the derivative as a function of the length, which looks at those α alone that change."""
        rate, end, width, square = self._rate, self._end, self._width, self._square
        rows = np.flatnonzero(self._start != end)
        linear = self._linear - (float(end @ rate) - float(end[rows] @ rate[rows]))
        slack, rate, some = self._slack[rows], rate[rows], self._targets.some(rows)

        def slope(length: float) -> float:
            return linear + length * square - float(some.alpha(slack - length * rate, width) @ rate)

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
    return float(brentq(slope, 0.0, 1.0, xtol=_PRECISION)) if slope(1.0) > 0 else 1.0


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

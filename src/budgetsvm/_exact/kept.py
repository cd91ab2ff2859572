"""What the full problem keeps from one C to the next: kernel values, and where each output has got to.

The rows of the problem stay the same, and the weights of all of them change by one factor. So do β and f = Kβ, where
the next solution starts, as far as D grows: then all that is at its bound stays there, and no product with the kernel
matrix is needed. Where little is at a bound, the whole factor would lead far away from any solution.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from budgetsvm._exact.dual import best_multiple
from budgetsvm._problem.targets import SingleTarget

_Vector = NDArray[np.float64]
_Values = TypeVar("_Values")
_Solved = TypeVar("_Solved", bound=Any)


class _Point(NamedTuple):
    weight: float  #: of all rows together
    beta: _Vector
    f: _Vector


class Kept:
    """Kernel values, and the points reached last; nothing unless it is to be `lasting`."""

    def __init__(self, *, lasting: bool = True) -> None:
        self.lasting = lasting
        self._values: Any = None
        self._points: dict[int, _Point] = {}

    def values(self, make: Callable[[], _Values]) -> _Values:
        """Return the kernel values of the problem before, or make them."""
        if not self.lasting:
            return make()
        if self._values is None:
            self._values = make()
        return cast("_Values", self._values)

    def point(self, c: int, targets: SingleTarget) -> tuple[_Vector, _Vector] | None:
        """Return β and f to start an output from, if there are any."""
        before = self._points.get(c)
        if before is None:
            return None
        ratio = float(targets.box.sum()) / before.weight
        factor = best_multiple(targets, before.beta, before.f, ratio)
        share = np.clip(factor * before.beta / targets.box, -1.0, 1.0)  # up to rounding, it is one
        return share * targets.box, factor * before.f

    def reached(self, c: int, solved: _Solved) -> _Solved:
        """Take down where an output has got to, if anywhere, and return it."""
        if self.lasting and solved is not None:
            weight = float(solved.targets.box.sum())
            self._points[c] = _Point(weight, solved.beta, solved.f)
        return solved

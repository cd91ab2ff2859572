"""What a loss is: all that solvers need to know of one."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.public import public_in

_Vector = NDArray[np.float64]


@public_in("budgetsvm.losses")
@dataclass(frozen=True)
class Loss(ABC):
    """A convex function φ of the slack. Use a subclass.

    A loss with kinks is smoothed for Newton's method: within `width` of a kink its slope rises linearly
    instead of jumping. A loss that is smooth by itself ignores the width.
    """

    name: ClassVar[str]
    target: ClassVar[float] = 1.0  #: of all rows, in classification
    of_regression: ClassVar[bool] = False  #: and not of classification
    has_kinks: ClassVar[bool] = True
    conjugate_is_zero: ClassVar[bool] = False  #: for all slopes of φ: it need not be added up
    slopes: ClassVar[tuple[float, float]] = (0.0, 1.0)  #: the least and the largest φ'

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the slope jumps by 1, for a loss that is linear in between; of others, empty."""
        return ()

    def check(self) -> None:  # noqa: B027 - most have nothing to check
        """Raise a ValueError if a parameter makes no sense."""

    @abstractmethod
    def value(self, u: _Vector) -> _Vector:
        """Return φ(u)."""

    @abstractmethod
    def slope(self, u: _Vector, width: float) -> _Vector:
        """Return φ'(u), smoothed; a subgradient if the width is 0."""

    @abstractmethod
    def smoothed(self, u: _Vector, width: float) -> _Vector:
        """Return the smoothed φ, whose derivative is `slope`."""

    @abstractmethod
    def curvature(self, u: _Vector, width: float) -> _Vector:
        """Return φ''(u), smoothed."""

    @abstractmethod
    def conjugate(self, share: _Vector) -> _Vector:
        """Return φ*(share) for shares α/C that are slopes of φ."""

    @abstractmethod
    def distance(self, u: _Vector) -> _Vector:
        """Return how far u is from where the slope is not constant."""

    def feasible(self, share: _Vector) -> _Vector:
        """Return the nearest shares α/C that are slopes of φ; what is not a number becomes 0."""
        return np.clip(np.nan_to_num(share, nan=0.0), *self.slopes)

    def offsets(self, share: _Vector, u: _Vector) -> _Vector:  # noqa: ARG002 - some have two kinks
        """Return how far u is to be moved, in units of two widths, for the smoothed slope at the kink to be `share`.

        Asked of losses with kinks alone.
        """
        return share - 0.5

    def unsettled(self, alpha: _Vector, u: _Vector, box: _Vector) -> NDArray[np.bool_]:
        """Return which α are inside the box [0, C], or should leave the bound that they are at."""
        below, above = alpha < box, alpha > 0
        return (below & above) | (below & (u > 0)) | (above & (u < 0))

    def core(self) -> tuple[str, float]:
        """Return what the core calls a *loss*: its name and ε."""
        return self.name, 0.0

"""Losses: what a training row costs.

Every loss is a convex function φ of the row's *slack* u = target - sign · f(x). For classification the
sign is the label ±1, for regression it is 1 and the target is what is to be predicted. A kernel machine
minimises ½‖w‖² + Σ_i C_i φ(u_i); its dual is

    max over α of  Σ_i target_i α_i - C_i φ*(α_i / C_i) - ½‖w‖²,   w = Σ_i α_i sign_i φ(x_i),

φ* being the conjugate of φ. A solver needs to know of a loss no more than its class here says, and
``src/core/model/losses.hpp``, which has the step of coordinate ascent. docs/losses.md shows how to add one.

>>> from budgetsvm import BudgetSVC, losses
>>> BudgetSVC(loss=losses.SquaredHinge())
BudgetSVC(loss=SquaredHinge())
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy  # whose parts are imported when they are used
from numpy.typing import NDArray

from budgetsvm._common.checks import check_choice, check_number
from budgetsvm.losses._interface import Loss

__all__ = ["EpsilonInsensitive", "Hinge", "Logistic", "Loss", "SquaredHinge"]

_Vector = NDArray[np.float64]

_SETTLED = 1e-4  # of a share α/C, with the logistic loss


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, u): the loss of the support vector classifier."""

    name = "hinge"
    conjugate_is_zero = True

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the slope jumps by 1."""
        return (0.0,)

    def value(self, u: _Vector) -> _Vector:
        """Return φ(u)."""
        return np.maximum(0.0, u)

    def slope(self, u: _Vector, width: float) -> _Vector:
        """Return φ'(u), smoothed; a subgradient if the width is 0."""
        if width == 0:
            return (u > 0).astype(np.float64)
        share = u * (0.5 / width)
        share += 0.5
        return np.clip(share, 0.0, 1.0, out=share)

    def smoothed(self, u: _Vector, width: float) -> _Vector:
        """Return the smoothed φ, whose derivative is `slope`."""
        inside = np.clip(u + width, 0.0, 2 * width)
        return np.asarray(inside * inside / (4 * width) + np.maximum(0.0, u - width))

    def curvature(self, u: _Vector, width: float) -> _Vector:
        """Return φ''(u), smoothed."""
        return np.where(abs(u) < width, 0.5 / width, 0.0)

    def conjugate(self, share: _Vector) -> _Vector:
        """Return φ*(share) for shares α/C that are slopes of φ."""
        return np.zeros_like(share)

    def distance(self, u: _Vector) -> _Vector:
        """Return how far u is from where the slope is not constant."""
        return abs(u)


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, u)²: smooth, with dual variables that have no upper bound."""

    name = "squared_hinge"
    has_kinks = False
    slopes = (0.0, np.finfo(np.float64).max)

    def value(self, u: _Vector) -> _Vector:
        """Return φ(u)."""
        return np.maximum(0.0, u) ** 2

    def slope(self, u: _Vector, width: float) -> _Vector:  # noqa: ARG002 - it is smooth
        """Return φ'(u)."""
        return 2 * np.maximum(0.0, u)

    def smoothed(self, u: _Vector, width: float) -> _Vector:  # noqa: ARG002
        """Return φ(u)."""
        return self.value(u)

    def curvature(self, u: _Vector, width: float) -> _Vector:  # noqa: ARG002
        """Return φ''(u)."""
        return np.where(u > 0, 2.0, 0.0)

    def conjugate(self, share: _Vector) -> _Vector:
        """Return φ*(share) for shares α/C that are slopes of φ."""
        return share**2 / 4

    def unsettled(self, alpha: _Vector, u: _Vector, box: _Vector) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return which α are positive, or should be."""
        return (alpha > 0) | (u > 0)

    def distance(self, u: _Vector) -> _Vector:
        """Return how far u is from where the slope is not constant."""
        return np.maximum(0.0, -u)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(u)), u = -y f(x): the loss of logistic regression, which gives probabilities."""

    name = "logistic"
    target = 0.0
    has_kinks = False

    def value(self, u: _Vector) -> _Vector:
        """Return φ(u)."""
        return np.logaddexp(0.0, u)

    def slope(self, u: _Vector, width: float) -> _Vector:  # noqa: ARG002 - it is smooth
        """Return φ'(u)."""
        return np.asarray(scipy.special.expit(u))

    def smoothed(self, u: _Vector, width: float) -> _Vector:  # noqa: ARG002
        """Return φ(u)."""
        return self.value(u)

    def curvature(self, u: _Vector, width: float) -> _Vector:  # noqa: ARG002
        """Return φ''(u)."""
        return np.asarray(scipy.special.expit(u) * scipy.special.expit(-u))

    def conjugate(self, share: _Vector) -> _Vector:
        """Return φ*(share) for shares α/C that are slopes of φ."""
        return np.asarray(
            scipy.special.xlogy(share, share) + scipy.special.xlog1py(1 - share, -share)
        )

    def unsettled(self, alpha: _Vector, u: _Vector, box: _Vector) -> NDArray[np.bool_]:
        """Return which α are not as they should be for this slack."""
        return np.asarray(abs(scipy.special.expit(u) - alpha / box) > _SETTLED)

    def distance(self, u: _Vector) -> _Vector:
        """Return how far u is from where the slope is not constant."""
        return np.zeros_like(u)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """``max(0, |u| - ε)``: the loss of support vector regression.

    Parameters
    ----------
    epsilon : float, default=0.1
        Errors up to this size cost nothing.
    """

    epsilon: float = 0.1
    name = "epsilon_insensitive"
    of_regression = True
    slopes = (-1.0, 1.0)

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the slope jumps by 1."""
        return -self.epsilon, self.epsilon

    def check(self) -> None:
        """Raise a ValueError if ε makes no sense."""
        check_number("epsilon", self.epsilon, at_least=0)

    def value(self, u: _Vector) -> _Vector:
        """Return φ(u)."""
        return np.maximum(0.0, abs(u) - self.epsilon)

    def slope(self, u: _Vector, width: float) -> _Vector:
        """Return φ'(u), smoothed; a subgradient if the width is 0."""
        above, below = self._sides(u)
        return _HINGE.slope(above, width) - _HINGE.slope(below, width)

    def smoothed(self, u: _Vector, width: float) -> _Vector:
        """Return the smoothed φ, whose derivative is `slope`."""
        above, below = self._sides(u)
        return _HINGE.smoothed(above, width) + _HINGE.smoothed(below, width)

    def curvature(self, u: _Vector, width: float) -> _Vector:
        """Return φ''(u), smoothed."""
        above, below = self._sides(u)
        return _HINGE.curvature(above, width) + _HINGE.curvature(below, width)

    def conjugate(self, share: _Vector) -> _Vector:
        """Return φ*(share) for shares α/C that are slopes of φ."""
        return self.epsilon * abs(share)

    def distance(self, u: _Vector) -> _Vector:
        """Return how far u is from where the slope is not constant."""
        return abs(abs(u) - self.epsilon)

    def offsets(self, share: _Vector, u: _Vector) -> _Vector:
        """Return how far u is to be moved: at the kink that is nearer, where a share is zero."""
        side = np.where(share == 0, np.sign(u), np.sign(share))
        return np.asarray(side * (abs(share) - 0.5))

    def unsettled(self, alpha: _Vector, u: _Vector, box: _Vector) -> NDArray[np.bool_]:
        """Return which α are inside [-C, 0] or [0, C], or should leave the bound that they are at."""
        side = np.where((alpha < 0) | ((alpha == 0) & (u < 0)), -1.0, 1.0)
        return super().unsettled(side * alpha, side * u - self.epsilon, box)

    def core(self) -> tuple[str, float]:
        """Return what the core calls a *loss*: its name and ε."""
        return self.name, float(self.epsilon)

    def _sides(self, u: _Vector) -> tuple[_Vector, _Vector]:
        """φ is the sum of two hinges."""
        return u - self.epsilon, -u - self.epsilon


_HINGE = Hinge()
#: Names that classifiers take.
BY_NAME = {
    "hinge": _HINGE,
    "squared_hinge": SquaredHinge(),
    "log_loss": Logistic(),  # as scikit-learn calls it
    "logistic": Logistic(),
}


def make_loss(loss: object) -> Loss:
    """Turn a classifier's parameter into a Loss."""
    if isinstance(loss, str):
        check_choice("loss", loss, tuple(BY_NAME))
        return BY_NAME[loss]
    if not isinstance(loss, Loss) or loss.of_regression:
        names = ", ".join(map(repr, BY_NAME))
        message = f"loss must be {names} or such an object of budgetsvm.losses, not {loss!r}"
        raise TypeError(message)
    loss.check()
    return loss


def make_insensitive(epsilon: float) -> EpsilonInsensitive:
    """Return the loss of regression, for a checked ε."""
    loss = EpsilonInsensitive(epsilon)
    loss.check()
    return replace(loss, epsilon=float(epsilon))

"""The scale of the targets of regression: what a few outliers do to them must not matter.

Mean and standard deviation are those of the targets clipped to median ± 10 s, where s is a robust standard
deviation: a range between quantiles, divided by what that range is for the normal distribution. For ordinary
targets nothing is clipped. Deciles are looked at beside quartiles, so that what a tenth of the rows say on one
side is not an outlier, but what there is to learn (think of rare events, and small noise between them).
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.records import Fields, Record

_Vector = NDArray[np.float64]

_CLIP = 10.0
# A share, and the distance of this quantile from the median of the standard normal distribution.
_QUARTILE, _DECILE = (0.25, 0.6744897501960817), (0.1, 1.2815515655446004)
_OUTERMOST = (0.005, 2.5758293035489004)
_CONSTANT = 1e-12  # relative: what rounding leaves of a constant target is not worth learning


@dataclass(frozen=True, eq=False)
class TargetScale:
    """Mean and scale of every target. The scale is 1 until it is `known`: until targets differ.

    As long as they do not, there is nothing to learn but the mean: no term depends on the scale, and a later
    block of a stream may settle it.
    """

    mean: _Vector
    scale: _Vector
    known: NDArray[np.bool_]
    weight: float  #: of all rows that were looked at

    def record(self) -> Record:
        """Return what it is made of."""
        return {
            "mean": self.mean,
            "scale": self.scale,
            "known": self.known,
            "weight": self.weight,
        }

    @classmethod
    def of_record(cls, fields: Fields) -> Self:
        """Make a scale from its record."""
        mean = fields.array("mean", (np.float64,), (None,), finite=True)
        scale = fields.array("scale", (np.float64,), mean.shape, finite=True)
        known = fields.array("known", (np.bool_,), mean.shape, finite=False)
        weight = fields.number("weight", at_least=0)
        fields.end()
        if not (scale > 0).all():
            fields.fail("scale", "must be positive")
        return cls(mean, scale, known, weight)

    @classmethod
    def of(cls, targets: _Vector, weights: _Vector) -> Self:
        """Return the scale of a first block of rows, (rows, targets)."""
        count = targets.shape[1]
        return cls(targets[0], np.ones(count), np.zeros(count, bool), 0.0).after(targets, weights)

    def after(self, targets: _Vector, weights: _Vector) -> Self:
        """Return the scale after another block, which matters where no earlier one told it."""
        if self.known.all():
            return self
        mean, scale, known = self.mean.copy(), self.scale.copy(), self.known.copy()
        # The earlier rows all had the same target.
        together = np.append(weights, self.weight)
        for c in np.flatnonzero(~known):
            column = np.append(targets[:, c], self.mean[c])
            mean[c], spread = robust_moments(column[together > 0], together[together > 0])
            known[c] = spread > 0
            scale[c] = spread if known[c] else 1.0
        weight = self.weight + float(weights.sum())
        return replace(self, mean=mean, scale=scale, known=known, weight=weight)


def robust_moments(values: _Vector, weights: _Vector) -> tuple[float, float]:
    """Return mean and standard deviation of the bulk of the values; the latter is zero for a constant."""
    # Powers of two change no digit, and keep squares and sums from overflow and underflow.
    exponent = int(np.frexp(abs(values).max())[1])
    order = np.argsort(values, kind="stable")
    values = np.ldexp(values[order], -exponent)
    weights = np.ldexp(weights[order], -int(np.frexp(weights.max())[1]))
    middle, spread = _median_and_spread(values, weights)
    if spread > 0:
        values = np.clip(values, middle - _CLIP * spread, middle + _CLIP * spread)
    else:  # nearly all values are the same
        spread = float(values[-1] - values[0])
    if spread <= 0:
        return float(np.ldexp(middle, exponent)), 0.0
    offsets = (values - middle) / spread
    offset = np.average(offsets, weights=weights)
    deviation = spread * np.sqrt(np.average((offsets - offset) ** 2, weights=weights))
    mean = middle + spread * offset
    if deviation <= _CONSTANT * abs(mean):
        return float(np.ldexp(mean, exponent)), 0.0
    least = np.finfo(float).smallest_subnormal
    return float(np.ldexp(mean, exponent)), float(max(np.ldexp(deviation, exponent), least))


def _median_and_spread(values: _Vector, weights: _Vector) -> tuple[float, float]:
    """Return the median of sorted values and a robust standard deviation, or zero for the latter."""
    middle = 0.5 * sum(_quantiles(values, weights, 0.5))
    spread = max(_spread(values, weights, *level) for level in (_QUARTILE, _DECILE))
    if spread <= _CONSTANT * abs(middle):
        spread = _spread(values, weights, *_OUTERMOST)
    return middle, spread if spread > _CONSTANT * abs(middle) else 0.0


def _spread(values: _Vector, weights: _Vector, share: float, normal: float) -> float:
    low, high = _quantiles(values, weights, share)
    return (high - low) / (2 * normal)


def _quantiles(values: _Vector, weights: _Vector, share: float) -> tuple[float, float]:
    """Return the values that this share of the weight is below, and above; weight 2 is a row twice."""
    low = _quantile(values, weights, share)
    return low, -_quantile(-values[::-1], weights[::-1], share)


def _quantile(values: _Vector, weights: _Vector, share: float) -> float:
    """Return a quantile of sorted values; the middle of two of them, where each of them is one."""
    up_to = np.cumsum(weights)
    wanted = share * up_to[-1]
    between = np.searchsorted(up_to, wanted, "left"), np.searchsorted(up_to, wanted, "right")
    return float(0.5 * values[np.minimum(between, len(values) - 1)].sum())

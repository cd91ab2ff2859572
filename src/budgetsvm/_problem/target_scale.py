"""The scale of the targets of regression: what a few outliers do to them must not matter.

Mean and standard deviation, but for a few targets far from all others. Far is more than 10 s from the median, where s
is a robust standard deviation: a range between quantiles, divided by what that range is for the normal distribution.
Deciles are looked at beside quartiles, so that what a tenth of the rows say on one side does not look far (think of
rare events, and small noise between them).

Far targets alone are no outliers: a group of rows, or the tail of a skewed distribution, is what there is to learn.
Outliers are among the farthest half percent of the rows, and only if they are far. They count as if they were nearer:

- Where there is a gap, those beyond it are more than ten times as far away as all others. They count as 10 s, or as
  the farthest one of the others if that is more. In small data half a percent is less than a row; there it may be one
  value, which has not more weight than values have on average.
- Without a gap the half percent may be a tail, and nearly always remains as it is: the bound is that it brings 3 s² into
  the variance, or ten mean squares of the others where more than half a percent of the rows are far.

All this depends on the distribution alone: a weight of two is a row twice.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.records import Fields, Record

_Vector = NDArray[np.float64]

_FAR = 10.0  # robust standard deviations
_FEW = 0.005  # of the rows, by weight
_ONE_VALUE = 0.05  # what a single value may have of the rows, to be an outlier all the same
_GAP = 10.0  # times as far away as all others
# What the farthest few bring into the variance, at most: in robust variances; or, where more rows than these are far,
# in mean squares of the others.
_ROOM, _MORE_ROOM = 3.0, 10.0
_FARTHEST = (
    1e6  # times as far as the others: the room is used up anyway, and squares do not overflow
)
_ROUNDING = 1 + 1e-9  # of sums of shares
# A share, and the distance of this quantile from the median of the standard normal distribution.
_QUARTILE, _DECILE = (0.25, 0.6744897501960817), (0.1, 1.2815515655446004)
_OUTERMOST = (0.005, 2.5758293035489004)
_SQUARABLE = 1e-150  # of the largest number in a sum of squares, as its unit
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
    """Return mean and standard deviation, but for a few outliers; the latter is zero for a constant."""
    # Powers of two change no digit, and keep squares and sums from overflow and underflow.
    exponent = int(np.frexp(abs(values).max())[1])
    order = np.argsort(values, kind="stable")
    values = np.ldexp(values[order], -exponent)
    weights = np.ldexp(weights[order], -int(np.frexp(weights.max())[1]))
    middle, spread = _median_and_spread(values, weights)
    if spread > 0:
        edge = _edge(values, weights, middle, spread)
        values = np.clip(values, middle - edge, middle + edge)
        spread = max(spread, _SQUARABLE * float(abs(values - middle).max()))
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


def _edge(values: _Vector, weights: _Vector, middle: float, spread: float) -> float:
    """Return the distance from the median at which sorted values count that are farther away."""
    distances = abs(values - middle)
    order = np.argsort(distances, kind="stable")
    distances, shares = distances[order], weights[order] / weights.sum()
    outside = np.cumsum(shares[::-1])[::-1]
    few = outside <= _FEW * _ROUNDING
    n_values = 1 + np.count_nonzero(np.diff(values))
    last = (distances == distances[-1]) & (outside <= min(_ONE_VALUE, _ROUNDING / n_values))
    inner = np.maximum(np.append(0.0, distances[:-1]), spread)
    gaps = np.flatnonzero((few | last) & (distances > _GAP * inner))
    edge = float(inner[gaps[0]] if len(gaps) else distances[-1])
    others = max(_FAR * spread, float(distances[~few][-1]))
    far = distances > others
    if not far.any() or edge <= others:
        return max(edge, _FAR * spread)
    units = np.minimum(distances, min(edge, _FARTHEST * others)) / others
    room = _ROOM / _FAR**2  # in these units, if no others are far
    if others > _FAR * spread:
        room = _MORE_ROOM * float(np.minimum(units, 1.0) ** 2 @ shares)
    return others * _farthest_with_room(units[far], shares[far], room)


def _farthest_with_room(distances: _Vector, shares: _Vector, room: float) -> float:
    """Return the largest c with Σ share min(distance, c)² <= room, from 1 to the last of the distances, which grow."""
    squares = shares * distances**2
    nearer = np.cumsum(squares) - squares
    outside = np.cumsum(shares[::-1])[::-1]
    too_far = np.flatnonzero(nearer + outside * distances**2 > room)
    if not len(too_far):
        return float(distances[-1])
    first = too_far[0]
    return max(1.0, float(np.sqrt(max(room - nearer[first], 0.0) / outside[first])))


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

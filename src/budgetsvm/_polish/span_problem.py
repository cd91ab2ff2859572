"""The SVM restricted to the span of a basis: a convex problem in w, with a certificate.

    P(w) = ½‖w‖² + Σ_i C_i φ(u_i),   u_i = target_i - y_i f_i,   f_i = <w, g_i>
    D(α) = Σ_i target_i α_i - C_i φ*(α_i / C_i) - ½‖w(α)‖²,   w(α) = Σ_i α_i y_i g_i

(losses.py). For the hinge loss D is Σ_i α_i - ½‖w(α)‖² where 0 ≤ α_i ≤ C_i. For every w and every such α,
D(α) ≤ min P ≤ P(w): the best of both seen so far are kept, and their distance bounds how far the best w is
from the optimum. With a bias that costs nothing (`basis.py`), ‖w‖² is without its coordinate, and D holds where
Σ_i α_i y_i = 0: whoever offers a dual point sees to that (`SingleTarget.balanced`).

Between two points the best one is found where the derivative of P changes its sign. It is monotone along the
line, and so is every α_i = C_i φ'(u_i) in it: where one is the same at both ends, it need not be looked at in
between. `exact_length` is for a point that is kept, `rough_length` for a step among many.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.newton.root import find_root
from budgetsvm._problem.targets import SingleTarget

_ROUNDING = 1e-7  # of P, that D may exceed it by


def relative_gap(primal: float, dual: float, scale: float | None = None) -> float:
    """Return (P - D) / scale, by default P; infinity where the two certify nothing.

    Rounding may leave a little less than nothing of it. A D that exceeds P by more than that, or what
    is not finite, is the result of an error.
    """
    if not (np.isfinite(primal) and np.isfinite(dual)):
        return np.inf
    if dual - primal > _ROUNDING * max(abs(primal), abs(dual)):
        return np.inf
    scale = primal if scale is None else scale
    return max(0.0, (primal - dual) / scale) if scale > 0 else 0.0


@dataclass
class SpanProblem:
    """The problem, and the best primal and dual points so far."""

    matrix: Matrix
    targets: SingleTarget
    primal: float = field(init=False)
    dual: float = 0.0  #: D(0)
    w: NDArray[np.float64] = field(init=False)  #: the best primal point ...
    f: NDArray[np.float64] = field(init=False)  #: ... and its values
    alpha: NDArray[np.float64] = field(init=False)  #: the best dual point ...
    point_of_alpha: NDArray[np.float64] = field(init=False)  #: ... and its w(α)
    passes: int = 0  #: times that all rows were gone through
    _gain_of_alpha: float = 0.0

    def __post_init__(self) -> None:
        self.w = np.zeros(self.matrix.basis.dimension)
        self.f = np.zeros(len(self.targets))
        self.alpha = np.zeros(len(self.targets))
        self.point_of_alpha = np.zeros(self.matrix.basis.dimension)
        self.primal = self.objective(self.w, self.f)

    @property
    def scale(self) -> float:
        """What the gap is measured by; nearly always P."""
        return self.targets.scale(self.primal, self.dual)

    @property
    def gap(self) -> float:
        """The relative duality gap (P - D) / scale."""
        return relative_gap(self.primal, self.dual, self.scale)

    def values(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f_i for all rows."""
        self.passes += 1
        return self.matrix.times(w)

    def point(self, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w(α)."""
        self.passes += 1
        return self.matrix.transposed_times(alpha * self.targets.y)

    def objective(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> float:
        """Return P(w), given the values of w."""
        w = self.matrix.basis.costly(w)
        return float(0.5 * w @ w + self.targets.cost(self.targets.slack(f)))

    def feasible(self, alpha: NDArray[np.float64], f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the dual point near α that a bias which costs nothing allows for; f are its values."""
        if not self.matrix.basis.free:
            return alpha
        return self.targets.balanced(alpha, self.targets.slack(f))

    def centred(
        self,
        w: NDArray[np.float64],
        f: NDArray[np.float64],
        width: float = 0.0,
        targets: SingleTarget | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return w and its values with the best bias, if that costs nothing.

        The loss is smoothed over `width`, around the dual point of other `targets` if they are given.
        """
        basis = self.matrix.basis
        if not basis.free:
            return w, f
        shift = best_shift(targets or self.targets, width, f)
        return basis.raised(w, shift), f + shift

    def settle_bias(self) -> None:
        """Give the best point its best bias, and not the one that the smoothed loss has there."""
        w, f = self.centred(self.w, self.f)
        primal = self.objective(w, f)
        if primal <= (1 + _EQUAL) * self.primal:  # of a stretch of equal ones, the middle
            self.primal, self.w, self.f = primal, w, f

    def offer_primal(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> None:
        """Keep the best point between the best so far and w, whose values are f."""
        step, change = w - self.w, f - self.f
        costly = self.matrix.basis.costly(step)
        quadratic = float(self.w @ costly), float(costly @ costly)
        share = exact_length(Line(self.targets, 0.0, self.f, change, quadratic))
        better, values = self.w + share * step, self.f + share * change
        primal = self.objective(better, values)
        if primal < self.primal:
            self.primal, self.w, self.f = primal, better, values

    def offer_dual(self, alpha: NDArray[np.float64], point: NDArray[np.float64]) -> None:
        """Keep the best point between the best so far and α, whose w(α) is `point`.

        The gain is concave, and linear for the hinge loss: there is no better point then.
        """
        point = self.matrix.basis.costly(point)  # of a free constant, what rounding left of zero
        step, gain = point - self.point_of_alpha, self.targets.gain(alpha)
        slope = gain - self._gain_of_alpha - float(self.point_of_alpha @ step)
        curvature = float(step @ step)
        if slope <= 0:
            return
        share = min(1.0, slope / curvature) if curvature > 0 else 1.0
        # A copy: the solver that offers it will go on with its own.
        alpha = alpha.copy() if share == 1 else self.alpha + share * (alpha - self.alpha)
        best = self.point_of_alpha + share * step
        gain = self.targets.gain(alpha)
        dual = gain - 0.5 * float(best @ best)
        if dual > self.dual:
            self.dual, self.alpha, self.point_of_alpha = dual, alpha, best
            self._gain_of_alpha = gain


_Vector = NDArray[np.float64]

_PRECISION = 1e-9  # of an exact length
_SHORTEST_STEP = 1e-12
_EQUAL = 1e-12  # by rounding, of objectives
_BISECTIONS = 5  # of a rough length


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
        self._slack, self._rate = targets.slack(f), targets.y * change
        self._linear, self._square = quadratic

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
        """Return the derivative as a function of the length, which looks at those α alone that change.

        The line itself is of no use any more: what it has of all rows is let go.
        """
        rate, end, width, square = self._rate, self._end, self._width, self._square
        rows = np.flatnonzero(self._start != end)
        linear = self._linear - (float(end @ rate) - float(end[rows] @ rate[rows]))
        del end, self._start, self._end
        slack, rate, some = self._slack[rows], rate[rows], self._targets.some(rows)
        del self._slack, self._rate

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
    return find_root(slope, 0.0, 1.0, _PRECISION) if slope(1.0) > 0 else 1.0


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
    pull = float(targets.alpha(targets.slack(f), width) @ targets.y)
    shift, length = 0.0, float(np.sign(pull)) * _FIRST_SHIFT
    while length and abs(shift) < _LONGEST_SHIFT:
        line = Line(targets, width, f + shift, np.full(len(f), length), (0.0, 0.0))
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
    rounding = _PRECISION * float(targets.box.sum())
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

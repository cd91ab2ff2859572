"""The SVM restricted to the span of a basis: a convex problem in w, with a certificate.

    P(w) = ½‖w‖² + Σ_i C_i φ(u_i),   u_i = target_i - y_i f_i,   f_i = <w, g_i>
    D(α) = Σ_i target_i α_i - C_i φ*(α_i / C_i) - ½‖w(α)‖²,   w(α) = Σ_i α_i y_i g_i

(losses.py). For the hinge loss D is Σ_i α_i - ½‖w(α)‖² where 0 ≤ α_i ≤ C_i. For every w and every such α,
D(α) ≤ min P ≤ P(w): the best of both seen so far are kept, and their distance bounds how far the best w is
from the optimum. With a bias that costs nothing (`basis.py`), ‖w‖² is without its coordinate, and D holds where
Σ_i α_i y_i = 0: whoever offers a dual point sees to that (`SingleTarget.balanced`).

Between two points the best one is taken (`lines/line.py`).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.lines.line import Line, exact_length
from budgetsvm._polish.lines.shift import best_shift
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._problem.targets import SingleTarget

_ROUNDING = 1e-7  # of P, that D may exceed it by
_EQUAL = 1e-12  # by rounding, of objectives


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
        return float(0.5 * w @ w) + self.targets.cost_of(f)

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

"""The SVM restricted to the span of a basis: a convex problem in w, with a certificate.

    P(w) = ½‖w‖² + Σ_i C_i max(0, 1 - y_i f_i),   f_i = <w, g_i>
    D(α) = Σ_i α_i - ½‖w(α)‖²,   w(α) = Σ_i α_i y_i g_i,   0 ≤ α_i ≤ C_i

For every w and every such α, D(α) ≤ min P ≤ P(w): the best of both seen so far are kept, and their
distance bounds how far the best w is from the optimum.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from budgetsvm._features import KernelMatrix


@dataclass
class SpanProblem:
    """The problem, and the best primal and dual points so far."""

    matrix: KernelMatrix
    y: NDArray[np.float64]
    box: NDArray[np.float64]
    primal: float = field(init=False)
    dual: float = 0.0  #: D(0)
    w: NDArray[np.float64] = field(init=False)  #: the best primal point ...
    f: NDArray[np.float64] = field(init=False)  #: ... and its values
    alpha: NDArray[np.float64] = field(init=False)  #: the best dual point ...
    point_of_alpha: NDArray[np.float64] = field(init=False)  #: ... and its w(α)
    passes: int = 0  #: times that all rows were gone through

    def __post_init__(self) -> None:
        self.w = np.zeros(self.matrix.width)
        self.f = np.zeros(len(self.y))
        self.alpha = np.zeros(len(self.y))
        self.point_of_alpha = np.zeros(self.matrix.width)
        self.primal = float(self.box.sum())

    @property
    def gap(self) -> float:
        """The relative duality gap (P - D) / P."""
        return max(0.0, (self.primal - self.dual) / self.primal) if self.primal > 0 else 0.0

    def values(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f_i for all rows."""
        self.passes += 1
        return self.matrix.times(w)

    def point(self, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w(α)."""
        self.passes += 1
        return self.matrix.transposed_times(alpha * self.y)

    def objective(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> float:
        """Return P(w), given the values of w."""
        return float(0.5 * w @ w + self.box @ np.maximum(0.0, 1 - self.y * f))

    def offer_primal(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> None:
        """Keep the best point between the best so far and w, whose values are f."""
        share = self._line_search(w - self.w, f - self.f)
        better, values = self.w + share * (w - self.w), self.f + share * (f - self.f)
        primal = self.objective(better, values)
        if primal < self.primal:
            self.primal, self.w, self.f = primal, better, values

    def offer_dual(self, alpha: NDArray[np.float64], point: NDArray[np.float64]) -> None:
        """Keep the best point between the best so far and α, whose w(α) is `point`."""
        step, change = point - self.point_of_alpha, alpha - self.alpha
        slope = float(change.sum() - self.point_of_alpha @ step)
        curvature = float(step @ step)
        if slope <= 0:
            return
        share = min(1.0, slope / curvature) if curvature > 0 else 1.0
        change *= share
        change += self.alpha
        best = self.point_of_alpha + share * step
        dual = float(change.sum() - 0.5 * best @ best)
        if dual > self.dual:
            self.dual, self.alpha, self.point_of_alpha = dual, change, best

    def _line_search(self, step: NDArray[np.float64], change: NDArray[np.float64]) -> float:
        """Minimise P along a direction, over [0, 1].

        The derivative is piecewise linear and jumps where a row's hinge sets in or ends; among those
        places, in their order, is the minimum, or before one of them.
        """
        slack, rate = 1 - self.y * self.f, self.y * change
        linear, square = float(self.w @ step), float(step @ step)
        start, end = slack > 0, slack > rate
        pull = self.box * rate
        if linear + square <= float(pull @ end):
            return 1.0
        slope = linear - float(pull @ start)
        if slope >= 0:
            return 0.0
        rows = np.flatnonzero(start != end)
        kinks = slack[rows] / rate[rows]
        order = np.argsort(kinks)
        kinks, jumps = kinks[order], abs(pull[rows[order]])
        after = slope + np.cumsum(jumps) + square * kinks  # the derivative after every kink
        first = int(np.searchsorted(after >= 0, True))
        if first == len(kinks):
            return min(1.0, -(after[-1] - square * kinks[-1]) / square) if len(kinks) else 1.0
        before = float(after[first] - jumps[first] - square * kinks[first])
        return float(min(kinks[first], -before / square)) if square > 0 else float(kinks[first])

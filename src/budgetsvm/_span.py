"""The SVM restricted to the span of a basis: a convex problem in w, with a certificate.

    P(w) = ½‖w‖² + Σ_i C_i max(0, 1 - y_i f_i),   f_i = <w, g_i>
    D(α) = Σ_i α_i - ½‖w(α)‖²,   w(α) = Σ_i α_i y_i g_i,   0 ≤ α_i ≤ C_i

For every w and every such α, D(α) ≤ min P ≤ P(w): the best of both seen so far are kept, and their
distance bounds how far the best w is from the optimum.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from budgetsvm._features import Matrix

_BISECTIONS = 10


@dataclass
class SpanProblem:
    """The problem, and the best primal and dual points so far."""

    matrix: Matrix
    y: NDArray[np.float64]
    box: NDArray[np.float64]
    primal: float = field(init=False)
    dual: float = 0.0  #: D(0)
    w: NDArray[np.float64] = field(init=False)  #: the best primal point ...
    f: NDArray[np.float64] = field(init=False)  #: ... and its values
    alpha: NDArray[np.float64] = field(init=False)  #: the best dual point
    passes: int = 0  #: times that all rows were gone through

    def __post_init__(self) -> None:
        self.w = np.zeros(self.matrix.width)
        self.f = np.zeros(len(self.y))
        self.alpha = np.zeros(len(self.y))
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
        """Keep α, whose w(α) is `point`, if it is better."""
        dual = float(alpha.sum() - 0.5 * point @ point)
        if dual > self.dual:
            self.dual, self.alpha = dual, alpha.copy()

    def _line_search(self, step: NDArray[np.float64], change: NDArray[np.float64]) -> float:
        """Minimise P along a direction, over [0, 1], by bisection on its derivative."""
        slack, rate = 1 - self.y * self.f, self.y * change
        linear, square = float(self.w @ step), float(step @ step)

        def slope(share: float) -> float:
            active = slack > share * rate
            return linear + share * square - float(self.box[active] @ rate[active])

        if slope(1.0) <= 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) <= 0 else (low, middle)
        return 0.5 * (low + high)

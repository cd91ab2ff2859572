"""A dense quadratic program in a box, max gᵀδ - ½ δᵀQδ for 0 <= a + δ <= C: a part of eq. (2).

Newton's method on the variables that are not held by a bound, along the projected path (Bertsekas 1982,
Projected Newton Methods), and coordinate ascent in between, which finds out which variables these are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Array = NDArray[np.float64]

_MOST_ITERATIONS = 200
_HALVINGS = 12
# Added to the diagonal, relative to it. Where Q is singular, as of points that occur twice, Newton's
# step would leave the box at once; so the ridge grows after short steps, and shrinks after whole ones.
_LEAST_RIDGE, _FIRST_RIDGE, _MOST_RIDGE = 1e-12, 1e-8, 1e-2


def violations(a: Array, g: Array, C: float) -> Array:
    """Return the share of every variable in the duality gap, a and the gradient g = 1 - Qa given.

    P - D = αᵀQα - 1ᵀα + C Σ max(0, g_i) = Σ max((C - α_i) g_i, -α_i g_i), all terms being >= 0.
    """
    return np.maximum((C - a) * g, -a * g)


@dataclass
class BoxProblem:
    """Variables a in [0, C], the gradient g at a, and the matrix Q; a and g change in place."""

    Q: Array
    a: Array
    g: Array
    C: float

    def solve(self, tolerance: float) -> int:
        """Ascend until the sum of the violations is below the tolerance; return the iterations."""
        ridge = _FIRST_RIDGE
        for iteration in range(_MOST_ITERATIONS):
            self.coordinate_pass()
            if violations(self.a, self.g, self.C).sum() <= tolerance:
                return iteration
            step = self._newton_step(ridge)
            ridge = ridge / 10 if step == 1 else ridge * 10 if step < 0.1 else ridge
            ridge = min(max(ridge, _LEAST_RIDGE), _MOST_RIDGE)
        return _MOST_ITERATIONS

    def coordinate_pass(self) -> None:
        """Do eq. (3) once for every variable that can move."""
        Q, a, g = self.Q, self.a, self.g
        for i in np.flatnonzero(~self._held()):
            new = min(max(a[i] + g[i] / Q[i, i], 0.0), self.C)
            if new != a[i]:
                g -= (new - a[i]) * Q[i]
                a[i] = new

    def _held(self) -> NDArray[np.bool_]:
        """Return which variables are at a bound that the gradient points out of."""
        below, above = (self.a <= 0) & (self.g <= 0), (self.a >= self.C) & (self.g >= 0)
        return below | above

    def _newton_step(self, ridge: float) -> float:
        """Go along the projected path as far as it is worth it; return how far, 1 being all of it."""
        free = np.flatnonzero(~self._held())
        if not len(free):
            return 1.0
        Q = self.Q[np.ix_(free, free)]
        direction = _solve(Q, self.g[free], ridge)
        step, best, best_gain, chosen = 1.0, None, 0.0, 0.0
        for _ in range(_HALVINGS):
            delta = np.clip(self.a[free] + step * direction, 0, self.C) - self.a[free]
            slope, curvature = float(self.g[free] @ delta), float(delta @ (Q @ delta))
            # The path bends at the bounds, and may lead downhill: then it is too long.
            length = min(max(slope / curvature, 0.0), 1.0) if curvature > 0 else 1.0
            gain = length * slope - 0.5 * length**2 * curvature
            if gain > best_gain:
                best, best_gain, chosen = length * delta, gain, step * length
            elif best is not None:
                break
            step /= 2
        if best is not None:
            self._move(free, best)
        return chosen

    def _move(self, free: NDArray[np.intp], delta: Array) -> None:
        changed = np.flatnonzero(delta)
        self.a[free] = np.clip(self.a[free] + delta, 0, self.C)
        self.g -= self.Q[:, free[changed]] @ delta[changed]


def _solve(Q: Array, g: Array, ridge: float) -> Array:
    """Return (Q + ridge)⁻¹ g, with a ridge that is large enough."""
    diagonal = np.einsum("ii->i", Q).copy()
    while True:
        shifted = Q.copy()
        np.fill_diagonal(shifted, (1 + ridge) * diagonal)
        try:
            found: Array = cho_solve(cho_factor(shifted, lower=True, overwrite_a=True), g)
        except np.linalg.LinAlgError:
            ridge *= 100
        else:
            return found

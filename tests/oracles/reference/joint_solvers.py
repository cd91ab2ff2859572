"""One visit of several outputs with one set of terms, for all losses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from oracles.reference.models import Kernel, Vector
from scipy.optimize import brentq


def best_variable(
    loss: str, alpha: float, u: float, q: float, C: float, *, epsilon: float = 0.0
) -> float:
    """The α that maximises the dual along its coordinate, where the slack is u and k(x, x) = q."""
    match loss:
        case "hinge":
            return min(max(alpha + u / q, 0.0), C)
        case "squared_hinge":
            return max(0.0, alpha + (u - alpha / (2 * C)) / (q + 1 / (2 * C)))
        case "epsilon_insensitive":
            pull = u + q * alpha
            return float(np.clip(np.sign(pull) * max(abs(pull) - epsilon, 0.0) / q, -C, C))
        case "logistic":  # where the slope log(1 / share − 1) of the conjugate is the slack

            def excess(a: float) -> float:
                return u - q * (a - alpha) - float(np.log(a) - np.log(C - a))

            found = float(brentq(excess, 1e-14 * C, C * (1 - 1e-14), xtol=1e-15))
            short = abs(found - alpha) <= 1e-3 * C and q * abs(found - alpha) <= 1e-2
            return alpha if short else found
    raise ValueError(loss)


def slope(loss: str, u: float, epsilon: float) -> float:
    """φ'(u)."""
    match loss:
        case "hinge":
            return float(u > 0)
        case "squared_hinge":
            return 2 * max(0.0, u)
        case "epsilon_insensitive":
            return float(u > epsilon) - float(u < -epsilon)
        case "logistic":
            return float(1 / (1 + np.exp(-u)))
    raise ValueError(loss)


def bounded_slope(loss: str, u: float, epsilon: float, stiffness: float) -> float:
    """φ'(u) for BSGD; for the squared hinge s = φ'(u − stiffness s), the slope after the step."""
    plain = slope(loss, u, epsilon)
    return plain / (1 + 2 * stiffness) if loss == "squared_hinge" else plain


@dataclass
class Joint:
    """One visit of several outputs; labels, or `targets` (points, outputs) for regression."""

    kernel: Kernel
    X: Vector
    labels: NDArray[np.int32] | None
    targets: Vector
    C: Vector
    loss: str
    epsilon: float = 0.0
    coupled: bool = False  # Weston & Watkins

    def signs(self, i: int) -> Vector:
        """+1 for the class of a point, -1 for others."""
        if self.labels is None:
            return np.ones(self.targets.shape[1])
        return np.where(np.arange(self.targets.shape[1]) == self.labels[i], 1.0, -1.0)

    def bsca(self, i: int, f: Vector, alpha: Vector, q: float) -> tuple[Vector, Vector]:
        """The row to insert, and new variables, which are held in single precision."""
        if self.coupled:
            return self.weston_watkins(i, f, alpha, q)
        slack = self.targets[i] - self.signs(i) * f
        new = [
            np.float32(
                best_variable(self.loss, float(a), float(u), q, self.C[i], epsilon=self.epsilon)
            )
            for a, u in zip(alpha, slack, strict=True)
        ]
        return self.signs(i) * (np.array(new, float) - alpha), np.array(new, float)

    def weston_watkins(self, i: int, f: Vector, alpha: Vector, q: float) -> tuple[Vector, Vector]:
        """Up to four rounds over the other classes c: α_c moves weight from c to the point's own."""
        assert self.labels is not None
        own, f, new = self.labels[i], f.copy(), alpha.copy()
        row = np.zeros(len(f))
        for _ in range(4):
            before = new.copy()
            for c in np.delete(np.arange(len(f)), own):
                u = 1 - (f[own] - f[c])
                new[c] = np.float32(best_variable("hinge", new[c], u, 2 * q, self.C[i]))
                row[[own, c]] += (new[c] - before[c]) * np.array([1, -1])
                f[[own, c]] += q * (new[c] - before[c]) * np.array([1, -1])
            if abs(new - before).max() <= 1e-3:
                break
        return row, new

    def bsgd(self, i: int, f: Vector, t: int, q: float) -> Vector:
        """The row to insert in iteration t, after all others were shrunk by 1 − 1/t; k(x, x) = q."""
        rate = len(self.X) * self.C[i] / t
        if self.coupled:
            assert self.labels is not None
            own = self.labels[i]
            row = -rate * (1 - (f[own] - f) > 0)
            row[own] = -np.delete(row, own).sum()
            return np.asarray(row)
        slack = self.targets[i] - self.signs(i) * f
        slopes = [bounded_slope(self.loss, float(u), self.epsilon, rate * q) for u in slack]
        return self.signs(i) * np.array(slopes) * rate

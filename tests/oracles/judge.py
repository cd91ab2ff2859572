"""Kernel machines with any loss, solved by scipy and written down from the definitions.

Nothing here is imported from the package under test. A problem has orthonormal features G (rows, r), signs
y, targets and bounds C_i; its primal is ½‖w‖² + Σ C_i φ(target_i − y_i <w, g_i>).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from threadpoolctl import threadpool_limits


def phi(name: str, u: Any, epsilon: float = 0.0) -> Any:
    """φ(u)."""
    match name:
        case "hinge":
            return np.maximum(0, u)
        case "squared_hinge":
            return np.maximum(0, u) ** 2
        case "logistic":
            return np.logaddexp(0, u)
        case "epsilon_insensitive":
            return np.maximum(0, abs(u) - epsilon)
    raise ValueError(name)


def conjugate(name: str, s: Any, epsilon: float = 0.0) -> Any:
    """φ*(s), where it is finite."""
    match name:
        case "hinge":
            return 0 * s
        case "squared_hinge":
            return s**2 / 4
        case "logistic":
            return xlogy(s, s) + xlogy(1 - s, 1 - s)
        case "epsilon_insensitive":
            return epsilon * abs(s)
    raise ValueError(name)


def domain(name: str) -> tuple[float, float]:
    """Where φ* is finite."""
    return {"squared_hinge": (0.0, np.inf), "epsilon_insensitive": (-1.0, 1.0)}.get(
        name, (0.0, 1.0)
    )


@dataclass(frozen=True, eq=False)
class Machine:
    """A problem; see above."""

    name: str
    G: Any
    y: Any
    target: Any
    box: Any
    epsilon: float = 0.0
    free: bool = False  #: the last coordinate of w costs nothing: a bias as LIBSVM has it

    def primal(self, w: Any) -> float:
        u = self.target - self.y * (self.G @ w)
        return float(0.5 * self.costly(w) @ w + self.box @ phi(self.name, u, self.epsilon))

    def costly(self, w: Any) -> Any:
        return np.append(w[:-1], 0.0) if self.free else w

    def dual(self, alpha: Any) -> float:
        w = self.G.T @ (self.y * alpha)
        if self.free:  # D is minus infinity unless what that coordinate pulls at is zero
            assert abs(w[-1]) <= 1e-9 * abs(self.G[:, -1]) @ abs(alpha)
            w[-1] = 0
        gain = self.target @ alpha - self.box @ conjugate(self.name, alpha / self.box, self.epsilon)
        return float(gain - 0.5 * w @ w)

    def check(self, alpha: Any, w: Any, tolerance: float) -> None:
        """That α and w are optimal: they prove it of each other, and scipy finds nothing better."""
        low, high = domain(self.name)
        assert (alpha >= low * self.box * (1 + 1e-12)).all()
        assert (alpha <= high * self.box * (1 + 1e-12)).all()
        primal, dual = self.primal(w), self.dual(np.clip(alpha, low * self.box, high * self.box))
        rounding = 1e-12 * primal
        assert -rounding <= primal - dual <= tolerance * primal + rounding
        lower, upper = self.optimum()
        assert lower <= primal + rounding
        assert dual <= upper + rounding
        assert upper - lower <= 0.02 * upper  # else this says nothing

    def optimum(self) -> tuple[float, float]:
        """Bounds on the optimal value: D and P of points that L-BFGS finds.

        Kinks are rounded off to sharper and sharper corners: max(0, u) to τ log(1 + exp(u / τ)).
        """
        w, kinked = np.zeros(self.G.shape[1]), self.name in ("hinge", "epsilon_insensitive")
        lower, upper = 0.0, self.primal(w)
        options = {"maxiter": 500, "maxfun": 2000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 40}
        with threadpool_limits(1):
            for tau in np.geomspace(1, 1e-4, 12) if kinked else (1.0,):
                w = minimize(self._rounded, w, tau, "L-BFGS-B", jac=True, options=options).x
                lower = max(lower, self.dual(self._feasible(self.box * self._slope(w, tau))))
                upper = min(upper, self.primal(w))
        return lower, upper

    def _feasible(self, alpha: Any) -> Any:
        if not self.free:
            return alpha
        beta = self.y * alpha
        up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
        least = min(up, down)
        scale = np.where(beta > 0, least / max(up, 1e-300), least / max(down, 1e-300))
        return alpha * scale

    def _rounded(self, w: Any, tau: float) -> tuple[float, Any]:
        u = self.target - self.y * (self.G @ w)
        match self.name:
            case "hinge":
                loss = tau * np.logaddexp(0, u / tau)
            case "epsilon_insensitive":
                sides = np.logaddexp(0, [(u - self.epsilon) / tau, (-u - self.epsilon) / tau])
                loss = tau * sides.sum(axis=0)
            case _:
                loss = phi(self.name, u)
        gradient = self.costly(w) - self.G.T @ (self.y * self.box * self._slope(w, tau))
        return 0.5 * self.costly(w) @ w + self.box @ loss, gradient

    def _slope(self, w: Any, tau: float) -> Any:
        u = self.target - self.y * (self.G @ w)
        match self.name:
            case "hinge":
                return expit(u / tau)
            case "epsilon_insensitive":
                return expit((u - self.epsilon) / tau) - expit((-u - self.epsilon) / tau)
            case "squared_hinge":
                return 2 * np.maximum(0, u)
        return expit(u)


def features(K: Any) -> Any:
    """G with G Gᵀ = K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))

"""Problems that are small enough for exact answers, with the matrix Q of their dual problem."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class SmallProblem:
    """A dual problem (eq. 2): max 1ᵀα − ½ αᵀQα over 0 ≤ α ≤ C, with the Gaussian kernel, Q_ii = 1."""

    name: str
    X: Vector
    y: Vector
    C: float
    gamma: float

    def __len__(self) -> int:
        return len(self.y)

    def kernel(self, X: Vector, Z: Vector) -> Vector:
        """k(x, z) for all pairs of rows; from differences, as norms and products would cancel."""
        return np.asarray(np.exp(-self.gamma * cdist(X, Z, "sqeuclidean")))

    @cached_property
    def Q(self) -> Vector:
        """Q_ij = y_i y_j k(x_i, x_j)."""
        return np.outer(self.y, self.y) * self.kernel(self.X, self.X)

    @cached_property
    def spectrum(self) -> tuple[float, float]:
        """The smallest eigenvalue of Q, which is the theorem's κ, and the largest."""
        values = np.linalg.eigvalsh(self.Q)
        return max(0.0, float(values[0])), float(values[-1])  # rounding may have it below zero

    def dual(self, alpha: Vector) -> float:
        """D(α)."""
        return float(alpha.sum() - alpha @ (self.Q @ alpha) / 2)


def _grid(name: str, n: int, gamma: float) -> SmallProblem:
    """A grid with a little jitter: no two points are close, so κ is not negligible."""
    rng = np.random.default_rng(0)
    side = round(n**0.5)
    axes = np.meshgrid(np.arange(side), np.arange(side))
    X = np.column_stack([axis.ravel() for axis in axes]).astype(float)
    X += rng.uniform(-0.15, 0.15, X.shape)
    wave = np.sin(2 * np.pi * X[:, 0] / side) + np.cos(2 * np.pi * X[:, 1] / side)
    y = np.where(wave + rng.normal(0, 0.5, len(X)) > 0, 1.0, -1.0)
    return SmallProblem(name, X, y, 2.0, gamma)


def narrow(n: int) -> SmallProblem:
    """A grid, and a kernel that falls to 0.3 at the next point."""
    return _grid("narrow", n, -np.log(0.3))


def medium(n: int) -> SmallProblem:
    """A grid, and a kernel that falls to 0.45 at the next point."""
    return _grid("medium", n, -np.log(0.45))


def rings(n: int) -> SmallProblem:
    """Two noisy rings in the plane, with the kernel width one would choose: κ is next to nothing."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], n)
    angle, radius = rng.uniform(0, 2 * np.pi, n), 2 + 0.6 * y + rng.normal(0, 0.45, n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return SmallProblem("rings", X, y, 4.0, 1.0)


def pair(n: int = 2, similarity: float = 0.5) -> SmallProblem:
    """Two points of different classes: the smallest problem that contradicts a step of a proof."""
    assert n == 2
    X = np.array([[0.0], [1.0]])
    # α* = 1 / (1 − similarity) for both; the box just holds it.
    return SmallProblem("pair", X, np.array([-1.0, 1.0]), 1 / (1 - similarity), -np.log(similarity))


MAKERS: dict[str, Callable[[int], SmallProblem]] = {
    "narrow": narrow,
    "medium": medium,
    "rings": rings,
    "pair": pair,
}

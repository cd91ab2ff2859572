"""Kernels from their definitions; models as lists of terms (β, z), their values and distances."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Term = tuple[float, Vector]
Model = list[Term]

#: Picks one of several candidates by their costs; `argmin` unless a test wants to see near-ties.
Choose = Callable[[Sequence[int], Vector], int]


@dataclass(frozen=True)
class Kernel:
    """k(X, Z) for all pairs of rows, from the definition."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    def __call__(self, X: Vector, Z: Vector) -> Vector:
        X, Z = np.atleast_2d(X), np.atleast_2d(Z)
        difference = X[:, np.newaxis, :] - Z[np.newaxis, :, :]
        dot = X @ Z.T
        match self.name:
            case "rbf":
                return np.exp(-self.gamma * (difference**2).sum(axis=2))
            case "laplacian":
                return np.exp(-self.gamma * abs(difference).sum(axis=2))
            case "poly":
                return (self.gamma * dot + self.coef0) ** self.degree
            case "sigmoid":
                return np.tanh(self.gamma * dot + self.coef0)
            case "linear":
                return dot
        raise ValueError(self.name)


def split(model: Model, n_features: int) -> tuple[Vector, Vector]:
    """Return coefficients and points as arrays."""
    coef = np.array([beta for beta, _ in model])
    points = np.array([z for _, z in model]).reshape(len(model), n_features)
    return coef, points


def decision(model: Model, kernel: Kernel, X: Vector) -> Vector:
    """f(x) = Σ β k(x, z) for every row of X."""
    X = np.atleast_2d(X)
    coef, points = split(model, X.shape[1])
    return kernel(X, points) @ coef


def squared_distance(before: Model, after: Model, kernel: Kernel) -> float:
    """‖w_before − w_after‖² in feature space: the weight degradation, from its definition."""
    coef, points = split(before + [(-beta, z) for beta, z in after], len(before[0][1]))
    return float(coef @ kernel(points, points) @ coef)


def argmin(candidates: Sequence[int], costs: Vector) -> int:
    """The candidate of least cost, the first of equals."""
    return candidates[int(np.argmin(costs))]

"""What a model says and what it costs, written down from the definitions in float64 NumPy.

Everything is computed from public attributes; of the package only the names of kernels and losses are used.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from oracles.judge import phi


def kernel_matrix(kernel: Any, X: Any, Z: Any) -> Any:
    """k(x, z) for every row x and point z."""
    match kernel.name:
        case "rbf":
            return np.exp(-kernel.gamma * ((X[:, np.newaxis] - Z) ** 2).sum(axis=2))
        case "laplacian":
            return np.exp(-kernel.gamma * abs(X[:, np.newaxis] - Z).sum(axis=2))
        case "poly":
            return (kernel.gamma * X @ Z.T + kernel.coef0) ** kernel.degree
        case "sigmoid":
            return np.tanh(kernel.gamma * X @ Z.T + kernel.coef0)
        case "linear":
            return X @ Z.T
    return kernel.function(X, Z)


def kernel_error(kernel: Any, X: Any, Z: Any, centre: Any) -> Any:
    """How much a kernel value may be off, in units of the machine's precision.

    Distances are differences of numbers as large as the points are far from their centre: the middle of
    the first rows that were seen, or the origin for sparse ones.
    """
    U, V = abs(X - centre), abs(Z - centre)
    products = abs(X) @ abs(Z).T
    match kernel.name:
        case "rbf":
            distances = (U**2).sum(axis=1)[:, np.newaxis] + (V**2).sum(axis=1)
            return 1 + kernel.gamma * distances
        case "laplacian":
            return 1 + kernel.gamma * (U.sum(axis=1)[:, np.newaxis] + V.sum(axis=1))
        case "poly":
            inside = kernel.gamma * products + abs(kernel.coef0)
            return kernel.degree * inside**kernel.degree
        case "sigmoid":
            return 1 + kernel.gamma * products + abs(kernel.coef0)
        case "linear":
            return products
    return np.ones((len(X), len(Z)))


def rounded_points_error(kernel: Any, X: Any, Z: Any) -> Any:
    """How much a kernel value may be off because Z, far from the origin, are points and their centre in one number.

    In units of the rounding of float64, which public attributes have whatever the precision of a machine is.
    """
    if kernel.name == "rbf":
        apart = abs(X[:, np.newaxis] - Z)
        return kernel.gamma * (2 * apart * abs(Z)).sum(axis=2)
    if kernel.name == "laplacian":
        return np.broadcast_to(kernel.gamma * abs(Z).sum(axis=1), (len(X), len(Z)))
    return np.zeros((len(X), len(Z)))


def centre_of(model: Any) -> Any:
    """What an estimator subtracts from rows; no user would notice, but for rounding."""
    centre = model._expansion.centre
    return 0.0 if centre is None else centre


@dataclass(frozen=True, eq=False)
class Model:
    """The public attributes of a fitted machine: f_c(x) = Σ_j β_cj k(x, z_j) + b_c."""

    kernel: Any
    points: Any
    coef: Any
    bias: Any
    centre: Any

    @classmethod
    def of(cls, model: Any) -> "Model":
        """Take over what a machine has learned; a detector's scores have no bias."""
        bias = np.zeros(1) if hasattr(model, "offset_") else np.array(model.intercept_)
        points, coef = model.support_vectors_, model.dual_coef_
        if hasattr(model, "target_scale_"):  # the objective is that of standardised targets
            coef = coef / model.target_scale_[:, np.newaxis]
            bias = (bias - model.target_mean_) / model.target_scale_
        return cls(model.kernel_, points, coef, bias, centre_of(model))

    def values(self, X: Any) -> Any:
        """f_c(x), (rows, outputs)."""
        return kernel_matrix(self.kernel, X, self.points) @ self.coef.T + self.bias

    def error(self, X: Any, precision: float) -> Any:
        """How much values may be off by rounding, (rows, outputs)."""
        off = kernel_error(self.kernel, X, self.points, self.centre) @ abs(self.coef).T
        rounded = rounded_points_error(self.kernel, X, self.points) @ abs(self.coef).T
        return 64 * precision * (off + abs(self.bias)) + np.finfo(float).eps * rounded + 1e-300

    def gram(self) -> Any:
        """k(z_i, z_j)."""
        return kernel_matrix(self.kernel, self.points, self.points)

    def squared_norm(self, c: int) -> float:
        """‖w_c‖², to which the bias does not count."""
        return float(self.coef[c] @ self.gram() @ self.coef[c])

    def norm_error(self) -> float:
        """How much the sum of all ‖w_c‖² may be off by the rounding of float64."""
        sizes = abs(self.coef)
        off = sizes @ kernel_error(self.kernel, self.points, self.points, self.centre) @ sizes.T
        return float(64 * np.finfo(float).eps * np.trace(np.atleast_2d(off)))

    def is_positive(self) -> bool:
        """Whether the kernel is positive semidefinite on the points: else there is no norm."""
        if not len(self.points):
            return True
        spectrum = np.linalg.eigvalsh(self.gram())
        return bool(spectrum[0] >= -1e-9 * abs(spectrum).max())


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the rows of a problem ask for: loss, bounds C_i, and signs or targets (rows, outputs).

    A row of sign 0 does not know of an output.
    """

    loss: str
    box: Any
    signs: Any
    targets: Any
    epsilon: float = 0.0
    coupled: bool = False  #: the problem of Weston & Watkins

    def cost(self, values: Any) -> float:
        """Σ_i C_i φ(u_i), over all outputs."""
        if self.coupled:
            own = self.signs > 0
            slack = 1 - values[own][:, np.newaxis] + values
            return float(self.box @ np.where(own, 0, np.maximum(0, slack)).sum(axis=1))
        slack = self.targets - self.signs * values
        costs = np.where(self.signs == 0, 0, phi(self.loss, slack, self.epsilon))
        return float(self.box @ costs.sum(axis=1))


def wanted_by_classes(
    loss: str, box: Any, y: Any, classes: Any, *, coupled: bool = False, pairs: bool = False
) -> Wanted:
    """Classification: one output for two classes; for more, one for each or one for each pair."""
    named = classes[1:] if len(classes) == 2 else classes
    y = np.asarray(y)[:, np.newaxis]
    signs = np.where(y == named, 1.0, -1.0)
    if pairs and len(classes) > 2:
        first, second = np.array(list(combinations(classes, 2)), classes.dtype).T
        signs = 1.0 * (y == first) - (y == second)
    target = 0.0 if loss == "logistic" else 1.0
    return Wanted(loss, box, signs, np.full(signs.shape, target), coupled=coupled)


def primal(model: Model, wanted: Wanted, X: Any, factor: float = 1.0) -> float:
    """½‖w‖² + Σ C_i φ(u_i) of `factor` times the model."""
    norm = sum(model.squared_norm(c) for c in range(len(model.coef)))
    norm += float(model.bias @ model.bias) if wanted.coupled else 0.0
    return 0.5 * factor**2 * norm + wanted.cost(factor * model.values(X))

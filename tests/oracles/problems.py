"""Small problems with fixed seeds, and the package's kernels beside scikit-learn's."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics import pairwise

from budgetsvm import kernels

Array = NDArray[Any]
Gram = Callable[[Array, Array], Array]

#: Kernel → the same by scikit-learn.
KERNELS: dict[str, tuple[kernels.Kernel, Gram]] = {
    "rbf": (
        kernels.Gaussian(0.7),
        lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.7),
    ),
    "laplacian": (
        kernels.Laplacian(0.3),
        lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=0.3),
    ),
    "poly": (
        kernels.Polynomial(3, 0.4, 1.0),
        lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=3, gamma=0.4, coef0=1.0),
    ),
    "sigmoid": (
        kernels.Sigmoid(0.2, 0.1),
        lambda X, Z: pairwise.sigmoid_kernel(X, Z, gamma=0.2, coef0=0.1),
    ),
    "linear": (kernels.Linear(), pairwise.linear_kernel),
}


def blobs(n: int, d: int, seed: int, distance: float = 2.0) -> tuple[Array, Array]:
    """Two overlapping Gaussian clouds, labels ±1."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, d))
    X[:, 0] += 0.5 * distance * y
    return X, y


def moons(n: int, seed: int, noise: float = 0.2) -> tuple[Array, Array]:
    """Two half circles, labels ±1."""
    X, y = make_moons(n, noise=noise, random_state=seed)
    return X, 2.0 * y - 1


def noisy_xor(n: int, seed: int, flips: float = 0.05) -> tuple[Array, Array]:
    """Four clouds with the labels of exclusive or, some of them flipped; labels ±1."""
    rng = np.random.default_rng(seed)
    corners = np.where(rng.random((n, 2)) < 0.5, 1.0, -1.0)
    y = np.where(rng.random(n) < flips, -1.0, 1.0) * corners.prod(axis=1)
    return corners + 0.5 * rng.standard_normal((n, 2)), y


def sparse_rows(n: int, d: int, seed: int, density: float = 0.3) -> sparse.csr_array:
    """Random sparse rows, the first one empty."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < density)
    X[0] = 0
    return sparse.csr_array(X)


def wide_rows(
    n: int, seed: int, d: int = 3000, entries: int = 12
) -> tuple[sparse.csr_array, Array]:
    """Sparse rows with few of many features, some of them common, and labels ±1 by a linear rule; two rows are empty."""
    rng = np.random.default_rng(seed)
    features = (d * rng.random((n, entries)) ** 3).astype(np.int64)
    features[[0, n // 2]] = -1
    X = sparse.lil_array((n, d))
    for row, some in enumerate(features):
        X[row, some[some >= 0]] = rng.uniform(0.2, 1.0, np.count_nonzero(some >= 0))
    X = sparse.csr_array(X)
    values = X @ rng.standard_normal(d)
    return X, np.where(values >= np.median(values), 1.0, -1.0)


def weights(n: int, seed: int) -> Array:
    """Positive weights, no two alike: so that coefficients at their bound do not tie."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, n)

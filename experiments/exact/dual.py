"""The exact SVM without a bias: eq. (2) for tens of thousands of rows, with a certificate.

Nothing here uses the package: its results are judged by this. Decomposition (Osuna et al. 1997) with large
parts: solve for the variables that matter most and keep the gradient of all up to date. Rows of Q are
computed when they are needed, so that memory is linear in n.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from experiments.exact.projected_newton import Array, BoxProblem, violations

_BLOCK = 256  # columns of the kernel matrix at a time
_MOST_PARTS = 100
_PART = 4000  # variables of a part at most: 128 MB, and half a second per factorisation


class GaussianRows:
    """Rows of data, dense or CSR, with kernel values k(x, z) = exp(-gamma ‖x - z‖²) in float64."""

    def __init__(self, X: Any, gamma: float) -> None:
        self.X: Any = (
            sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, float)
        )
        self.gamma = gamma
        self._norms = _squared_norms(self.X)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def pick(self, which: Any) -> "GaussianRows":
        """Return some of the rows."""
        return GaussianRows(self.X[which], self.gamma)

    def values(self, other: "GaussianRows") -> Array:
        """Return k(x, z) of all x here and all z there."""
        Z = other.X.toarray() if sparse.issparse(other.X) else other.X
        products: Array = self.X @ Z.T
        products *= 2
        products -= self._norms[:, np.newaxis]
        products -= other._norms
        np.minimum(products, 0, out=products)  # of a point with itself: rounding errors
        products *= self.gamma
        return np.exp(products, out=products)

    def expand(self, points: "GaussianRows", coefficients: Array) -> Array:
        """Return Σ_j coefficients_j k(x, z_j) for all x here; coefficients may have columns."""
        total = np.zeros((len(self), *coefficients.shape[1:]))
        for part in _blocks(len(points)):
            total += self.values(points.pick(part)) @ coefficients[part]
        return total


@dataclass
class Solution:
    """A point of the dual, 0 <= alpha <= C, with the gradient 1 - Q alpha."""

    alpha: Array
    gradient: Array
    C: float
    parts: int = 0  #: that were solved

    @property
    def gap(self) -> float:
        """P(w(alpha)) - D(alpha), never negative: how far from the optimum both are at most."""
        return float(violations(self.alpha, self.gradient, self.C).sum())

    @property
    def dual(self) -> float:
        """D(alpha), eq. (2)."""
        return float(0.5 * self.alpha @ (1 + self.gradient))

    @property
    def primal(self) -> float:
        """P(w(alpha)), eq. (1) divided by lambda."""
        return self.dual + self.gap


def solve_dual(rows: GaussianRows, y: Array, C: float, start: Array, tolerance: float) -> Solution:
    """Solve eq. (2) from a start in the box, up to a gap of the tolerance times P."""
    alpha = np.clip(start, 0, C)
    support = np.flatnonzero(alpha)
    signed = (alpha * y)[support]
    now = Solution(alpha, 1 - y * rows.expand(rows.pick(support), signed), C)
    while now.gap > tolerance * now.primal and now.parts < _MOST_PARTS:
        _improve(now, rows, y)
        now.parts += 1
    return now


def _improve(now: Solution, rows: GaussianRows, y: Array) -> None:
    """Solve for one part of the variables, all others being fixed."""
    part = _choose(now)
    points, signs = rows.pick(part), y[part]
    Q = points.values(points)
    Q *= signs[:, np.newaxis]
    Q *= signs
    a = now.alpha[part]
    problem = BoxProblem(Q, a.copy(), now.gradient[part].copy(), now.C)
    problem.solve(0.01 * now.gap)
    changed = np.flatnonzero(problem.a != a)
    delta = (problem.a - a)[changed] * signs[changed]
    now.gradient -= y * rows.expand(points.pick(changed), delta)
    now.alpha[part] = problem.a


def _choose(now: Solution) -> Any:
    """Return the variables with the largest shares of the gap, and the free ones, which will follow them."""
    shares = violations(now.alpha, now.gradient, now.C)
    least = 1e-3 * now.gap / len(shares)
    violators = np.argsort(-shares)[: np.count_nonzero(shares > least)]
    free = np.flatnonzero((now.alpha > 0) & (now.alpha < now.C))
    first, more = np.split(violators, [min(_PART // 2, len(violators))])
    order = np.concatenate([first, free, more])
    _, places = np.unique(order, return_index=True)
    return np.sort(order[np.sort(places)[:_PART]])


def _blocks(n: int) -> Iterator[slice]:
    for first in range(0, n, _BLOCK):
        yield slice(first, first + _BLOCK)


def _squared_norms(X: Any) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), float).ravel()
    norms: Array = np.einsum("ij,ij->i", X, X)
    return norms

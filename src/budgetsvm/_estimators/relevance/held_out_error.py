"""The error on rows held out, as a function of one scale per feature, and its gradient.

The machine behind it is the simplest one with a Gaussian kernel k(x, z) = exp(-Σ_d s_d² (x_d - z_d)²): squared errors in the
span of a few points, whose solution is a linear system, so that the error on the rows of a fold can be differentiated
*through* the solution on the other folds (docs/theory.md has the formulas).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from budgetsvm._common.threads import map_in_order

_Array: TypeAlias = NDArray[np.float64]
_RIDGE = 1e-8  # on the diagonal, for each row: points may be the same twice
_AT_ONCE = 1 << 22  # numbers of a product with all features


@dataclass(frozen=True, eq=False)
class Part:
    """Rows with targets, and the roots of their weights."""

    X: Any
    squares: Any  #: of all values of X
    Y: _Array
    roots: _Array

    @classmethod
    def of(cls, X: Any, Y: _Array, weights: _Array) -> "Part":
        """Return rows with what is needed of them again and again."""
        roots = np.sqrt(weights)[:, np.newaxis]
        return cls(X, _squared(X), Y * roots, roots)


@dataclass(frozen=True, eq=False)
class _Fold:
    """The solution without the rows of a fold, and what its errors on them ask of it."""

    beta: _Array  # (points, outputs)
    errors: _Array  # (rows of the fold, outputs)
    adjoint: (
        _Array  # (points, outputs): the system's solution for the gradient with respect to beta
    )


class HeldOutError:
    """½ Σ (f(x) - y)² over all rows, each of a fold that f has not seen, divided by their weight."""

    def __init__(self, parts: list[Part], points: Any, n_threads: int) -> None:
        self._parts, self._points, self._squares = parts, points, _squared(points)
        self._threads = n_threads
        self._weight = float(sum((part.roots**2).sum() for part in parts))

    def __call__(self, log_scales: _Array, log_ridge: float) -> tuple[float, _Array, float]:
        """Return the error, and its derivatives with respect to the logarithms of the scales and of the ridge."""
        squares, ridge = np.exp(2 * log_scales), float(np.exp(log_ridge))
        K_ZZ = self._kernel(self._points, self._squares, squares)
        blocks = self._each(
            lambda part: part.roots * self._kernel(part.X, part.squares, squares), self._parts
        )
        folds = self._solve(blocks, ridge * K_ZZ)
        error = 0.5 * sum(float((fold.errors**2).sum()) for fold in folds) / self._weight
        terms = self._each(lambda i: self._pull(i, blocks, folds), range(len(blocks)))
        pull = -ridge * sum(fold.adjoint @ fold.beta.T for fold in folds)
        by_ridge = -ridge * sum(float((fold.adjoint * (K_ZZ @ fold.beta)).sum()) for fold in folds)
        total = self._distances(pull * K_ZZ, self._points, self._squares) + sum(terms)
        return error, -2 * squares * total / self._weight, by_ridge / self._weight

    def fit(self, log_scales: _Array, ridges: Sequence[float]) -> list[_Array]:
        """Return the coefficients of the points for all rows, for every ridge."""
        squares = np.exp(2 * log_scales)
        penalty = self._kernel(self._points, self._squares, squares)
        gram, right = np.zeros_like(penalty), np.zeros((len(penalty), self._parts[0].Y.shape[1]))
        for part in self._parts:
            K = part.roots * self._kernel(part.X, part.squares, squares)
            gram += K.T @ K
            right += K.T @ part.Y
        return [cho_solve(self._factor(gram + ridge * penalty), right) for ridge in ridges]

    def predict(self, X: Any, log_scales: _Array, betas: Sequence[_Array]) -> list[_Array]:
        """Return values of other rows, for all coefficients."""
        K = self._kernel(X, _squared(X), np.exp(2 * log_scales))
        return [K @ beta for beta in betas]

    def _kernel(self, X: Any, X_squares: Any, scales: _Array) -> _Array:
        """Return the kernel of rows with all points, for the squares of scales."""
        products = _dense(X @ _times(self._points, scales).T)
        products *= -2
        products += (X_squares @ scales)[:, np.newaxis]
        products += self._squares @ scales
        np.maximum(products, 0, out=products)
        np.negative(products, out=products)
        return np.exp(products, out=products)

    def _solve(self, blocks: list[_Array], penalty: _Array) -> list[_Fold]:
        """Solve without each fold in turn, and once more for the gradient of the errors on it."""
        grams = self._each(lambda K: K.T @ K, blocks)
        rights = [K.T @ part.Y for K, part in zip(blocks, self._parts, strict=True)]
        all_grams, all_rights = sum(grams) + penalty, sum(rights)

        def solve(i: int) -> _Fold:
            factor = self._factor(all_grams - grams[i])
            beta = cho_solve(factor, all_rights - rights[i])
            errors = blocks[i] @ beta - self._parts[i].Y
            return _Fold(beta, errors, cho_solve(factor, blocks[i].T @ errors))

        return self._each(solve, range(len(blocks)))

    def _factor(self, system: _Array) -> Any:
        system[np.diag_indices(len(system))] += _RIDGE * self._weight
        return cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

    def _pull(self, i: int, blocks: list[_Array], folds: list[_Fold]) -> _Array:
        """Return what the kernel values of the rows of a fold do to all errors, summed up by features.

        They take part in the errors on these rows, and in the solutions for all other folds.
        """
        K, own = blocks[i], folds[i]
        left, right = [own.errors], [own.beta]
        for fold in folds[:i] + folds[i + 1 :]:
            left += [self._parts[i].Y - K @ fold.beta, -(K @ fold.adjoint)]
            right += [fold.adjoint, fold.beta]
        weights = np.hstack(left) @ np.hstack(right).T
        weights *= K
        return self._distances(weights, self._parts[i].X, self._parts[i].squares)

    def _distances(self, weights: _Array, X: Any, X_squares: Any) -> _Array:
        """Return Σ_ij weights_ij (x_i - z_j)² for every feature."""
        total = X_squares.T @ weights.sum(axis=1) + self._squares.T @ weights.sum(axis=0)
        for some in _blocks(*self._points.shape):
            product = X.T @ weights[:, some]  # (features, points): X may be sparse
            points = self._points[some]
            crossed = points.multiply(product.T) if sparse.issparse(points) else points * product.T
            total -= 2 * np.asarray(crossed.sum(axis=0)).ravel()
        return np.asarray(total)

    def _each(self, function: Any, items: Any) -> list[Any]:
        return map_in_order(function, items, self._threads)


def _blocks(n_points: int, n_features: int) -> Iterator[slice]:
    size = max(1, _AT_ONCE // n_features)
    for first in range(0, n_points, size):
        yield slice(first, first + size)


def _squared(X: Any) -> Any:
    return X.multiply(X) if sparse.issparse(X) else X * X


def _times(X: Any, factors: _Array) -> Any:
    return X.multiply(factors).tocsr() if sparse.issparse(X) else X * factors


def _dense(values: Any) -> _Array:
    return np.asarray(values.toarray() if sparse.issparse(values) else values)

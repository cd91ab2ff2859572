"""Which terms a smaller model gets, and the coefficients that bring it nearest to a larger one.

Terms are good if f_big is near to their span in the Hilbert space of the kernel, where ‖f_small - f_big‖² is least for the
orthogonal projection of f_big, K_zz β = f_big(z). Coefficients are good if values of rows differ little: they have the least
sum of squared differences, plus a weight times the distance from the projection, as rows to come are not quite like these.
How much it takes, one half of the rows tells about the other.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve, svd

from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._estimators.compression.moving import moved
from budgetsvm._learn.learn import reduce_to_budget
from budgetsvm._learn.settings import Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._problem.points import Points
from budgetsvm.kernels import Callback, Linear
from budgetsvm.maintenance import Merge

_Matrix = NDArray[np.float64]

_ROWS_AT_ONCE = 1 << 12
_RANK = 1e-10  # of the largest k(x, x): less than that is not worth a term
_WEIGHTS = 10.0 ** np.arange(-9, 3)  # of the projection against the rows, from which one is chosen


@dataclass(frozen=True, eq=False)
class RowProducts:
    """Sums over rows: of products of features, of features and wanted values, and of squares of these."""

    gram: _Matrix
    wanted: _Matrix
    total: float

    def __add__(self, other: "RowProducts") -> "RowProducts":
        return RowProducts(
            self.gram + other.gram, self.wanted + other.wanted, self.total + other.total
        )

    def solution(self, prior: _Matrix, weight: float) -> _Matrix:
        """Return the coordinates of least squares, of errors and of the weighted difference from others."""
        system = self.gram + np.diag(np.full(len(prior), weight))
        return np.asarray(solve(system, self.wanted + weight * prior, assume_a="pos"))

    def error(self, w: _Matrix) -> float:
        """Return the sum of squared errors of coordinates."""
        return float((w * (self.gram @ w - 2 * self.wanted)).sum()) + self.total

    def error_of_constants(self, bias: bool) -> float:
        """Return the least error without terms: of biases alone, whose feature is the last one, or of nothing."""
        if not bias:
            return self.total
        return self.total - float((self.wanted[-1] ** 2).sum()) / float(self.gram[-1, -1])


class Smaller:
    """Smaller models than a given one."""

    def __init__(self, model: KernelExpansion, n_threads: int, *, keep_zeros: bool = False) -> None:
        # Points are relative to the centre already.
        self.big = replace(model.in_precision(np.float64), centre=None)
        self.sums = replace(self.big, bias=np.zeros(len(model.bias)))
        self._centre, self._dtype, self._threads = model.centre, model.points.dtype.type, n_threads
        self._keep_zeros = keep_zeros
        self._values = self.sums.decision(self.big.points, n_threads)
        #: ‖f_big‖², all outputs together and without their biases
        self.squared_norm = float((self.big.coef.T * self._values).sum())

    def terms(
        self, settings: Settings, tell: Callable[[float], None] = lambda _: None
    ) -> list[Points]:
        """Return points of models with so many terms: chosen among those of the larger one, or merged, and the same moved.

        `tell` hears which share of the work is done.
        """
        if isinstance(self.big.kernel, Linear):
            return [self._directions(settings.budget or 1)]
        chosen = self.big.points[self._chosen(settings.budget or 1)]
        if not self.big.kernel.mergeable:
            return [chosen]
        merged = reduce_to_budget(self.big, replace(settings, maintenance=Merge())).points
        start = max(
            (merged, chosen), key=lambda points: float((self._projection(points)[1] ** 2).sum())
        )
        found = moved(self.sums, start, self._threads, keep_zeros=self._keep_zeros, tell=tell)
        return [start, found]

    def _directions(self, budget: int) -> _Matrix:
        """Return points whose linear combinations come nearest to all outputs: exact for one point per output.

        f_c(x) = <w_c, x>, and the best span of so many points is that of the first singular vectors of all w_c.
        """
        weights = self.big.coef @ self.big.points
        with single_threaded_blas():
            _, sizes, directions = svd(weights, full_matrices=False)
        kept = max(1, min(budget, int((sizes > _RANK * sizes[0]).sum())))
        return np.asarray(directions[:kept] * sizes[:kept, np.newaxis])

    def _chosen(self, budget: int) -> list[int]:
        """Choose points one by one, each so that the projection gains most of ‖f_big‖².

        A Cholesky decomposition whose pivots look at the function: S. Müller & R. Schaback, A Newton basis for kernel
        spaces, J. Approx. Theory 161, 2009; Y. C. Pati et al., Orthogonal matching pursuit, Asilomar 1993.
        """
        points, kernel = self.big.points, self.big.kernel
        if isinstance(kernel, Callback):
            new = kernel.of_itself(points)
        else:
            new = kernel.diagonal((points**2).sum(axis=1))
        least, left = _RANK * float(new.max(initial=0.0)), self._values.copy()
        features = np.zeros((len(points), min(budget, len(points))))
        chosen: list[int] = []
        for m in range(features.shape[1]):
            usable = new > least
            gains = np.where(usable, (left**2).sum(axis=1), 0.0) / np.where(usable, new, 1.0)
            best = int(gains.argmax())
            if not gains[best] > 0:
                break
            column = self._kernel_values(points[best : best + 1])[:, 0]
            column -= features[:, :m] @ features[best, :m]
            column /= np.sqrt(new[best])
            left -= np.outer(column, left[best] / column[best])
            features[:, m], new = column, new - column**2
            new[best], chosen = 0.0, [*chosen, best]
        return chosen or [0]

    def _kernel_values(self, points: _Matrix) -> _Matrix:
        """Return k of all terms of the larger model with some points."""
        others = self.big.with_points(points)
        return np.asarray(others.kernel_values(self.big.points, self._threads), np.float64)

    def _projection(self, points: _Matrix) -> tuple[Basis, _Matrix]:
        """Return a basis of points, and the projection in its orthonormal coordinates, (coordinates, outputs)."""
        basis = Basis.of(points, self.big.kernel)
        # In the precision of the points, terms that are nearly dependent are left out.
        values = self.sums.decision(basis.points.astype(np.float64), self._threads)
        with single_threaded_blas():
            outputs = [basis.projection(np.ascontiguousarray(column)) for column in values.T]
        return basis, np.column_stack(outputs)

    def refitted(self, points: _Matrix) -> tuple[NDArray[np.int64], _Matrix, float]:
        """Return which of some points are kept, their coefficients, and ‖f - f_big‖², for models in single precision."""
        basis, projection = self._projection(points.astype(np.float32))
        with single_threaded_blas():
            coef, _ = basis.expand(projection.T)
        return basis.kept, coef, max(0.0, self.squared_norm - float((projection**2).sum()))

    def nearest(
        self, points: _Matrix, X: Any = None, *, bias: bool
    ) -> tuple[KernelExpansion, float, float]:
        """Return the model with these points, or with fewer, ‖f_small - f_big‖², and the squared error on rows left out.

        Where there are no rows, the terms of the larger model take their place.
        """
        basis, projection = self._projection(points.astype(self._dtype).astype(np.float64))
        lost = max(0.0, self.squared_norm - float((projection**2).sum()))
        if X is None:
            X, lost = replace(self.big, centre=self._centre).original_points(), np.inf
        with single_threaded_blas():
            coordinates, shift, error = self.on_rows(basis, projection, X, bias, lost)
            coef, _ = basis.expand(coordinates.T)
        distance = self.squared_norm - 2 * (projection * coordinates).sum() + (coordinates**2).sum()
        model = KernelExpansion(
            self.big.kernel,
            basis.points.astype(self._dtype),
            coef,
            self.big.bias + shift,
            self._centre,
        )
        return model, max(0.0, float(distance)), error

    def on_rows(
        self, basis: Any, projection: _Matrix, X: Any, bias: bool, farthest: float = np.inf
    ) -> tuple[_Matrix, _Matrix, float]:
        """Solve the least squares problem on rows: coordinates, what to add to the biases, error on rows left out.

        The squared distance from the projection may be `farthest`, so that rows which are not like those to come, all
        of one class, say, do no more harm than having fewer terms has done; unless a constant would be better on them.
        """
        size = len(basis)
        # Every other row: files, and models of LIBSVM, have their classes one after the other.
        halves = [self._products(basis, some, bias) for some in (X[::2], X[1::2])]
        prior = np.concatenate([projection, np.zeros((int(bias), len(self.big.coef)))])
        both = halves[0] + halves[1]
        weights, errors = _weights(halves, prior)
        best = near = int(np.argmin(errors))
        while near + 1 < len(weights) and _distance(both, prior, weights[near], size) > farthest:
            near += 1
        for chosen in (near, best, 0):
            found = both.solution(prior, weights[chosen])
            if both.error(found) <= both.error_of_constants(bias):
                break
        shift: _Matrix = found[size:].sum(axis=0)
        return found[:size], shift, errors[chosen]

    def _products(self, basis: Any, X: Any, bias: bool) -> RowProducts:
        """Sum up over rows all that least squares needs to know of them."""
        size = len(basis) + bias
        gram, wanted, total = np.zeros((size, size)), np.zeros((size, len(self.big.coef))), 0.0
        terms = replace(self.big.with_points(basis.points), centre=self._centre)
        sums = replace(self.sums, centre=self._centre)
        for rows in _blocks(X):
            features = basis.features(terms.kernel_values(rows, self._threads))
            if bias:
                features = np.column_stack([features, np.ones(len(features))])
            values = sums.decision(rows, self._threads)
            gram += features.T @ features
            wanted += features.T @ values
            total += float((values**2).sum())
        return RowProducts(gram, wanted, total)


def _weights(halves: list[RowProducts], prior: _Matrix) -> tuple[list[float], list[float]]:
    """Return weights of the projection, and the errors that each half of the rows makes on the other one with them."""
    scale = float(np.trace(halves[0].gram + halves[1].gram)) / len(prior)
    weights = [scale * float(weight) for weight in _WEIGHTS]

    def error(weight: float) -> float:
        pairs = (halves, halves[::-1])
        return sum(other.error(own.solution(prior, weight)) for own, other in pairs)

    return weights, [error(weight) for weight in weights]


def _distance(products: RowProducts, prior: _Matrix, weight: float, size: int) -> float:
    """Return how far the solution is from the projection, squared; biases do not count."""
    return float(((products.solution(prior, weight) - prior)[:size] ** 2).sum())


def _blocks(X: Any) -> Iterator[Any]:
    for start in range(0, X.shape[0], _ROWS_AT_ONCE):
        yield X[start : start + _ROWS_AT_ONCE]

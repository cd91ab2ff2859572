"""Points that move to where a smaller model comes nearest to a larger one.

The distance from f_big of its projection on the span of points z is ‖f_big‖² - Σ_c v_cᵀ K⁻¹ v_c, where v_c are the values of
f_big at z, one vector per output, and K = K_zz. With β_c = K⁻¹ v_c, its slope at z_j is -2 Σ_c β_cj ∇(f_big - f_small)_c(z_j):
points follow what is left of the function. A quasi-Newton method does that for all of them at once (reduced set vectors:
C. J. C. Burges, Simplified support vector decision rules, ICML 1996). Terms that are merged or chosen are only where it begins.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._model.expansion import KernelExpansion

_Matrix = NDArray[np.float64]

_ITERATIONS = 200  # beyond, the distance falls by less than a hundredth per hundred of them
_PROGRESS = 1e-6  # in an iteration, relative: less is not worth another one
_WORK = 1e10  # kernel values times features, and what takes as long as so many: some ten seconds
_OTHER_COST = 8
_VALUES = 1 << 24  # kernel values that are held at once
_RIDGE = 1e-8  # of K, for points that fall together


def moved(
    sums: KernelExpansion,
    points: _Matrix,
    n_threads: int,
    *,
    keep_zeros: bool = False,
    tell: Callable[[float], None] = lambda _: None,
) -> _Matrix:
    """Return points whose span is nearer to sums of Gaussian terms, beginning with these; never farther from it.

    With `keep_zeros`, features that a point does not have stay away. `tell` hears which share of the work is done.
    """
    from scipy.optimize import minimize  # slow to import

    cost = len(sums) * len(points) * (points.shape[1] + len(sums.coef) + _OTHER_COST)
    iterations = min(_ITERATIONS, int(_WORK / cost))
    gain = _Gain(sums, points, n_threads, keep_zeros)
    begin = gain.places(points)
    least, _ = gain.negative(begin)
    if iterations == 0 or least == 0:
        return points
    done = count(1)
    with single_threaded_blas():
        found = minimize(
            lambda places: [part / -least for part in gain.negative(places)],
            begin,
            jac=True,
            method="L-BFGS-B",
            callback=lambda _: tell(next(done) / iterations),
            options={"maxiter": iterations, "maxfun": 2 * iterations, "ftol": _PROGRESS, "gtol": 0},
        )
    return gain.points(found.x) if found.fun < -1 else points


class _Gain:
    """What the projection on points has of ‖f_big‖², and how it changes with their places, in widths of the kernel."""

    def __init__(
        self, sums: KernelExpansion, points: _Matrix, n_threads: int, keep_zeros: bool
    ) -> None:
        self._sums, self._threads, self._shape = sums, n_threads, points.shape
        self._width = 1 / np.sqrt(float(sums.kernel.gamma))  # type: ignore[attr-defined]
        self._fixed = points == 0 if keep_zeros else None
        step = max(1, _VALUES // len(points))
        self._parts = [slice(i, i + step) for i in range(0, len(sums), step)]

    def places(self, points: _Matrix) -> _Matrix:
        """Return the places of points, in one row."""
        return np.asarray(points / self._width).ravel()

    def points(self, places: _Matrix) -> _Matrix:
        """Return points at places."""
        return np.asarray(places * self._width).reshape(self._shape)

    def negative(self, places: _Matrix) -> tuple[float, _Matrix]:
        """Return the negative gain, and its slopes."""
        points = self.points(places)
        terms = self._sums.with_points(points)
        held: Any = None
        values = np.zeros((len(self._sums.coef), len(points)))
        for part in self._parts:
            held = self._kernel_values(terms, part)
            values += self._sums.coef[:, part] @ held
        own = np.asarray(terms.kernel_values(points, self._threads), np.float64)
        own[np.diag_indices(len(own))] += _RIDGE
        beta = cho_solve(cho_factor(own), values.T).T
        own *= beta.T @ beta  # (points, points): how much each draws at each
        slopes = own @ points - own.sum(axis=1)[:, np.newaxis] * points
        for part in self._parts:
            kernel = held if len(self._parts) == 1 else self._kernel_values(terms, part)
            kernel *= self._sums.coef[:, part].T @ beta
            slopes -= kernel.T @ self._sums.points[part]
            slopes += kernel.sum(axis=0)[:, np.newaxis] * points
        slopes *= 4 / self._width
        if self._fixed is not None:
            slopes[self._fixed] = 0.0
        return -float((values * beta).sum()), slopes.ravel()

    def _kernel_values(self, terms: KernelExpansion, part: slice) -> _Matrix:
        return np.asarray(terms.kernel_values(self._sums.points[part], self._threads), np.float64)

"""The scales of features with the least error on rows held out: first one for all, then one for each."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from budgetsvm._estimators.relevance.held_out_error import HeldOutError
from budgetsvm._estimators.relevance.sample import Sample

_Array: TypeAlias = NDArray[np.float64]
_FOLDS = 4
_POINTS = 300
_STEPS = 10  # for the common scale and the ridge
_RIDGES = (-12.0, 8.0)  # logarithms
_RANGE = float(np.log(1000.0))  # of scales, above and below the common one
_CLOSE = 3e-5  # of the error: a step that gains less is the last
_UNIT = 1e-3  # of errors: the first step of L-BFGS is as long as the gradient


@dataclass(frozen=True)
class Effort:
    """How long to search."""

    most_steps: int
    deadline: float  #: of the clock `perf_counter`
    n_threads: int
    tell: Callable[[int], None]  #: hears the number of every step


def find_scales(sample: Sample, effort: Effort) -> tuple[_Array, int]:
    """Return the scales of all features, with a mean square of 1, and the number of steps."""
    edges = np.linspace(0, sample.n_learn, _FOLDS + 1).astype(int)
    parts = [sample.part(slice(*pair)) for pair in pairwise(edges)]
    points = sample.X[: min(_POINTS, sample.n_learn // 2)]
    search = _Search(HeldOutError(parts, points, effort.n_threads), sample, effort)
    logarithms = search.one_each(search.one_for_all())
    scales = np.exp(logarithms - logarithms.max())
    return scales / np.sqrt(np.mean(scales**2)), search.n_steps


class _Search:
    """Two minimisations of the same error, by a quasi-Newton method."""

    def __init__(self, error: HeldOutError, sample: Sample, effort: Effort) -> None:
        self._error, self._effort = error, effort
        self._n_features = sample.X.shape[1]
        # The logarithms of the scales are a priori normal, with a deviation of 1: beside the rows, each of which
        # may be wrong by the whole variance of the targets, this counts as one row for each feature.
        self._prior = self._n_features / sample.n_learn
        self.n_steps = 0

    def one_for_all(self) -> _Array:
        """Return the logarithms of the best common scale and, behind it, of the best ridge."""

        def value(x: _Array) -> tuple[float, _Array]:
            error, by_scales, by_ridge = self._error(np.full(self._n_features, x[0]), x[1])
            return error, np.array([by_scales.sum(), by_ridge])

        start = np.array([-0.5 * np.log(self._n_features), 0.0])
        bounds = [(start[0] - _RANGE, start[0] + _RANGE), _RIDGES]
        return self._minimum(value, start, bounds, _STEPS)

    def one_each(self, start: _Array) -> _Array:
        """Return the logarithms of the best scales of all features."""

        def value(x: _Array) -> tuple[float, _Array]:
            error, by_scales, by_ridge = self._error(x[:-1], x[-1])
            apart = x[:-1] - x[:-1].mean()
            error += 0.5 * self._prior * float((apart**2).mean())
            return error, np.append(by_scales + self._prior * apart / self._n_features, by_ridge)

        common, ridge = start
        first = np.append(np.full(self._n_features, common), ridge)
        bounds = [(common - _RANGE, common + _RANGE)] * self._n_features
        return self._minimum(value, first, [*bounds, _RIDGES], self._effort.most_steps)[:-1]

    def _minimum(
        self, value: Any, start: _Array, bounds: list[tuple[float, float]], most_steps: int
    ) -> _Array:
        def look(_: _Array) -> None:
            self.n_steps += 1
            self._effort.tell(self.n_steps)
            if perf_counter() > self._effort.deadline:
                raise StopIteration

        def in_units(x: _Array) -> tuple[float, _Array]:
            error, gradient = value(x)
            return error / _UNIT, gradient / _UNIT

        options = {"maxiter": most_steps, "ftol": _CLOSE, "gtol": _CLOSE}
        found = minimize(
            in_units,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=look,
            options=options,
        )
        return np.asarray(found.x)

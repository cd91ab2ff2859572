"""The primal and the dual objective of any model, exactly or estimated on a sample of the rows.

P(w̃) needs a kernel value for every row and term; D(α) one for every pair of rows with α ≠ 0, which soon
are too many. The sum over rows of an estimate then is made on some of them, drawn at random:

    ‖w(α)‖² = Σ_i a_i f(x_i) = s Σ_i a_i f̃(x_i) + Σ_i a_i (f - s f̃)(x_i),   a_i = α_i y_i,

f̃ being the budgeted model, whose values are cheap, and s the slope of f over f̃ in the sample. Where the two
go together, the second sum has small terms, and so has the error of estimating it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import points_of
from budgetsvm.monitoring._interface import TrainingData

_LEAST_ROWS = 100  # of a sample
_CHEAP = 4  # times the effort may go into values of the budgeted model


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error, which is zero if the number is exact."""

    value: float
    error: float = 0.0


UNKNOWN = Estimate(nan, nan)


class Objectives:
    """P and D on given training data; `effort` is the number of kernel values that one may take."""

    def __init__(self, data: TrainingData, effort: float, rng: np.random.Generator) -> None:
        self._data = data
        self._effort = effort
        self._rng = rng

    def primal(self, model: KernelExpansion) -> Estimate:
        """Return P(w̃) = ½‖w̃‖² + Σ_i C_i φ(u_i)."""
        wide = model.in_precision(np.float64)
        points, coef = wide.original_points(), model.coef

        def products(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
            values = replace(wide, bias=np.zeros(len(coef))).decision(points[chosen], self._threads)
            return np.asarray((coef.T[chosen] * values).sum(axis=1))

        def costs(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
            values = model.decision(self._rows(chosen), self._threads)
            return self._data.targets.some(chosen).costs(values)

        norm = self._sum(products, len(model), len(model))
        cost = self._sum(costs, len(self._data), len(model))
        bias = float(model.bias @ model.bias) if self._data.targets.bias_costs else 0.0
        value = 0.5 * (norm.value + bias) + cost.value
        return Estimate(value, sqrt((0.5 * norm.error) ** 2 + cost.error**2))

    def dual(self, alpha: NDArray[np.float64] | None, model: KernelExpansion) -> Estimate:
        """Return D(α), for a single output; `model` is near Σ_i α_i y_i k(x_i, ·), or not.

        With a bias, of the point near α that is feasible: phase 1 does not know that Σ_i α_i y_i should be zero.
        """
        if self._data.targets.count > 1 or alpha is None or len(alpha) != len(self._data):
            return UNKNOWN  # early stopping holds rows out, which have no α
        targets = self._data.targets.of_output(0)
        if self._data.intercept:
            alpha = targets.balanced(alpha, np.zeros(len(alpha)))
        weights = alpha * targets.y
        support = np.flatnonzero(weights)
        norm = self._squared_norm(support, weights[support], model)
        return Estimate(targets.gain(alpha) - 0.5 * norm.value, 0.5 * norm.error)

    def _squared_norm(
        self, support: NDArray[np.int64], weights: NDArray[np.float64], model: KernelExpansion
    ) -> Estimate:
        """Return ‖Σ_i a_i k(x_i, ·)‖² for some rows and their a."""
        n = len(support)
        whole = self._expansion(support, weights, model)
        small = replace(model, bias=np.zeros(1))
        sampled = n > self._most_rows(n)
        helpful = sampled and n * len(model) <= _CHEAP * self._effort

        cheap = small.decision(self._rows(support), self._threads)[:, 0] if helpful else np.zeros(n)
        slope = 0.0

        def products(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
            nonlocal slope
            values = (
                weights[chosen] * whole.decision(self._rows(support[chosen]), self._threads)[:, 0]
            )
            known = weights[chosen] * cheap[chosen]
            if helpful and np.ptp(known) > 0:
                slope = float(np.polyfit(known, values, 1)[0])
            return np.asarray(values - slope * known)

        rest = self._sum(products, n, n)
        return Estimate(rest.value + slope * float(weights @ cheap), rest.error)

    def departure(self, alpha: NDArray[np.float64] | None, model: KernelExpansion) -> Estimate:
        """Return Σ_i (f̃ - f)(x_i)² over all rows, f = Σ_j α_j y_j k(x_j, ·); a bias is left out.

        Half of its mean is what a visit of BSCA may lose to the budget on average (docs/theory.md).
        """
        if self._data.targets.count > 1 or alpha is None or len(alpha) != len(self._data):
            return UNKNOWN
        weights = alpha * self._data.targets.of_output(0).y
        support = np.flatnonzero(weights)
        whole = self._expansion(support, weights[support], model)
        small = replace(model, bias=np.zeros(1))

        def squares(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
            rows = self._rows(chosen)
            values = [m.decision(rows, self._threads)[:, 0] for m in (small, whole)]
            return np.asarray((values[0] - values[1]) ** 2)

        return self._sum(squares, len(self._data), len(support) + len(model))

    def _expansion(
        self, support: NDArray[np.int64], weights: NDArray[np.float64], model: KernelExpansion
    ) -> KernelExpansion:
        """Return Σ_i a_i k(x_i, ·) over some rows, with the kernel of a model."""
        points = points_of(self._data.rows, support)
        return replace(model, points=points, coef=weights[np.newaxis], bias=np.zeros(1))

    def _sum(
        self, parts: Callable[[NDArray[np.int64]], NDArray[np.float64]], n: int, terms: int
    ) -> Estimate:
        """Return the sum of n numbers, each of which takes so many kernel values."""
        m = min(n, self._most_rows(terms))
        if m == n:
            return Estimate(float(parts(np.arange(n)).sum()))
        some = parts(np.sort(self._rng.choice(n, m, replace=False)))
        error = n * float(some.std(ddof=1)) / sqrt(m) * sqrt(1 - m / n)
        return Estimate(n * float(some.mean()), error)

    def _most_rows(self, terms: int) -> int:
        return max(_LEAST_ROWS, int(self._effort // max(1, terms)))

    def _rows(self, chosen: NDArray[np.int64]) -> Any:
        return self._data.rows.given(chosen)

    @property
    def _threads(self) -> int:
        return self._data.n_threads

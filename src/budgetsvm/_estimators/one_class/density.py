"""What a one-class machine is made of: its loss, the level of its scores, their quantiles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import points_of, sparse_pays
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.kernels import Kernel

_SAMPLE = 2000  # rows for a first estimate of the density
_LEAST_LEVEL = 1e-3  # of the largest score
_ROUNDING = 1e-9  # of a sum of weights
_BELOW_ALL = 1e-6  # of the largest score, where no row is to be an outlier


class DensityTarget(SingleTarget):
    """All rows are to have a value of 1 at least."""

    def score(self, values: NDArray[np.float64]) -> float:
        """Return the mean loss, negative: all signs are correct from the start."""
        return -float(np.average(self.loss.value(self.slack(values[:, 0])), weights=self.box))


def typical_level(
    X: Any, weights: NDArray[np.float64], kernel: Kernel, nu: float, rng: np.random.Generator
) -> float:
    """Estimate ρ per row, from the scores of a model in which all rows have the same share.

    Such a model is a kernel density estimate; α = ν for all rows is where the optimum is for ν = 1,
    and not far from it where the kernel is wide.
    """
    chosen = np.sort(rng.choice(X.shape[0], min(_SAMPLE, X.shape[0]), replace=False))
    some, shares = X[chosen], weights[chosen] / weights[chosen].sum()
    rows = Rows(some, np.float64, None, sparse_pays(some, kernel))
    points = points_of(rows, np.arange(len(chosen)))
    density = KernelExpansion(kernel, points, shares[np.newaxis], np.zeros(1), None)
    scores = density.decision(some)[:, 0]
    # Kernels that are not radial have scores below zero, or none at all: then any level is as good.
    largest = float(abs(scores).max())
    level = max(float(np.quantile(scores, nu)), _LEAST_LEVEL * largest)
    return nu * (level if np.isfinite(level) and level > 0 else 1.0)


def weighted_quantile(
    values: NDArray[np.float64], weights: NDArray[np.float64], share: float
) -> float:
    """Return a value below which this share of the weight lies: halfway between two, so that rounding puts none below."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) - weights[order]
    # Of equal weights, a whole number of them may lie below: what rounding makes of sums does not count.
    first = int(np.searchsorted(below, (1 - _ROUNDING) * share * weights.sum()))
    above = float(values[order[min(first, len(order) - 1)]])
    lower = values[values < above]
    next_below = lower.max() if len(lower) else above - _BELOW_ALL * abs(values).max()
    return 0.5 * (above + float(next_below))

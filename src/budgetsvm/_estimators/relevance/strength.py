"""How far to go with scales that were found: rows that were not used to find them decide.

Scales help a machine with few points more than one with many, and scales that are too bold cost most. So the rows judge
weaker versions of them as well, each with its own width and ridge, and by the number that users look at.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.threads import map_in_order
from budgetsvm._estimators.relevance.held_out_error import HeldOutError
from budgetsvm._estimators.relevance.sample import Sample

_Array: TypeAlias = NDArray[np.float64]
STRENGTHS = (0.0, 0.5, 1.0)  #: powers of the scales
_POINTS = 500
_WIDTHS = (0.25, 1.0, 4.0, 16.0)  # gamma, beside that of gamma="scale"
_RIDGES = (0.01, 0.1, 1.0)


def strengthened(scales: _Array, strength: float) -> _Array:
    """Return a power of scales, with a mean square of 1."""
    powers = scales**strength
    return np.asarray(powers / np.sqrt(np.mean(powers**2)))


def choose_strength(sample: Sample, scales: _Array, n_threads: int) -> tuple[float, _Array]:
    """Return the smallest strength that is not worse than the best by a standard error, and the losses of all."""
    part = sample.part(sample.learn)
    error = HeldOutError([part], part.X[:_POINTS], n_threads=1)
    cells = [(strength, width) for strength in STRENGTHS for width in _WIDTHS]

    def judge(cell: tuple[float, float]) -> list[_Array]:
        strength, width = cell
        return _losses(error, sample, strengthened(scales, strength), width)

    found = dict(zip(cells, map_in_order(judge, cells, n_threads), strict=True))
    weights = sample.weights[sample.judge] / sample.weights[sample.judge].sum()
    best = [
        min(
            (losses for width in _WIDTHS for losses in found[strength, width]),
            key=lambda losses: float(weights @ losses),
        )
        for strength in STRENGTHS
    ]
    means = np.array([float(weights @ losses) for losses in best])
    first = int(np.argmin(means))
    for i in range(len(STRENGTHS)):
        apart = best[i] - best[first] - (means[i] - means[first])
        if means[i] - means[first] <= np.sqrt(weights**2 @ apart**2):
            return STRENGTHS[i], means
    raise AssertionError("the best one is not worse than itself")


def _losses(error: HeldOutError, sample: Sample, scales: _Array, width: float) -> list[_Array]:
    """Return the losses of the rows that judge, for every ridge."""
    # Features have a variance of 1, or less where they are sparse: so has the kernel's the width that users get.
    logarithms = np.log(scales) + 0.5 * np.log(width / len(scales))
    judges = sample.aims.part(sample.judge)
    values = error.predict(sample.X[sample.judge], logarithms, error.fit(logarithms, _RIDGES))
    return [judges.losses(one) for one in values]

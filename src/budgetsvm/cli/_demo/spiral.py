"""A made-up problem of two classes in the plane, whose best possible rule is known."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_TURNS = 2.5  # of each arm, from the centre to the rim
_CERTAINTY = 8.0  # log odds of the label on the middle of an arm


class Sample(NamedTuple):
    """Rows of the problem."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    best: NDArray[np.int64]  #: the likelier label of each row: nothing predicts better

    def head(self, size: int) -> "Sample":
        """Return the first rows."""
        return Sample(self.X[:size], self.y[:size], self.best[:size])


def make_spiral(rows: int, rng: np.random.Generator) -> Sample:
    """Draw rows evenly from the unit disk, with labels that follow two interleaved spiral arms.

    The probability of a label is a function of the place, so the best possible rule is known. Turning
    the plane by half a turn swaps the labels: the problem does not need a bias.
    """
    radius = np.sqrt(rng.random(rows))
    angle = 2 * np.pi * rng.random(rows)
    log_odds = _CERTAINTY * np.cos(angle - 2 * np.pi * _TURNS * radius)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y = (rng.logistic(size=rows) < log_odds).astype(np.int64)
    return Sample(X, y, (log_odds > 0).astype(np.int64))

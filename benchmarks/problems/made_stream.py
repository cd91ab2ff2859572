"""A stream of labelled rows that is made while it is read: of any length, and nothing is held."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

FEATURES = 10
GAMMA = 0.1
_WAVES, _FREQUENCY = 20, 0.45
_FLIPPED = 0.05  # so 95 % is the best possible accuracy
_SEED = 0


def blocks(n: int, rows_per_block: int, seed: int = 0) -> Iterator[tuple[Array, Array]]:
    """Yield n standard normal rows with labels ±1, in blocks.

    The label is the sign of a sum of random waves, the same for all seeds; a twentieth is wrong.
    """
    waves = np.random.default_rng(_SEED)
    directions = _FREQUENCY * waves.standard_normal((FEATURES, _WAVES))
    phases, heights = 2 * np.pi * waves.random(_WAVES), waves.standard_normal(_WAVES)
    for number, start in enumerate(range(0, n, rows_per_block)):
        rng = np.random.default_rng([_SEED, seed, number])
        X = rng.standard_normal((min(rows_per_block, n - start), FEATURES))
        surface = np.cos(X @ directions + phases) @ heights
        wrong = rng.random(len(X)) < _FLIPPED
        yield X, np.where((surface > 0) ^ wrong, 1.0, -1.0)


def held(n: int, rows_per_block: int, seed: int = 0) -> tuple[Array, Array]:
    """Return the same rows at once."""
    X, y = np.empty((n, FEATURES)), np.empty(n)
    start = 0
    for rows, labels in blocks(n, rows_per_block, seed):
        part = slice(start, start + len(labels))
        X[part], y[part] = rows, labels
        start = part.stop
    return X, y

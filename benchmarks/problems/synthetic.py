"""Data of any size that pose the same problem whatever the number of rows or features."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

GAMMA = 0.5
_LATENT = 5
_FLIPPED = 0.05
_CHUNK = 100_000
_SEED = 0


def make(n: int, d: int) -> tuple[Array, Array]:
    """Return n rows with d ≥ 5 features, and labels ±1.

    Five standard normal variables, turned into d dimensions without changing distances, so that kernel
    values do not depend on d. The classes are separated by a smooth surface; a twentieth of the labels
    is wrong. Made in chunks, so that making them takes no memory to speak of.
    """
    turn_rng, rng = (np.random.default_rng([_SEED, stream]) for stream in range(2))
    turn = np.linalg.qr(turn_rng.standard_normal((d, _LATENT)))[0].T
    X, y = np.empty((n, d)), np.empty(n)
    for start in range(0, n, _CHUNK):
        part = slice(start, min(start + _CHUNK, n))
        latent = rng.standard_normal((part.stop - start, _LATENT))
        np.matmul(latent, turn, out=X[part])
        y[part] = _labels(latent, rng)
    return X, y


def _labels(latent: Array, rng: np.random.Generator) -> Array:
    a, b, c, d, e = latent.T
    surface = np.sin(2 * a) + b * c + 0.5 * d * d - 0.5 * e - 0.5
    wrong = rng.random(len(latent)) < _FLIPPED
    return np.where((surface > 0) ^ wrong, 1.0, -1.0)

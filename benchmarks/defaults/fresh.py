"""Data sets made up for judging the default budget, after the rule for it was fixed; nothing was changed for them."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

Table: TypeAlias = tuple[Any, Any]
_Matrix: TypeAlias = NDArray[np.float64]


def _normal(rows: int, features: int, seed: int) -> tuple[_Matrix, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, features)), rng


def _flipped(y: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Return labels 0 and 1, some of which are wrong."""
    return np.where(rng.random(len(y)) < share, 1 - y, y)


def checkerboard(rows: int, features: int) -> Table:
    """Return the colour of a field in two features, a tenth of them wrong; the others mean nothing."""
    rng = np.random.default_rng(21)
    X = rng.uniform(0, 4, (rows, features))
    y = np.floor(X[:, :2]).sum(axis=1).astype(int) % 2
    return X, _flipped(y, 0.1, rng)


def three_signs(rows: int, features: int) -> Table:
    """Return the sign of a product of three features."""
    X, rng = _normal(rows, features, 22)
    return X, _flipped((X[:, :3].prod(axis=1) > 0).astype(int), 0.05, rng)


def rings(rows: int, features: int) -> Table:
    """Return which of four rings two features are in; the others mean nothing."""
    X, rng = _normal(rows, features, 23)
    radius = np.hypot(X[:, 0], X[:, 1]) + 0.1 * rng.standard_normal(rows)
    return X, np.digitize(radius, [0.6, 1.2, 1.8])


def uneven_noise(rows: int, features: int) -> Table:
    """Return a parabola whose noise depends on another feature."""
    X, rng = _normal(rows, features, 24)
    return X, X[:, 0] ** 2 + abs(X[:, 1]) * rng.standard_normal(rows)


def bins(rows: int, features: int) -> Table:
    """Return in which fifth an oscillating function of three features is, with noise."""
    X, rng = _normal(rows, features, 25)
    value = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(rows)
    return X, np.digitize(value, np.quantile(value, [0.2, 0.4, 0.6, 0.8]))


def heavy_tails(rows: int, features: int) -> Table:
    """Return an additive function of features with heavy tails."""
    rng = np.random.default_rng(26)
    X = rng.standard_t(3, (rows, features))
    return X, np.tanh(X[:, :4]).sum(axis=1) + 0.5 * rng.standard_normal(rows)


def with_noise(make: Callable[[], Table], features: int, seed: int) -> Table:
    """Return other data with features that mean nothing."""
    X, y = make()
    noise = np.random.default_rng(seed).standard_normal((len(y), features))
    return np.hstack([X, X.std() * noise]), y


def _made(name: str, *sizes: int, seed: int, **how: Any) -> Callable[[], Table]:
    return partial(getattr(datasets, f"make_{name}"), *sizes, random_state=seed, **how)


#: Names, how they are made, and whether that is regression.
FRESH: tuple[tuple[str, Callable[[], Table], bool], ...] = (
    ("checkerboard", partial(checkerboard, 9000, 5), False),
    ("three signs", partial(three_signs, 7000, 10), False),
    ("rings", partial(rings, 16_000, 6), False),
    ("bins", partial(bins, 12_000, 8), False),
    (
        "2 of 40",
        _made("classification", 12_000, 40, seed=11, n_informative=20, flip_y=0.1),
        False,
    ),
    (
        "8 of 12",
        _made("classification", 18_000, 12, seed=5, n_informative=9, n_classes=8, class_sep=0.7),
        False,
    ),
    ("30 blobs", _made("blobs", 9000, 12, seed=3, centers=30, cluster_std=5.0), False),
    ("friedman1 of 40", _made("friedman1", 9000, 40, seed=7, noise=2.0), True),
    (
        "friedman3 of 12",
        partial(with_noise, _made("friedman3", 15_000, seed=8, noise=0.2), 8, 9),
        True,
    ),
    ("linear of 30", _made("regression", 15_000, 30, seed=2, n_informative=10, noise=50.0), True),
    ("uneven noise", partial(uneven_noise, 3000, 5), True),
    ("heavy tails", partial(heavy_tails, 8000, 12), True),
)

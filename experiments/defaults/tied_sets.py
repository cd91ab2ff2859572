"""Data sets of several classes, made up for the comparison of rules for ties; none was looked at before that, and all are here."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from budgetsvm.datasets import load

Table: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
_SEGMENTS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"


def digits_of_segments(rows: int, seed: int, more: int) -> Table:
    """Return digits on a display, a tenth of whose segments are wrong, and bits that mean nothing (Breiman et al. 1984)."""
    rng = np.random.default_rng(seed)
    shown = np.array([[int(bit) for bit in digit] for digit in _SEGMENTS.split()])
    y = rng.integers(10, size=rows)
    X = shown[y] ^ (rng.random((rows, 7)) < 0.1)
    return np.hstack([X, rng.integers(2, size=(rows, more))]).astype(float), y


def waveform(rows: int, seed: int) -> Table:
    """Return mixtures of two of three triangular waves, with noise (Breiman et al. 1984)."""
    rng, t = np.random.default_rng(seed), np.arange(1, 22)
    waves = np.array([np.maximum(6 - abs(t - centre), 0) for centre in (7, 15, 11)])
    y, u = rng.integers(3, size=rows), rng.random((rows, 1))
    one, other = np.array([0, 0, 1])[y], np.array([1, 2, 2])[y]
    return u * waves[one] + (1 - u) * waves[other] + rng.standard_normal((rows, 21)), y


def spirals(rows: int, classes: int, seed: int, noise: float) -> Table:
    """Return arms of a spiral."""
    rng = np.random.default_rng(seed)
    y, r = rng.integers(classes, size=rows), rng.random(rows) * 4 + 0.3
    angle = r * 1.5 + 2 * np.pi * y / classes
    X = np.column_stack([r * np.cos(angle), r * np.sin(angle)])
    return X + noise * rng.standard_normal((rows, 2)), y


def linear(rows: int, features: int, classes: int, seed: int) -> Table:
    """Return which of some linear functions is the largest, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features))
    W = rng.standard_normal((features, classes)) / np.sqrt(features)
    return X, (X @ W + rng.gumbel(size=(rows, classes)) / 2).argmax(axis=1)


def voronoi(rows: int, features: int, classes: int, seed: int) -> Table:
    """Return the classes of the nearest of four points of each, a tenth of them at random."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (rows, features))
    points = rng.uniform(-1, 1, (4 * classes, features))
    y = ((X[:, np.newaxis] - points) ** 2).sum(axis=2).argmin(axis=1) % classes
    return X, np.where(rng.random(rows) < 0.1, rng.integers(classes, size=rows), y)


def three_signs(rows: int, features: int, seed: int) -> Table:
    """Return the signs of three features with noise, a tenth of them at random."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features))
    y = ((X[:, :3] + 0.5 * rng.standard_normal((rows, 3)) > 0) @ [1, 2, 4]).astype(int)
    return X, np.where(rng.random(rows) < 0.1, rng.integers(8, size=rows), y)


def counts(rows: int, features: int, classes: int, seed: int) -> Table:
    """Return counts of words, of which each class has its own."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.ones(features) * 0.3, size=classes) * 30
    y = rng.integers(classes, size=rows)
    return rng.poisson(rates[y] * rng.gamma(2, 0.5, (rows, 1))).astype(float), y


def skewed(rows: int, features: int, classes: int, seed: int) -> Table:
    """Return classes of very different sizes, with heavy tails."""
    rng = np.random.default_rng(seed)
    sizes = rng.permutation(0.6 ** np.arange(classes))
    y = rng.choice(classes, rows, p=sizes / sizes.sum())
    means = rng.standard_normal((classes, features))
    return means[y] + rng.standard_t(4, (rows, features)), y


def bins(rows: int, classes: int, seed: int) -> Table:
    """Return in which of some parts of its range a function is, with noise."""
    X, values = datasets.make_friedman1(rows, 10, noise=2.0, random_state=seed)
    return X, np.digitize(values, np.quantile(values, np.arange(1, classes) / classes))


def covariances(rows: int, seed: int) -> Table:
    """Return six Gaussians whose centres are near each other, of different shapes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(6, size=rows)
    shapes = rng.standard_normal((6, 12, 12)) / np.sqrt(12)
    X = np.einsum("nij,nj->ni", shapes[y], rng.standard_normal((rows, 12)))
    return X + 0.3 * rng.standard_normal((6, 12))[y], y


def some(read: Callable[[], Table], rows: int, seed: int) -> Table:
    """Return a few rows of other data."""
    X, y = read()
    chosen = np.random.default_rng(seed).choice(len(y), rows, replace=False)
    return X[chosen], y[chosen]


def _named(name: str) -> Table:
    data = load(name)
    X, y = data.X, data.y
    return (X.toarray() if hasattr(X, "toarray") else X), y


def _ages() -> Table:
    X, y = _named("abalone")
    return X, np.clip(np.round(y), 4, 18).astype(int)


def _made(name: str, seed: int, **how: Any) -> Callable[[], Table]:
    return partial(getattr(datasets, f"make_{name}"), random_state=seed, **how)


def _classes(
    rows: int, features: int, informative: int, classes: int, seed: int, **how: Any
) -> Any:
    sizes = {"n_samples": rows, "n_features": features, "n_informative": informative}
    return _made("classification", seed, n_classes=classes, **sizes, **how)


SETS: dict[str, Callable[[], Table]] = {
    "LED 24": partial(digits_of_segments, 3000, 101, 17),
    "LED 7": partial(digits_of_segments, 1000, 102, 0),
    "waveform": partial(waveform, 5000, 103),
    "3 spirals": partial(spirals, 2000, 3, 104, 0.3),
    "7 spirals": partial(spirals, 4000, 7, 105, 0.2),
    "linear, 6": partial(linear, 4000, 15, 6, 106),
    "linear, 12": partial(linear, 6000, 30, 12, 107),
    "voronoi, 4": partial(voronoi, 3000, 3, 4, 108),
    "voronoi, 9": partial(voronoi, 5000, 4, 9, 109),
    "3 signs, 8": partial(three_signs, 4000, 8, 110),
    "counts, 15": partial(counts, 3000, 40, 15, 111),
    "skewed, 10": partial(skewed, 5000, 10, 10, 112),
    "skewed, 25": partial(skewed, 8000, 12, 25, 113),
    "quantiles, 6": _made("gaussian_quantiles", 114, n_samples=4000, n_features=6, n_classes=6),
    "friedman1, 8 bins": partial(bins, 5000, 8, 115),
    "covariances, 6": partial(covariances, 4000, 116),
    "blobs, 12": _made("blobs", 117, n_samples=3000, n_features=5, centers=12, cluster_std=4.0),
    "blobs, 50": _made("blobs", 118, n_samples=5000, n_features=10, centers=50, cluster_std=5.0),
    "classification, 6": _classes(2000, 25, 8, 6, 119, flip_y=0.15),
    "classification, 12": _classes(5000, 20, 12, 12, 120, n_clusters_per_class=1, class_sep=0.6),
    "classification, 5": _classes(300, 20, 8, 5, 121),
    "digits, 300": partial(some, partial(datasets.load_digits, return_X_y=True), 300, 122),
    "letter, 2600": partial(some, partial(_named, "letter"), 2600, 123),
    "usps, 1000": partial(some, partial(_named, "usps-esl"), 1000, 124),
    "satimage, 600": partial(some, partial(_named, "satimage"), 600, 125),
    "fashion, 1000": partial(some, partial(_named, "fashion-mnist-10k"), 1000, 126),
    "abalone, 15": _ages,
}

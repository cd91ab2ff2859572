"""Data sets of two classes and of many, standardised, at most some thousand rows."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as made
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from budgetsvm.datasets import load

_MOST_ROWS, _MOST_TESTS = 8000, 8000


class Split(NamedTuple):
    """Rows to train on and to test on."""

    X: NDArray[np.float64]
    T: NDArray[np.float64]
    y: NDArray[Any]
    t: NDArray[Any]


def prepared(X: Any, T: Any, y: Any, t: Any, most: int = _MOST_ROWS) -> Split:
    """Standardise the features, after rows beyond `most` are left out, at random."""
    rng = np.random.default_rng(0)
    train, test = (
        np.sort(rng.permutation(len(labels))[:count])
        for labels, count in ((y, most), (t, _MOST_TESTS))
    )
    X, T = (
        np.asarray(A.toarray() if hasattr(A, "toarray") else A, float) for A in (X[train], T[test])
    )
    scaler = StandardScaler().fit(X)
    return Split(scaler.transform(X), scaler.transform(T), y[train], t[test])


def halved(X: Any, y: Any, share: float = 0.5) -> Split:
    """Split rows that are all at hand, class by class if there are enough of each."""
    stratify = y if np.unique(y, return_counts=True)[1].min() > 1 else None
    X, T, y, t = train_test_split(X, y, test_size=share, random_state=0, stratify=stratify)
    return prepared(X, T, y, t)


def named(name: str, relabel: Callable[[Any], Any] | None = None, most: int = _MOST_ROWS) -> Split:
    """Return a data set of the catalogue, with other labels if they are to be two."""
    data = load(name)
    y, t = (labels if relabel is None else relabel(labels) for labels in (data.y, data.y_test))
    return prepared(data.X, data.X_test, y, t, most)


def imbalanced() -> Split:
    """Seven classes of very different sizes, as those of NASA's shuttle are: 79 % down to 0.04 %."""
    rng, shares = np.random.default_rng(0), np.array([786, 2, 3, 155, 53, 0.6, 0.4])
    y = rng.choice(7, 12_000, p=shares / shares.sum())
    spread = 0.6 + 0.3 * (y == 0)[:, np.newaxis]
    X = 1.2 * rng.standard_normal((7, 9))[y] + spread * rng.standard_normal((len(y), 9))
    return halved(X, y, 0.4)


def hundred() -> Split:
    """A hundred overlapping classes."""
    return halved(*made.make_blobs(10_000, 12, centers=100, cluster_std=3.0, random_state=0), 0.3)


def rare(weight: float) -> Split:
    """Two classes, one of them rare."""
    options: dict[str, Any] = {"n_informative": 6, "class_sep": 1.0, "flip_y": 0.02}
    X, y = made.make_classification(6000, 12, weights=[1 - weight], random_state=0, **options)
    return halved(X, y)


TWO: dict[str, Callable[[], Split]] = {
    "adult": partial(named, "adult"),
    "ijcnn": partial(named, "ijcnn"),
    "cod-rna": partial(named, "cod-rna"),
    "covtype": partial(named, "covtype"),
    "susy": partial(named, "susy"),
    "mushrooms": partial(named, "mushrooms"),
    "letter A-M": partial(named, "letter", lambda y: y <= 13),
    "usps 0-4": partial(named, "usps-esl", lambda y: y <= 5),
    "satimage 1": partial(named, "satimage", lambda y: y == 1),
    "pendigits odd": partial(named, "pendigits", lambda y: y % 2),
    "breast cancer": lambda: halved(*made.load_breast_cancer(return_X_y=True)),
    "moons": lambda: halved(*made.make_moons(2000, noise=0.3, random_state=0)),
    "circles": lambda: halved(*made.make_circles(2000, noise=0.2, factor=0.5, random_state=0)),
    "hastie": lambda: halved(*made.make_hastie_10_2(4000, random_state=0)),
    "1 in 10": partial(rare, 0.1),
    "1 in 50": partial(rare, 0.02),
}
MANY: dict[str, Callable[[], Split]] = {
    "letter": partial(named, "letter", None, 15_000),
    "pendigits": partial(named, "pendigits"),
    "satimage": partial(named, "satimage"),
    "usps": partial(named, "usps-esl"),
    "fashion": partial(named, "fashion-mnist-10k", None, 6000),
    "digits": lambda: halved(*made.load_digits(return_X_y=True), 0.4),
    "nested": lambda: halved(
        *made.make_gaussian_quantiles(n_samples=2000, n_features=5, n_classes=3, random_state=0)
    ),
    "imbalanced": imbalanced,
    "hundred": hundred,
}
GRID: dict[str, Callable[[], Split]] = {
    "circles": lambda: halved(*made.make_circles(600, noise=0.2, factor=0.5, random_state=0)),
    "moons": lambda: halved(*made.make_moons(600, noise=0.3, random_state=0)),
    "digits": lambda: halved(*made.load_digits(return_X_y=True)),
}

"""Data sets as newcomers have them, some hundred to twenty thousand rows: bundled with scikit-learn, files, made up.

Most of them were looked at when defaults were chosen, among these what C stands for in a span: they say nothing about other
data. `LATER` are made up and were added afterwards: they were chosen before their figures were known, and all of them are here;
but the default budget was chosen with them at hand, and `FRESH` (fresh.py) were made up after that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn import datasets

from benchmarks.defaults.fresh import FRESH
from benchmarks.problems.data_sets import Spec, load, missing_files

Table: TypeAlias = tuple[Any, Any]
_MOST_ROWS = 20_000


@dataclass(frozen=True)
class DataSet:
    """A table by name; `read` makes it."""

    name: str
    read: Callable[[], Table]
    regression: bool = False


@dataclass(frozen=True)
class FileSet:
    """A table of the catalogue: some of its rows at random, if there are more than `most`."""

    name: str
    most: int = _MOST_ROWS
    regression: bool = False

    def missing(self, folder: Path | None) -> list[str]:
        """Return which files are not at hand."""
        spec = Spec.of(self.name)
        if folder is None:
            return [file.name for file in spec.entry.files]
        return missing_files(folder, spec)

    def of(self, folder: Path) -> DataSet:
        """Return it, to be read from a folder."""
        return DataSet(self.name, partial(self._read, folder), self.regression)

    def _read(self, folder: Path) -> Table:
        whole = load(folder, Spec.of(self.name, scaling="none"))
        X, y = np.vstack([whole.X, whole.X_test]), np.concatenate([whole.y, whole.y_test])
        if len(y) <= self.most:
            return X, y
        some = np.random.default_rng(0).choice(len(y), self.most, replace=False)
        return X[some], y[some]


def _bundled(name: str) -> Callable[[], Table]:
    return partial(getattr(datasets, f"load_{name}"), return_X_y=True)


def _made(name: str, *sizes: int, **how: Any) -> Callable[[], Table]:
    return partial(getattr(datasets, f"make_{name}"), *sizes, random_state=0, **how)


def nested(rows: int, features: int) -> Table:
    """Return two classes around the same centre, one spread out twice as much as the other."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=rows)
    return rng.standard_normal((rows, features)) * (1 + y[:, np.newaxis]), y


def sine(rows: int, features: int) -> Table:
    """Return a product of two features that oscillates, a linear part, noise, and features that mean nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    noise = 0.3 * rng.standard_normal(rows)
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] + noise


BUNDLED = (
    DataSet("iris", _bundled("iris")),
    DataSet("wine", _bundled("wine")),
    DataSet("breast cancer", _bundled("breast_cancer")),
    DataSet("digits", _bundled("digits")),
    DataSet("diabetes", _bundled("diabetes"), regression=True),
)
MADE = (
    DataSet("moons", _made("moons", 1000, noise=0.3)),
    DataSet("circles", _made("circles", 2000, noise=0.2, factor=0.5)),
    DataSet("nested Gaussians", partial(nested, 4000, 10)),
    DataSet(
        "quantiles, 3", _made("gaussian_quantiles", n_samples=3000, n_features=10, n_classes=3)
    ),
    DataSet("rare class", _made("classification", 5000, 20, n_informative=6, weights=[0.95])),
    DataSet("2 classes", _made("classification", 10_000, 20, n_informative=8, flip_y=0.05)),
    DataSet(
        "5 classes, rare",
        _made(
            "classification", 6000, 20, n_informative=10, n_classes=5, weights=[0.6, 0.2, 0.1, 0.06]
        ),
    ),
    DataSet(
        "10 classes",
        _made("classification", 5000, 20, n_informative=10, n_classes=10, n_clusters_per_class=1),
    ),
    DataSet(
        "100 classes",
        _made("blobs", 15_000, 10, centers=100, cluster_std=3.0),
    ),
    DataSet("friedman1", _made("friedman1", 2000, noise=1.0), regression=True),
    DataSet("friedman2", _made("friedman2", 5000, noise=100.0), regression=True),
    DataSet("friedman3", _made("friedman3", 10_000, noise=0.1), regression=True),
)
LATER = (
    DataSet("hastie", _made("hastie_10_2", 6000)),
    *(
        DataSet(
            f"{classes} of {features}",
            _made(
                "classification",
                6000,
                features,
                n_informative=informative,
                n_classes=classes,
                n_clusters_per_class=clusters,
                flip_y=0.03,
            ),
        )
        for classes, features, informative, clusters in (
            (4, 30, 12, 2),
            (7, 15, 10, 1),
            (15, 25, 15, 1),
        )
    ),
    DataSet("20 blobs", _made("blobs", 6000, 8, centers=20, cluster_std=4.0)),
    DataSet("friedman1 of 20", _made("friedman1", 5000, 20, noise=1.0), regression=True),
    DataSet("sine", partial(sine, 5000, 15), regression=True),
)
FILES = (
    FileSet("satimage"),
    FileSet("usps-esl"),
    FileSet("pendigits"),
    FileSet("fashion-mnist-10k", 5000),
    FileSet("letter"),
    FileSet("mushrooms"),
    FileSet("adult", 10_000),
    FileSet("covtype", 10_000),
    FileSet("susy", 10_000),
    FileSet("cod-rna"),
    FileSet("ijcnn"),
    FileSet("abalone", regression=True),
    FileSet("cpusmall", regression=True),
    FileSet("cadata", regression=True),
)


def all_sets(folder: Path | None, tell_missing: Callable[[str], None]) -> Iterator[DataSet]:
    """Return all data sets that are at hand; the others are told of."""
    yield from BUNDLED
    yield from MADE
    yield from LATER
    yield from (DataSet(*each) for each in FRESH)
    for each in FILES:
        if files := each.missing(folder):
            tell_missing(f"{each.name} ({', '.join(files)})")
        else:
            assert folder is not None
            yield each.of(folder)

"""Five small data sets for a whole grid of hyper-parameters; all of them come with scikit-learn."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_circles,
    make_classification,
    make_moons,
)
from sklearn.preprocessing import StandardScaler

_MOST_TEST_ROWS = 900


@dataclass(frozen=True, eq=False)
class GridProblem:
    """Training and test rows, and a budget that should be ample."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    budget: int

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return len(np.unique(self.y))


def grid_problems() -> Iterator[GridProblem]:
    """Return the data sets; the budget is at least the number of rows in all but one."""
    yield _split("moons", *make_moons(1600, noise=0.2, random_state=0), rows=700, budget=300)
    circles = make_circles(1400, noise=0.05, factor=0.6, random_state=0)
    yield _split("circles", *circles, rows=500, budget=500)
    yield _split("breast cancer", *load_breast_cancer(return_X_y=True), rows=400, budget=500)
    flipped = make_classification(1400, 10, n_informative=5, flip_y=0.2, random_state=0)
    yield _split("flipped labels", *flipped, rows=500, budget=500)
    yield _split("digits", *load_digits(return_X_y=True), rows=500, budget=500)


def _split(name: str, X: Any, y: Any, rows: int, budget: int) -> GridProblem:
    """Standardise, and take random rows for training."""
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:rows], order[rows:][:_MOST_TEST_ROWS]
    scaler = StandardScaler().fit(X[train])
    parts = scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
    return GridProblem(name, *parts, budget)

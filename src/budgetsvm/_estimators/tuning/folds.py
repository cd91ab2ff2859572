"""The folds of a fit that tunes: as many as its rows allow for."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

_MOST, _FEWEST = 5, 2
_LEAST_ROWS = 2  # of a fold, for R² to be a number

_Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Folds:
    """Folds of rows in no order, always the same: files are often sorted, and new rows are of all kinds.

    There are none where a fold would leave nothing to learn from, or nothing to say.
    """

    classifies: bool
    sample_weight: Any  #: a row of weight 0 is in no fold

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[_Rows, _Rows]]:  # noqa: ARG002
        """Yield training rows and rows held out."""
        y = np.asarray(y)
        rows = np.arange(len(y))
        if self.sample_weight is not None:
            rows = rows[np.asarray(self.sample_weight) > 0]
        n_folds = min(_MOST, self._most_folds(y[rows]))
        if n_folds < _FEWEST:
            return
        kind = StratifiedKFold if self.classifies else KFold
        folds = kind(n_folds, shuffle=True, random_state=0).split(rows, y[rows])
        with warnings.catch_warnings():  # a class that is rarer still is in some of the folds only
            warnings.filterwarnings(
                "ignore", message="The least populated class", category=UserWarning
            )
            parts = list(folds)
        for train, test in parts:
            yield rows[train], rows[test]

    def _most_folds(self, y: NDArray[Any]) -> int:
        """Return how many folds leave two classes for training, or have enough rows each."""
        if not self.classifies:
            return len(y) // _LEAST_ROWS
        counts = np.unique(y, return_counts=True)[1]
        return int(np.sort(counts)[-2])

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return how many there are, as splitters do."""
        return len(list(self.split(X, y, groups)))

"""A word about features that were not scaled: one whose spread dwarfs all others makes up every distance alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.saying import say
from budgetsvm.kernels import Kernel

_SAMPLE = 1000  # rows to look at
_DWARFS = 1e3  # times the typical spread


def warn_of_spread(X: Any, names: NDArray[Any] | None, kernel: Kernel) -> None:
    """Warn if gamma="scale" goes by a single feature, so that the kernel hardly sees the others."""
    if sparse.issparse(X) or X.shape[1] < 2 or getattr(kernel, "gamma", None) != "scale":
        return
    spreads = feature_spreads(X[:: max(1, X.shape[0] // _SAMPLE)])
    largest = int(np.argmax(spreads))
    others = np.delete(spreads, largest)
    others = others[others > 0]
    if len(others) == 0 or spreads[largest] < _DWARFS * np.median(others):
        return
    name = largest if names is None else repr(str(names[largest]))
    message = (
        f"feature {name} has a spread of {spreads[largest]:.2g}, and the others of {np.median(others):.2g}, typically: "
        "gamma='scale' goes by the former, and the kernel hardly sees the latter. Scale the features first, e.g. by "
        "sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), ...), or choose gamma"
    )
    say(message, UserWarning)


def feature_spreads(X: Any) -> NDArray[np.float64]:
    """Return the spread of every feature; of one that is mostly zero (counts, one-hot), the size of the others."""
    if sparse.issparse(X):
        return _sparse_spreads(X)
    used = X != 0
    count = used.sum(axis=0)
    mostly_zero = 2 * count < len(X)
    with np.errstate(over="ignore", invalid="ignore"):
        centre = np.where(mostly_zero, 0.0, X.mean(axis=0, dtype=np.float64))
        squares = np.where(used | ~mostly_zero, X - centre, 0.0) ** 2
        total = squares.sum(axis=0) / np.where(mostly_zero, np.maximum(1, count), len(X))
    spreads = np.nan_to_num(np.sqrt(total))
    # What rounding leaves of a constant is no spread.
    constant = np.ptp(X, axis=0) == 0
    return np.where(constant, 0.0, spreads)


def _sparse_spreads(X: Any) -> NDArray[np.float64]:
    """Return the same of sparse rows, without those of features that are constant but for zeros."""
    n, columns = X.shape[0], sparse.csc_array(X, dtype=np.float64)
    count = np.diff(columns.indptr)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.asarray((columns * columns).sum(axis=0)).ravel()
        means = np.asarray(columns.sum(axis=0)).ravel() / n
        mostly_zero = 2 * count < n
        total = np.where(mostly_zero, squares / np.maximum(1, count), squares / n - means**2)
    return np.asarray(np.nan_to_num(np.sqrt(np.maximum(0.0, total))))

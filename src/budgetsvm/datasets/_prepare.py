"""From the rows of files to a problem: training and test rows, scaled, dense or sparse."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_SPLIT_SEED = 0
_TEST_SHARE = 0.2
# With fewer entries that are not zero, CSR is a form that a user would choose, too.
_SPARSE_BELOW = 0.2

Labels: TypeAlias = NDArray[np.float64]
Parts: TypeAlias = tuple[Any, Labels, Any, Labels]


def split_fifth(X: Any, y: Labels) -> Parts:
    """Hold out a fifth of the rows, drawn at random, but the same ones always."""
    order = np.random.default_rng(_SPLIT_SEED).permutation(len(y))
    test, train = np.split(order, [round(_TEST_SHARE * len(y))])
    return X[train], y[train], X[test], y[test]


def split_last_tenth(X: Any, y: Labels) -> Parts:
    """Hold out the last tenth of the rows."""
    n = len(y) - len(y) // 10
    return X[:n], y[:n], X[n:], y[n:]


def scale(X: Any, X_test: Any, scaling: str) -> tuple[Any, Any]:
    """Scale by what the training rows show; test rows may leave the range. May change the arrays."""
    if scaling == "none":
        return X, X_test
    X, X_test = in_form(X, "dense"), in_form(X_test, "dense")
    if scaling == "bytes":
        shift, width = np.zeros(X.shape[1]), np.full(X.shape[1], 255.0)
    elif scaling == "range":
        shift, width = X.min(axis=0), np.ptp(X, axis=0)
    else:
        shift, width = X.mean(axis=0), X.std(axis=0)
    width = np.where(width > 0, width, 1.0)
    return _scaled(X, shift, width), _scaled(X_test, shift, width)


def _scaled(X: Any, shift: Labels, width: Labels) -> Any:
    """Scale in place: the arrays may fill half of the memory."""
    X -= shift
    X /= width
    return X


def in_form(X: Any, form: str) -> Any:
    """Return rows as a dense array or as a CSR array; "auto" is CSR if most entries are zero."""
    if form == "auto":
        form = "sparse" if is_mostly_zero(X) else "dense"
    if form == "sparse":
        return sparse.csr_array(X)
    return X.toarray() if sparse.issparse(X) else X


def is_mostly_zero(X: Any) -> bool:
    """Whether under a fifth of the entries are not zero."""
    nonzero = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return bool(nonzero < _SPARSE_BELOW * X.shape[0] * X.shape[1])

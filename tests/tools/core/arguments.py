"""Rows, terms and problems as the functions of the core take them."""

from typing import Any

import numpy as np
from oracles.problems import Array
from scipy import sparse

from budgetsvm import kernels
from budgetsvm._model.term_store import TermStore


def store(points: Array, coef: Array, kernel: kernels.Kernel, dtype: Any = np.float64) -> TermStore:
    """Terms for the core."""
    return TermStore.of(np.asarray(points, dtype), np.asarray(coef, float), kernel, len(coef) + 1)


def core_rows(X: Any, dtype: Any) -> Any:
    """Rows for the core, dense or sparse."""
    if sparse.issparse(X):
        matrix = X.data.astype(dtype), X.indices.astype(np.int32), X.indptr.astype(np.int64)
        return matrix, None, None
    return np.ascontiguousarray(X, dtype), None, None


def core_problem(order: Any, diagonal: Any, y: Any, *arrays: Any) -> Any:
    """A classification problem with the hinge loss for the core; arrays: box, alpha and slots."""
    return ("hinge", 0.0), order, diagonal, y, np.ones(1), *arrays, np.empty(0)

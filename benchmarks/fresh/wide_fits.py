"""Fits of wide sparse data, in a process of its own: `fit_wide` runs there."""

import pickle
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC

from benchmarks.measuring.memory import PeakMemory
from benchmarks.measuring.timing import clock
from budgetsvm import BudgetSVC

_ENTRIES, _SHARE, _NOISE = 50, 0.1, 0.3  # of a row; of features with a weight; beside their sum


def made_rows(n: int, n_features: int, seed: int) -> tuple[Any, NDArray[np.int64]]:
    """Rows of random features, and labels by a sparse linear rule with noise."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, n_features, n * _ENTRIES, np.int32)  # SVC takes no others
    where = np.repeat(np.arange(n, dtype=np.int32), _ENTRIES), features
    X = sparse.csr_array(sparse.coo_array((rng.random(n * _ENTRIES), where), (n, n_features)))
    rule = rng.standard_normal(n_features) * (rng.random(n_features) < _SHARE)
    values = X @ rule
    noise = _NOISE * values.std() * rng.standard_normal(n)
    return X, (values + noise > np.median(values)).astype(np.int64)


def fit_wide(*, machine: str, n: int, n_features: int, threads: int, seed: int) -> dict[str, Any]:
    """Fit a machine with its defaults; both have C = 1 and gamma = "scale"."""
    X, y = made_rows(n, n_features, seed)
    model: Any = SVC() if machine == "SVC" else BudgetSVC(random_state=seed, n_jobs=threads)
    memory, cpu = PeakMemory(), process_time()
    seconds = clock(lambda: model.fit(X, y))
    peak = memory.bytes()
    return {
        "seconds": seconds,
        "cpu": process_time() - cpu,
        "peak_mb": None if peak is None else peak / 1e6,
        "model_mb": len(pickle.dumps(model)) / 1e6,
        "terms": model.support_vectors_.shape[0],
        "score": float(model.score(X, y)),
    }

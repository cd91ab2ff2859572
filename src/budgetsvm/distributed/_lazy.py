"""Answers of a model about rows that are not here: Dask collections, computed when somebody asks for them."""

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any

import numpy as np
from dask import delayed
from dask.array import Array

from budgetsvm.distributed._input import is_lazy


def lazy(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method of rows return a collection where it is given one: of the same partitions."""
    name = method.__name__

    @wraps(method)
    def call(self: Any, X: Any) -> Any:
        if not is_lazy(X):
            return method(self, X)
        local = self.to_local().set_params(n_jobs=1, verbose=0)
        example = answer(_row_like(X, local), local, name)[:0]
        model = delayed(local, pure=False)
        if isinstance(X, list | tuple):
            ask = delayed(answer, pure=False)
            return [ask(block, model, name) for block in X]
        if isinstance(X, Array):
            return _of_array(X, model, name, example)
        return X.map_partitions(_series, model, name, meta=_series_of(example, X._meta.index[:0]))

    return call


def _of_array(X: Array, model: Any, name: str, example: Any) -> Array:
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    named = {"dtype": example.dtype, "meta": example, "name": f"svm_{name}-{model.key}"}
    if example.ndim == 1:
        return X.map_blocks(answer, model, name, drop_axis=1, **named)
    return X.map_blocks(answer, model, name, chunks=(X.chunks[0], (example.shape[1],)), **named)


def answer(X: Any, model: Any, name: str) -> Any:
    """Return what a model says of the rows of a partition."""
    if isinstance(X, tuple):  # a block with its targets
        X = X[0]
    if not (hasattr(X, "columns") and hasattr(model, "feature_names_in_")):
        model = _without_names(model)  # there is nothing to compare them with
        X = X.to_numpy() if hasattr(X, "to_numpy") else X
    method = getattr(model, name)
    return method(X) if X.shape[0] else method(_row_like(X, model))[:0]


def _row_like(X: Any, model: Any) -> Any:
    """Return a row with the columns of X: what does not fit the model is told before anybody works."""
    if hasattr(X, "columns"):
        import pandas as pd

        return pd.DataFrame(np.zeros((1, len(X.columns))), columns=list(X.columns))
    known = len(getattr(X, "shape", ())) == 2 and np.isfinite(X.shape[1])
    return np.zeros((1, int(X.shape[1]) if known else model.n_features_in_))


def _without_names(model: Any) -> Any:
    if not hasattr(model, "feature_names_in_"):
        return model
    model = copy(model)
    del model.feature_names_in_
    return model


def _series(frame: Any, model: Any, name: str) -> Any:
    return _series_of(answer(frame, model, name), frame.index)


def _series_of(values: Any, index: Any) -> Any:
    import pandas as pd

    return pd.Series(values, index) if values.ndim == 1 else pd.DataFrame(values, index)

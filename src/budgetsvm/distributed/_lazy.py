"""Answers of a model about rows that are not here: Dask collections, computed when somebody asks for them."""

from collections.abc import Callable
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
        nothing = np.zeros((1, self.n_features_in_))
        example = answer(nothing, local, name)[:0]
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
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    model.__dict__.pop("feature_names_in_", None)  # names were left behind on the way
    return _of_no_rows(model, name) if X.shape[0] == 0 else getattr(model, name)(X)


def _of_no_rows(model: Any, name: str) -> Any:
    return getattr(model, name)(np.zeros((1, model.n_features_in_)))[:0]


def _series(frame: Any, model: Any, name: str) -> Any:
    return _series_of(answer(frame, model, name), frame.index)


def _series_of(values: Any, index: Any) -> Any:
    import pandas as pd

    return pd.Series(values, index) if values.ndim == 1 else pd.DataFrame(values, index)

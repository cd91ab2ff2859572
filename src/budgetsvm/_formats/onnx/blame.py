"""Which step of a pipeline it is that cannot become ONNX: who looks for it tries out one step after the other."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import _safe_indexing

_Try: TypeAlias = Callable[[Any, Any], Any]
_ADVICE = "take other parameters, or another step, or rows of float32, of which more steps are known; or export the last step alone"


def blamed(estimator: Any, X: Any, error: ValueError, attempt: _Try) -> str:
    """Return why an estimator cannot become ONNX, in words that name the innermost step to blame."""
    with warnings.catch_warnings(action="ignore"):  # of columns that have lost their names
        found = _first_that_fails(estimator, X, attempt)
    if found is None:
        return f"{error}; {_ADVICE}"
    name, step, why = found
    shown = " ".join(repr(step).split())
    return f"the step {name!r}, {shown}, cannot become ONNX: {why}; {_ADVICE}"


def _first_that_fails(estimator: Any, X: Any, attempt: _Try) -> tuple[str, Any, ValueError] | None:
    """Return the innermost step that fails, with its name and the reason; None: each does for itself."""
    try:
        for name, step, rows, tried in _steps(estimator, X):
            try:
                attempt(*tried)
            except ValueError as error:
                return _first_that_fails(step, rows, attempt) or (name, step, error)
    except Exception:  # noqa: BLE001 - these rows are but an example of types
        return None
    return None


def _steps(estimator: Any, X: Any) -> Iterator[tuple[str, Any, Any, tuple[Any, Any]]]:
    """Yield the steps of an estimator: name, step, its rows, and what to try out on which rows."""
    if isinstance(estimator, Pipeline):
        rows = X
        for k, (name, step) in enumerate(estimator.steps):
            yield name, step, rows, (estimator[: k + 1], X)  # with the types that rows have there
            rows = step.transform(rows) if hasattr(step, "transform") else rows
    elif isinstance(estimator, ColumnTransformer):
        for name, step, columns in estimator.transformers_:
            rows = _as_array(_safe_indexing(X, columns, axis=1))
            if not isinstance(step, str):
                yield name, step, rows, (step, rows)
    elif isinstance(estimator, FeatureUnion):
        for name, step in estimator.transformer_list:
            yield name, step, X, (step, X)


def _as_array(rows: Any) -> Any:
    """Return columns of numbers as a step gets them, all in one."""
    kinds = {getattr(kind, "kind", "O") for kind in getattr(rows, "dtypes", ())}
    return np.asarray(rows, np.float32) if kinds and kinds <= {*"biuf"} else rows

"""A graph is tried out before it is handed over: not all that skl2onnx writes can be run, or says what the pipeline does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

SOME_ROWS = 50
_ROUNDED = (
    25  # rows, of which one may fall to the other side of a boundary when numbers are rounded
)
_CLOSE = 1e-2  # of the spread of numbers that are predicted


def some_rows(X: Any) -> Any:
    """Return some of the rows, from all over: gaps and rare words may come late."""
    return X[:: max(1, X.shape[0] // SOME_ROWS)][:SOME_ROWS]


def try_out(model: Any, estimator: Any, X: Any) -> None:
    """Raise a ValueError where a graph does not find what an estimator finds for some rows."""
    X = some_rows(X)
    try:
        expected = getattr(estimator, "predict", getattr(estimator, "transform", None))(X)  # type: ignore[misc]
    except Exception:  # noqa: BLE001 - these rows are but an example of types
        return
    try:
        found = np.asarray(_run(model, _given(model, X)))
    except NotImplementedError:  # onnx does not evaluate all that runtimes know
        return
    except Exception as error:
        message = f"ONNX runtimes cannot run what skl2onnx has written ({error})"
        raise ValueError(message) from error
    expected = expected.toarray() if sparse.issparse(expected) else expected
    if not _agree(found, np.asarray(expected)):
        raise ValueError("skl2onnx does not know all of it: ONNX would find something else")
    width = _declared_width(model)
    if found.ndim > 1 and width not in (0, found.shape[1]):
        message = f"skl2onnx believes that it makes {width} columns, and not {found.shape[1]}"
        raise ValueError(message)


def _run(model: Any, given: dict[str, NDArray[Any]]) -> Any:
    """Return the first output of a graph: by onnxruntime or, where that is not at hand, by onnx itself."""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        evaluator: Any = ReferenceEvaluator(model)
        return evaluator.run(None, given)[0]
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4  # what is wrong is raised, too
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
    )
    return session.run(None, given)[0]


def _declared_width(model: Any) -> int:
    """Return how many columns a graph says that its first output has; 0: it does not say."""
    shape = model.graph.output[0].type.tensor_type.shape.dim
    return int(shape[1].dim_value) if len(shape) > 1 else 0


def _given(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    """Return the inputs of a graph: the rows, or the columns of a table, by name."""
    from onnx.helper import tensor_dtype_to_np_dtype

    types = {
        one.name: tensor_dtype_to_np_dtype(one.type.tensor_type.elem_type)
        for one in model.graph.input
    }
    if not hasattr(X, "dtypes"):
        (name,) = types
        return {name: np.asarray(X).astype(types[name])}
    return {name: X[[name]].to_numpy().astype(kind) for name, kind in types.items()}


def _agree(found: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Whether the runtime says the same, but for rounding."""
    if found.size != expected.size:
        return False
    found = found.reshape(expected.shape)
    if expected.dtype.kind != "f" or found.dtype.kind != "f":
        wrong = np.count_nonzero(_names(found) != _names(expected))
        return bool(wrong <= len(expected) // _ROUNDED)
    spread = float(np.nanstd(expected)) or 1.0
    close = np.isclose(found, expected, rtol=0.0, atol=_CLOSE * spread, equal_nan=True)
    return bool(close.mean() > 1 - 1 / _ROUNDED)


def _names(labels: NDArray[Any]) -> NDArray[Any]:
    """Return what to compare labels by: a graph has whole numbers where numbers or truth values stood."""
    return labels.astype(np.float64 if labels.dtype.kind in "biuf" else str)

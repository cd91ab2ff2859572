"""A graph is tried out before it is handed over: not all that skl2onnx writes can be run, or says what the pipeline does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SOME_ROWS = 50
_ROUNDED = (
    25  # rows, of which one may fall to the other side of a boundary when numbers are rounded
)
_CLOSE = 1e-2  # of the spread of numbers that are predicted
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
ADVICE = "more steps are known for rows of float32; or export the last step alone"


def try_out(model: Any, estimator: Any, X: Any) -> None:
    """Raise a ValueError where onnxruntime is at hand, and does not find what an estimator finds for some rows."""
    try:
        import onnxruntime
    except ImportError:
        return
    X = X[:SOME_ROWS]
    try:
        expected = getattr(estimator, "predict", getattr(estimator, "transform", None))(X)  # type: ignore[misc]
    except Exception:  # noqa: BLE001 - these rows are but an example of types
        return
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4  # what is wrong is raised, too
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
        )
        found = session.run(None, _given(session, X))[0]
    except Exception as error:
        message = f"skl2onnx has written what onnxruntime cannot run ({error}); {ADVICE}"
        raise ValueError(message) from error
    if not _agree(np.asarray(found), np.asarray(expected)):
        message = f"in ONNX this pipeline would predict something else: skl2onnx does not know all of its steps; {ADVICE}"
        raise ValueError(message)


def _given(session: Any, X: Any) -> dict[str, NDArray[Any]]:
    """Return the inputs of a session: the rows, or the columns of a table, by name."""
    types = {one.name: _TYPES[one.type] for one in session.get_inputs()}
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
    spread = float(expected.std()) or 1.0
    return bool((np.abs(found - expected) <= _CLOSE * spread).mean() > 1 - 1 / _ROUNDED)


def _names(labels: NDArray[Any]) -> NDArray[Any]:
    """Return what to compare labels by: a graph has whole numbers where numbers or truth values stood."""
    return labels.astype(np.float64 if labels.dtype.kind in "biuf" else str)

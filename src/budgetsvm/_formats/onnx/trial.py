"""A graph is tried out before it is handed over: not all that skl2onnx writes can be run, or says what the pipeline does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

from budgetsvm._estimators.features import BudgetFeatures

SOME_ROWS = 50
# Rows, of which one may fall to the other side of an edge when numbers are rounded: of votes, bins, words.
_ROUNDED = 25
# What single precision may change, of the spread of values and of the largest: rounded rows and sums.
_OF_SPREAD, _OF_LARGEST = 1e-3, 1e-6
_OF_FEATURES = 0.1  # those of BudgetFeatures, which divides by what is small: measured, 0.03
_METHODS = {
    "scores": ("decision_function",),
    "probabilities": ("predict_proba", "decision_function"),
    "output_probability": ("predict_proba", "decision_function"),
}


def some_rows(X: Any) -> Any:
    """Return some of the rows, from all over: gaps and rare words may come late."""
    return X[:: max(1, X.shape[0] // SOME_ROWS)][:SOME_ROWS]


def try_out(model: Any, estimator: Any, X: Any) -> None:
    """Raise a ValueError where a graph does not find what an estimator finds for some rows, in any of its outputs."""
    X = some_rows(X)
    try:
        expected = _expected(estimator, X, [one.name for one in model.graph.output])
    except Exception:  # noqa: BLE001 - these rows are but an example of types
        return
    try:
        found = _run(model, _given(model, X))
    except NotImplementedError:  # onnx does not evaluate all that runtimes know
        return
    except Exception as error:
        message = f"ONNX runtimes cannot run what skl2onnx has written ({error})"
        raise ValueError(message) from error
    compare(dict(zip(expected, map(np.asarray, found), strict=True)), expected, estimator)
    width, first = _declared_width(model), np.asarray(found[0])
    if first.ndim > 1 and width not in (0, first.shape[1]):
        message = f"skl2onnx believes that it makes {width} columns, and not {first.shape[1]}"
        raise ValueError(message)


def _expected(estimator: Any, X: Any, names: list[str]) -> dict[str, NDArray[Any] | None]:
    """Return what an estimator finds for the outputs of its graph; None: nothing is known to compare."""
    found: dict[str, NDArray[Any] | None] = {}
    for place, name in enumerate(names):
        methods = _METHODS.get(name, ()) if place else ("predict", "transform")
        known = (getattr(estimator, method) for method in methods if hasattr(estimator, method))
        method = next(known, None)
        found[name] = None if method is None else _dense(method(X))
    return found


def _dense(values: Any) -> NDArray[Any]:
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def compare(
    found: dict[str, NDArray[Any]], expected: dict[str, NDArray[Any] | None], estimator: Any
) -> None:
    """Raise a ValueError where outputs are not those expected but for rounding."""
    from budgetsvm._formats.onnx.converters import CONVERTED

    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    ours, votes = isinstance(last, CONVERTED), bool(getattr(last, "_pairwise", False))
    scores = expected.get("scores")
    for place, (name, wanted) in enumerate(expected.items()):
        if wanted is None or (place and not ours and found[name].size != wanted.size):
            continue  # other libraries have other shapes for scores
        atol = _tolerance(wanted, _OF_FEATURES if isinstance(last, BudgetFeatures) else _OF_SPREAD)
        wrong = _differ(found[name], wanted, atol, unordered=votes and name == "scores")
        if name == "label" and ours and scores is not None:
            wrong &= ~_near_a_boundary(scores)
        allowed = 0 if ours and not votes else len(wrong) // _ROUNDED
        if np.count_nonzero(wrong) > allowed:
            message = (
                "skl2onnx does not know all of it: ONNX would find something else "
                f"({name!r} differs in {np.count_nonzero(wrong)} of {len(wrong)} rows)"
            )
            raise ValueError(message)


def _run(model: Any, given: dict[str, NDArray[Any]]) -> Any:
    """Return the outputs of a graph: by onnxruntime or, where that is not at hand, by onnx itself."""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        evaluator: Any = ReferenceEvaluator(model)
        return evaluator.run(None, given)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4  # what is wrong is raised, too
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
    )
    return session.run(None, given)


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


def _differ(
    found: NDArray[Any], expected: NDArray[Any], atol: float, *, unordered: bool = False
) -> NDArray[np.bool_]:
    """Say in which rows the runtime says something else, rounding apart; values of classes with as many votes may be exchanged."""
    if found.size != expected.size:
        return np.ones(len(expected), np.bool_)
    found = found.reshape(expected.shape)
    if expected.dtype.kind != "f" or found.dtype.kind != "f":
        differ = np.asarray(_names(found) != _names(expected))
    else:
        if unordered and expected.ndim > 1:
            found, expected = np.sort(found, axis=1), np.sort(expected, axis=1)
        differ = ~np.isclose(found, expected, rtol=0.0, atol=atol, equal_nan=True)
    return np.asarray(differ.reshape(len(differ), -1).any(axis=1))


def _tolerance(expected: NDArray[Any], of_spread: float = _OF_SPREAD) -> float:
    """Return by how much values may differ."""
    finite = expected[np.isfinite(expected)] if expected.dtype.kind == "f" else expected[:0]
    if finite.size == 0:
        return 0.0
    largest = float(abs(finite).max())
    return of_spread * (float(finite.std()) or largest) + _OF_LARGEST * largest


def _near_a_boundary(scores: NDArray[Any]) -> NDArray[np.bool_]:
    """Say for which rows rounding decides on the label."""
    if scores.ndim > 1 and scores.shape[1] > 1:
        best = np.sort(scores, axis=1)
        margins = best[:, -1] - best[:, -2]
    else:
        margins = abs(scores.reshape(len(scores)))
    return np.asarray(margins <= 2 * _tolerance(scores))


def _names(labels: NDArray[Any]) -> NDArray[Any]:
    """Return what to compare labels by: a graph has whole numbers where numbers or truth values stood."""
    return labels.astype(np.float64 if labels.dtype.kind in "biuf" else str)

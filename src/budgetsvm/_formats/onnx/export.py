"""Estimators as ONNX models: a function."""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from budgetsvm._common.extras import extra
from budgetsvm._common.public import public_in


@public_in("budgetsvm")
def to_onnx(estimator: Any, X: Any, *, target_opset: Any = None) -> Any:
    """Return a fitted estimator, or a pipeline, as a model for ONNX runtimes; needs the extra ``onnx``.

    Inside, it computes in double precision, so that decision values are those of the estimator to all digits that the
    type of the rows has. After the first call skl2onnx knows the estimators of this package: its own functions convert
    them, too, also where they stand in ``CalibratedClassifierCV`` and the like.

    Parameters
    ----------
    estimator : estimator or Pipeline
        BudgetSVC, BudgetSVR, BudgetOneClassSVM or BudgetFeatures, with any kernel but a Python function; or a
        pipeline of steps that skl2onnx knows, or a RelevanceScaler.
    X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
        Some rows, as they are to be given to the runtime: float32 or float64. Columns of a data frame become inputs of
        their own, of their own types: integers, truth values and floats may stand side by side.
    target_opset : int or dict, default=None
        The version of ONNX to write, at least 13; by default the newest that skl2onnx knows.

    Returns
    -------
    model : onnx.ModelProto
        Its outputs are, of a BudgetSVC, ``label``, ``probabilities`` if it has some, and ``scores``, the decision values, as
        (n_samples, 1) for two classes (where several classes win equally many pairs, that of the label need not be the
        largest here); of a BudgetOneClassSVM ``label`` and ``scores``; of others ``variable``.
        ``model.SerializeToString()`` are the bytes of its file.

    Raises
    ------
    ImportError
        If skl2onnx is missing.
    ValueError
        If steps of a pipeline would do something else there, as those that skl2onnx knows in part do; the step is named. Some
        of the rows are predicted by the graph, and compared: by onnxruntime or, where that is not installed, by the
        evaluator that comes with onnx.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC, to_onnx
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = BudgetSVC(gamma=2, budget=20, random_state=0).fit(X, y)
    >>> onnx_model = to_onnx(model, X.astype(np.float32))
    >>> [output.name for output in onnx_model.graph.output]
    ['label', 'scores']
    """
    with extra("onnx", "ONNX needs skl2onnx"):
        import skl2onnx  # noqa: F401 - complains before any work
    from budgetsvm._formats.onnx.blame import blamed
    from budgetsvm._formats.onnx.converters import CONVERTED, register

    register()
    X = _prepared(X)
    try:
        return _checked(estimator, X, target_opset)
    except ValueError as error:
        if isinstance(estimator, CONVERTED):
            raise
        message = blamed(estimator, X, error, partial(_checked, target_opset=target_opset))
        raise ValueError(message) from error


def _prepared(X: Any) -> Any:
    """Return some rows of a type that skl2onnx knows; a table keeps its columns, as skl2onnx has it."""
    from budgetsvm._formats.onnx.trial import some_rows

    if hasattr(X, "dtypes"):
        return X  # all of it: the largest numbers decide on types
    X = some_rows(X.tocsr()).toarray() if sparse.issparse(X) else some_rows(np.asarray(X))
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float32)


def _checked(estimator: Any, X: Any, target_opset: Any) -> Any:
    """Return a model that does what the estimator does, or raise a ValueError."""
    from budgetsvm._formats.onnx.columns import inner_types, types_of

    if not hasattr(X, "dtypes"):
        return _of_rows(estimator, X, target_opset)
    types = types_of(X)
    *wide, least = inner_types(types)
    for inner in wide:
        try:
            return _of_columns(estimator, X, types, inner, target_opset)
        except ValueError:  # of steps that know single precision alone
            continue
    return _of_columns(estimator, X, types, least, target_opset)


def _of_columns(estimator: Any, X: Any, types: Any, inner: Any, target_opset: Any) -> Any:
    """Return a model whose inputs are the columns of a table, with numbers of one type inside."""
    from budgetsvm._formats.onnx.columns import are_joined, declared, put_right
    from budgetsvm._formats.onnx.trial import try_out

    joined = are_joined(estimator, types)
    seen = declared(types, inner, joined=joined)
    model = _written(estimator, target_opset, initial_types=seen)
    put_right(model, types, inner, joined=joined)
    try_out(model, estimator, X)
    return model


def _of_rows(estimator: Any, X: Any, target_opset: Any) -> Any:
    """Return a model whose input is a matrix."""
    from budgetsvm._formats.onnx.converters import CONVERTED
    from budgetsvm._formats.onnx.trial import try_out

    model = _written(estimator, target_opset, X=X[:1])
    if not isinstance(estimator, CONVERTED):
        try_out(model, estimator, X)
    return model


def _written(estimator: Any, target_opset: Any, **inputs: Any) -> Any:
    """Return what skl2onnx writes, or raise a ValueError."""
    import skl2onnx

    # Of other classifiers at the end of a pipeline: a matrix of probabilities, not a list of maps.
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    options = {id(last): {"zipmap": False}} if hasattr(last, "classes_") else None
    try:
        return skl2onnx.to_onnx(estimator, target_opset=target_opset, options=options, **inputs)
    except ValueError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0]  # of a page
        message = f"skl2onnx cannot write this ({type(error).__name__}: {reason})"
        raise ValueError(message) from error

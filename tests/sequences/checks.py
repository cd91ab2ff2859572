"""What has to hold after every call, judged from public attributes alone."""

import copy
import linecache
from typing import Any

import numpy as np
from oracles.model_math import Model, centre_of, kernel_error, kernel_matrix
from tools.frozen import frozen

from budgetsvm._estimators.snapshots.consistency import check_parameters

_NAMES = ("classes_", "support_vectors_", "dual_coef_", "intercept_", "kernel_", "objective_")
_NAMES += ("duality_gap_", "converged_", "offset_", "target_mean_", "target_scale_", "history_")
_NAMES += ("components_", "normalization_", "n_features_in_", "n_iter_", "validation_scores_")


def is_fitted(model: Any) -> bool:
    """Whether a model has terms, if only none of them."""
    return hasattr(model, "support_vectors_") or hasattr(model, "components_")


def may_have_snapshot(model: Any) -> bool:
    """Whether a model is fitted, has parameters that make sense, and no Python function."""
    try:
        check_parameters(model)
    except ValueError:
        return False
    return is_fitted(model) and not callable(model.kernel) and not model.kernel_.in_python


def public_view(model: Any) -> Any:
    """Return all that a user sees of a model, frozen."""
    seen = {name: getattr(model, name) for name in _NAMES if hasattr(model, name)}
    if is_fitted(model):
        rows = np.random.default_rng(0).standard_normal((5, model.n_features_in_))
        seen["answers"] = answers(model, rows)
    return frozen(seen)


def snapshot(model: Any) -> tuple[Any, Any]:
    """Return the state of a model, and what a user sees of it, without a look at the model itself."""
    twin = copy.deepcopy(model)
    return frozen(vars(model)), public_view(twin)


def answers(model: Any, X: Any) -> Any:
    """Return what a model says about rows."""
    for name in ("decision_function", "transform", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(X)
    raise TypeError(model)


def check_error(error: BaseException) -> None:
    """An error must have been meant: a ValueError or TypeError that was raised by a statement, with a message."""
    meant = isinstance(error, ValueError | TypeError) and not isinstance(
        error, np.linalg.LinAlgError
    )
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    code = trace.tb_frame.f_code
    line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
    module = str(trace.tb_frame.f_globals.get("__name__"))
    raised = line.startswith("raise") and module.split(".", maxsplit=1)[0] in (
        "budgetsvm",
        "sklearn",
    )
    if not (meant and raised and str(error)):
        error.add_note(f"this was not meant: {code.co_filename}:{trace.tb_lineno}: {line}")
        raise error


def check_size(model: Any) -> None:
    """There are never more terms than the budget allows."""
    points = model.support_vectors_ if hasattr(model, "support_vectors_") else model.components_
    assert model.budget is None or len(points) <= model.budget, (len(points), model.budget)
    assert np.isfinite(points).all()


def check_kernel(model: Any) -> None:
    """The kernel in use is the one that is asked for; a change is taken over, or refused."""
    if callable(model.kernel):
        assert model.kernel_.name == "callable"
        assert model.kernel_.function == model.kernel
        return
    assert model.kernel_.name == model.kernel, (model.kernel_, model.kernel)
    if hasattr(model.kernel_, "gamma") and model.gamma != "scale":
        gamma = 1 / model.n_features_in_ if model.gamma == "auto" else model.gamma
        assert model.kernel_.gamma == gamma, (model.kernel_, model.gamma)
    if model.kernel == "poly":
        assert model.kernel_.degree == model.degree
    if model.kernel in ("poly", "sigmoid"):
        assert model.kernel_.coef0 == model.coef0


def check_answers(model: Any, X: Any, precision: float) -> None:
    """Answers are finite, of the right shape, and those that the public attributes give."""
    n = len(X)
    if hasattr(model, "transform"):
        Z, N = model.components_, model.normalization_
        found = model.transform(X)
        assert found.shape == (n, len(Z))
        wanted = kernel_matrix(model.kernel_, X, Z) @ N
        off = kernel_error(model.kernel_, X, Z, centre_of(model))
        error = 128 * precision * (off @ abs(N) + abs(wanted))
        _check_close(found, wanted, error)
        return
    expansion = Model.of(model)
    wanted, error = expansion.values(X), expansion.error(X, precision)
    if hasattr(model, "classes_"):
        outputs = copy.copy(model).set_params(
            decision_function_shape="ovo"
        )  # of pairs, their values
        found = outputs.decision_function(X).reshape(n, -1)
        assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())
        assert model.predict(X).shape == (n,)
    elif hasattr(model, "offset_"):
        found = model.score_samples(X)[:, np.newaxis]
        assert np.isfinite(model.offset_)
        assert model.intercept_ == -model.offset_
        np.testing.assert_array_equal(model.decision_function(X), found[:, 0] - model.offset_)
    else:
        found = model.predict(X).reshape(n, -1)
        wanted = model.target_mean_ + model.target_scale_ * wanted
        error = model.target_scale_ * error + 1e-12 * abs(model.target_mean_)
    _check_close(found, wanted, error)


def _check_close(found: Any, wanted: Any, error: Any) -> None:
    assert found.shape == wanted.shape
    assert np.isfinite(found).all(), found
    off = abs(found - wanted) - error
    assert (off <= 0).all(), f"off by {abs(found - wanted).max()}, at most {error.max()}"

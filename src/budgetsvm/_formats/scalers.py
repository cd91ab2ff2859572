"""Scikit-learn's scalers as plain records, and back."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from budgetsvm._common.records import Fields, Record

# The arrays that each has after fit, one number per feature; some may be None.
_KINDS = {
    "StandardScaler": ("mean_", "var_", "scale_"),
    "MinMaxScaler": ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    "MaxAbsScaler": ("max_abs_", "scale_"),
}


def is_pipeline(estimator: Any) -> bool:
    """Whether it is one of scikit-learn's: nobody has one who has not imported them, which takes its time."""
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(estimator, module.Pipeline)


def _class_of(kind: str) -> Any:
    from sklearn import preprocessing

    return getattr(preprocessing, kind)


def _kind_of(scaler: Any, instead: str) -> str:
    """Return the name of a fitted scaler's class."""
    kind = type(scaler).__name__
    if kind not in _KINDS or type(scaler) is not _class_of(kind):
        message = f"a pipeline that begins with a {kind} cannot be written: only with one of {', '.join(_KINDS)} or a RelevanceScaler; {instead}"
        raise ValueError(message)
    if not hasattr(scaler, "n_features_in_"):
        message = f"this {kind} is not fitted yet: there is nothing to save"
        raise NotFittedError(message)
    return kind


@dataclass(frozen=True, eq=False)
class Affine:
    """What a scaler does to a row: factor * x + shift, and then clip to a range."""

    factor: NDArray[np.float64]
    shift: NDArray[np.float64]
    clip: tuple[float, float] | None = None


def _plain(scaler: Any) -> Any:
    """Return the StandardScaler that does what a RelevanceScaler does; others are what they are."""
    module = sys.modules.get("budgetsvm._estimators.relevance.scaler")
    if module is None or type(scaler) is not module.RelevanceScaler:
        return scaler
    check_is_fitted(scaler)
    plain = _class_of("StandardScaler")(with_mean=scaler.mean_ is not None)
    plain.mean_, plain.scale_, plain.var_ = scaler.mean_, scaler.scale_, scaler.scale_**2
    plain.n_features_in_, plain.n_samples_seen_ = scaler.n_features_in_, scaler.n_samples_seen_
    if hasattr(scaler, "feature_names_in_"):
        plain.feature_names_in_ = scaler.feature_names_in_
    return plain


def affine_of(scaler: Any) -> Affine:
    """Return what a fitted scaler does."""
    scaler = _plain(scaler)
    kind = _kind_of(scaler, "write its last step, or use ONNX")
    one, none = np.ones(scaler.n_features_in_), np.zeros(scaler.n_features_in_)
    if kind == "MinMaxScaler":
        least, largest = map(float, scaler.feature_range)
        clip = (least, largest) if scaler.clip else None
        return Affine(_wide(scaler.scale_), _wide(scaler.min_), clip)
    factor = one if scaler.scale_ is None else 1 / _wide(scaler.scale_)
    mean = getattr(scaler, "mean_", None) if getattr(scaler, "with_mean", False) else None
    edges = (-1.0, 1.0) if getattr(scaler, "clip", False) else None  # of MaxAbsScaler
    return Affine(factor, none if mean is None else -_wide(mean) * factor, edges)


def scaler_record(scaler: Any) -> Record:
    """Return a record of a fitted scaler."""
    scaler = _plain(scaler)
    kind = _kind_of(scaler, "use a pickle")
    names = getattr(scaler, "feature_names_in_", None)
    parameters = scaler.get_params(deep=False)
    if kind == "MinMaxScaler":
        parameters["feature_range"] = [float(edge) for edge in parameters["feature_range"]]
    return {
        "kind": kind,
        "parameters": parameters,
        "n_features_in": int(scaler.n_features_in_),
        "n_samples_seen": np.asarray(scaler.n_samples_seen_, np.float64),
        "feature_names_in": None if names is None else [str(name) for name in names],
        "arrays": {name: _wide(getattr(scaler, name)) for name in _KINDS[kind]},
    }


def _wide(values: Any) -> Any:
    return None if values is None else np.asarray(values, np.float64)


def read_scaler(fields: Fields) -> Any:
    """Return the scaler of a record, which transforms as the original does."""
    name_of_kind = fields.choice("kind", tuple(_KINDS))
    kind, names = _class_of(name_of_kind), _KINDS[name_of_kind]
    n_features = int(fields.count("n_features_in", least=1))
    scaler = kind(**_read_parameters(fields.inside("parameters"), kind))
    scaler.n_features_in_ = n_features
    scaler.n_samples_seen_ = _read_seen(fields, n_features)
    columns = fields.optional(fields.texts, "feature_names_in")
    if columns is not None:
        if len(columns) != n_features:
            fields.fail("feature_names_in", f"must have {n_features} names")
        scaler.feature_names_in_ = np.array(columns, dtype=object)
    arrays = fields.inside("arrays")
    for name in names:
        read = arrays.optional(
            lambda one: arrays.array(one, (np.float64,), (n_features,), finite=True), name
        )
        if read is None and name in _needed(scaler):
            arrays.fail(name, "is missing, and the scaler needs it")
        if read is not None and name == "scale_" and not read.all():
            arrays.fail(name, "must not be zero: features are divided by it")
        setattr(scaler, name, read)
    arrays.end()
    fields.end()
    return scaler


def _needed(scaler: Any) -> tuple[str, ...]:
    """Return the arrays that a scaler needs for what it does; others may be None."""
    kind = type(scaler).__name__
    if kind != "StandardScaler":
        return _KINDS[kind]
    centre = ("mean_",) if scaler.with_mean else ()
    return (*centre, "var_", "scale_") if scaler.with_std else centre


def _read_parameters(fields: Fields, kind: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for name in kind._get_param_names():
        if name == "feature_range":
            edges = fields.take(name)
            if not (isinstance(edges, list) and len(edges) == 2):
                fields.fail(name, "must be a list of two numbers")
            pair = Fields(dict(zip("ab", edges, strict=True)), f"{fields.where}[{name!r}]")
            parameters[name] = (pair.number("a"), pair.number("b"))
        else:
            parameters[name] = fields.truth(name)
    fields.end()
    return parameters


def _read_seen(fields: Fields, n_features: int) -> Any:
    """Return the number of rows seen: one, or, where some values were missing, one per feature."""
    seen = fields.array("n_samples_seen", (np.float64,), (...,), finite=True)
    if seen.shape not in ((), (n_features,)) or (seen < 0).any():
        fields.fail("n_samples_seen", "must be a number of rows")
    return seen.copy() if seen.ndim else seen[()]

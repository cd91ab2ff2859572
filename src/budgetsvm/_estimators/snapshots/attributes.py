"""The fitted attributes of every kind of estimator: their names in a snapshot, and how they are read from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.records import Fields, Record
from budgetsvm._estimators.fitting.training import FULL, SPAN, TUNED
from budgetsvm._estimators.fitting.warm_start import Origin
from budgetsvm._estimators.streaming.reservoir import Reservoir
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.option_records import read_option
from budgetsvm._problem.target_scale import TargetScale
from budgetsvm.kernels import Kernel


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Attribute:
    """A fitted attribute."""

    name: str  #: in the estimator
    read: Callable[[Fields, str], Any]
    write: Callable[[Any], Any] = _as_it_is
    may_lack: bool = False  #: None in a snapshot: the estimator does not have it


def _part(kind: Any) -> Callable[[Fields, str], Any]:
    """Return what reads a part that has a record of its own, or None."""
    return lambda fields, name: fields.optional(
        lambda one: kind.of_record(fields.inside(one)), name
    )


def _recorded(part: Any) -> Any:
    return None if part is None else part.record()


# ---- labels ----


def labels_record(labels: NDArray[Any]) -> Any:
    """Return labels as an array; strings that are Python objects as a list, and others not at all."""
    if labels.dtype == object and all(type(label) in (str, np.str_) for label in labels):
        return [str(label) for label in labels]
    if labels.dtype.kind not in "biufU":
        some = labels.tolist()[0]
        message = (
            f"the labels, {some!r} among them, are of the type {type(some).__name__} (dtype {labels.dtype}), which "
            "a snapshot cannot hold: train with numbers or strings, e.g. by LabelEncoder, or use a pickle"
        )
        raise ValueError(message)
    return labels


def read_labels(fields: Fields, name: str) -> NDArray[Any]:
    """Return labels: two at least, each once, sorted."""
    if fields.has_array(name):
        labels: NDArray[Any] = np.asarray(fields.take(name))
    else:
        labels = np.array(fields.texts(name), dtype=object)
    fits = labels.ndim == 1 and len(labels) >= 2
    if not (fits and np.array_equal(np.unique(labels), labels)):
        fields.fail(name, "must have two labels at least, each once, and sorted")
    return labels


# ---- what else is not a number ----

_COUNTS = ("visits", "steps", "violations", "mistakes", "merges", "size")
_AMOUNTS = ("degradation", "loss", "seconds")
_EPOCH = (*_COUNTS[:5], "degradation", "loss", "size", "seconds")  # in their order


def history_record(history: Any) -> Record:
    """Return the records of epochs as columns."""
    if not all(isinstance(one, dict) and tuple(one) == _EPOCH for one in history):
        raise ValueError("history_ has something else than records of epochs in it: set it to []")
    counts = {name: np.array([one[name] for one in history], np.int64) for name in _COUNTS}
    return counts | {name: np.array([one[name] for one in history], float) for name in _AMOUNTS}


def read_history(fields: Fields, name: str) -> list[dict[str, Any]]:
    """Return the records of epochs."""
    inside = fields.inside(name)
    visits = inside.array("visits", (np.int64,), (None,), finite=False)
    columns = {"visits": visits.tolist()}
    for one in _EPOCH[1:]:
        kind = np.int64 if one in _COUNTS else np.float64
        columns[one] = inside.array(one, (kind,), visits.shape, finite=False).tolist()
    inside.end()
    rows = zip(*(columns[one] for one in _EPOCH), strict=True)
    return [dict(zip(_EPOCH, row, strict=True)) for row in rows]


def _names(names: NDArray[Any]) -> list[str]:
    return [str(name) for name in names]


def _read_names(fields: Fields, name: str) -> NDArray[Any]:
    return np.array(fields.texts(name), dtype=object)


def _read_kernel(fields: Fields, name: str) -> Kernel:
    return read_option(Kernel, fields, name)  # type: ignore[type-abstract]


def _read_dual(fields: Fields, name: str) -> NDArray[Any] | None:
    # What is not feasible of it is put right by whoever uses it.
    return fields.optional(
        lambda one: fields.array(one, (np.float64,), (None,), finite=False), name
    )


def _read_scores(fields: Fields, name: str) -> NDArray[Any]:
    return fields.array(name, (np.float64,), (None,), finite=False)


def _read_support(fields: Fields, name: str) -> NDArray[Any]:
    numbers = fields.array(name, (np.int64,), (None,), finite=False)
    if numbers.min(initial=0) < 0:
        fields.fail(name, "must have numbers of rows")
    return numbers


def _read_counts(fields: Fields, name: str) -> NDArray[Any]:
    return fields.array(name, (np.int32,), (None,), finite=False)


def _read_objective(fields: Fields, name: str) -> tuple[Any, ...]:
    values = fields.take(name)
    if not (isinstance(values, list) and len(values) == 2):
        fields.fail(name, "must be a list of two numbers")
    pair = Fields(dict(zip("PD", values, strict=True)), f"{fields.where}[{name!r}]")
    return tuple(pair.number(one, finite=False) for one in "PD")


def _read_certifies(fields: Fields, name: str) -> Any:
    return fields.choice(name, (FULL, SPAN))


def _read_output(fields: Fields, name: str) -> dict[str, str]:
    inside = fields.inside(name)
    chosen = inside.choice("transform", ("default", "pandas", "polars"))
    inside.end()
    return {"transform": chosen}


def _read_matrix(fields: Fields, name: str) -> NDArray[np.float64]:
    return fields.array(name, (np.float64,), (None, None), finite=True)


def _read_order(fields: Fields, name: str) -> Any:
    return fields.optional(lambda one: fields.array(one, (np.int64,), (None,), finite=True), name)


def _truth_if_known(fields: Fields, name: str) -> Any:
    return fields.optional(fields.truth, name)


def _count(fields: Fields, name: str) -> Any:
    return fields.count(name)


def _read_budget(fields: Fields, name: str) -> Any:
    return fields.optional(lambda one: fields.count(one, least=1), name)


def _amount(fields: Fields, name: str) -> Any:
    return fields.number(name, at_least=0)


def _any_number(fields: Fields, name: str) -> Any:
    return fields.number(name, finite=False)


# ---- the tables ----

_ANY: dict[str, Attribute] = {
    "n_features_in": Attribute("n_features_in_", lambda fields, name: fields.count(name, least=1)),
    "feature_names_in": Attribute("feature_names_in_", _read_names, _names, may_lack=True),
    "model": Attribute("_expansion", _part(KernelExpansion), _recorded),
}
_MACHINE = _ANY | {
    "kernel_wanted": Attribute("_kernel_wanted", _read_kernel),
    "budget": Attribute("budget_", _read_budget),
    "rows_seen": Attribute("_rows_seen", _count),
    "visits": Attribute("_visits", _count),
    "n_iter": Attribute("n_iter_", _count),
    "history": Attribute("history_", read_history, history_record),
    "validation_scores": Attribute("validation_scores_", _read_scores, may_lack=True),
    "duality_gap": Attribute("duality_gap_", _any_number, may_lack=True),
    "objective": Attribute("objective_", _read_objective, may_lack=True),
    "converged": Attribute("converged_", lambda fields, name: fields.truth(name), may_lack=True),
    "certifies": Attribute("certifies_", _read_certifies, may_lack=True),
    "support": Attribute("_support", _read_support, may_lack=True),
    "dual": Attribute("_dual", _read_dual),
    "origin": Attribute("_origin", _part(Origin), _recorded),
    "reservoir": Attribute("_reservoir", _part(Reservoir), _recorded),
}
ATTRIBUTES: dict[str, dict[str, Attribute]] = {
    "BudgetSVC": _MACHINE
    | {
        "classes": Attribute("classes_", read_labels, labels_record),
        "penalty": Attribute("C_", _amount, may_lack=True),
        "pairwise": Attribute("_pairwise", lambda fields, name: fields.truth(name)),
        "logistic": Attribute("_logistic", _truth_if_known),
        "tie_order": Attribute("_tie_order", _read_order),
        "class_weights": Attribute("class_weight_", _read_scores, may_lack=True),
        "n_support": Attribute("_n_support", _read_counts, may_lack=True),
    },
    "BudgetSVR": _MACHINE
    | {
        "penalty": Attribute("C_", _amount, may_lack=True),
        "flat": Attribute("_flat", lambda fields, name: fields.truth(name)),
        "target_scale": Attribute("_target_scale", _part(TargetScale), _recorded),
    },
    "BudgetOneClassSVM": _MACHINE
    | {
        "level": Attribute("_level", _amount),
        "weight_seen": Attribute("_weight_seen", _amount),
        "scale": Attribute("_scale", _amount),
        "trained_nu": Attribute("_trained_nu", _amount),
        "offset": Attribute("_offset", lambda fields, name: fields.optional(fields.number, name)),
    },
    "BudgetFeatures": _ANY
    | {
        "normalization": Attribute("normalization_", _read_matrix),
        "output_config": Attribute("_sklearn_output_config", _read_output, may_lack=True),
    },
}
#: What follows from other attributes, and what a snapshot leaves out: monitors, how parameters were found, and how
#: scikit-learn's meta-estimators and callbacks are to deal with an estimator.
FOLLOWING = {"kernel_", "target_mean_", "target_scale_"}
LEFT_OUT = {*TUNED, "monitor_", "_skl_callbacks", "_parent_callback_ctx", "_metadata_request"}

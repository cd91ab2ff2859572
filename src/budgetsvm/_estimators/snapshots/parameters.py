"""The parameters of an estimator as a plain record, and back."""

from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from budgetsvm._common.random_states import random_record, random_source
from budgetsvm._common.records import Fields, Record
from budgetsvm._model.option_records import read_option
from budgetsvm.kernels import Kernel
from budgetsvm.losses import Loss
from budgetsvm.maintenance import Maintenance
from budgetsvm.solvers import Solver

# A monitor is something that lives: it stays with the estimator that it has watched.
_MONITOR = "monitor"

_OPTIONS: dict[str, Any] = {
    "kernel": Kernel,
    "loss": Loss,
    "solver": Solver,
    "maintenance": Maintenance,
}
_RANDOM = (np.random.Generator, np.random.RandomState)


def parameter_record(machine: BaseEstimator) -> Record:
    """Return all parameters but the monitor; what is not plain among them may still be there."""
    given = machine.get_params(deep=False)
    given.pop(_MONITOR)
    record = dict(given)
    if isinstance(given["random_state"], _RANDOM):
        record["random_state"] = random_record(given["random_state"])
    weights = given.get("class_weight")
    if isinstance(weights, dict):  # whose keys are labels
        record["class_weight"] = {"labels": [*weights], "weights": [*weights.values()]}
    return record


def read_parameters(fields: Fields, kind: Any) -> dict[str, Any]:
    """Return the parameters of an estimator of this kind."""
    parameters = {name: _read(fields, name) for name in _names(kind)}
    fields.end()
    return parameters


@cache  # scikit-learn looks them up in the signature, which takes longer than to read them all
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._get_param_names() if name != _MONITOR)


def _read(fields: Fields, name: str) -> Any:
    if fields.has_array(name) and name == "basis":
        return fields.array(name, (np.bool_, *_NUMBERS), (...,), finite=False)
    if fields.has_record(name):
        if name in _OPTIONS:
            return read_option(_OPTIONS[name], fields, name)
        if name == "random_state":
            return random_source(fields.inside(name))
        if name == "class_weight":
            return _read_weights(fields.inside(name))
    if name == "basis" and fields.has_list(name):
        return _rows(fields, name, fields.take(name))
    return fields.scalar(name)


_NUMBERS = tuple(np.dtype(code) for code in (*np.typecodes["AllInteger"], *np.typecodes["Float"]))


def _read_weights(fields: Fields) -> dict[Any, Any]:
    """Return weights by labels, which may be of any type that NumPy has."""
    found = []
    for name in ("labels", "weights"):
        values = fields.take(name)
        if not isinstance(values, list):
            fields.fail(name, "must be a list")
        found.append([fields.as_scalar(name, value) for value in values])
    fields.end()
    labels, weights = found
    together = dict(zip(labels, weights, strict=False))
    if not len(labels) == len(weights) == len(together):
        fields.fail("labels", "must differ, and be as many as there are weights")
    return together


def _rows(fields: Fields, name: str, value: Any) -> Any:
    """Return points that were given as lists."""
    if isinstance(value, list):
        return [_rows(fields, name, one) for one in value]
    return fields.as_scalar(name, value)

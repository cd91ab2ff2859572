"""A plain, versioned record of a fitted machine: what all file formats stand on.

A snapshot has dicts, lists, strings, numbers, None and NumPy arrays (numbers, truth values, strings; a scalar of
NumPy is an array without an axis) in it, and no other objects. ::

    {"format": "budgetsvm snapshot", "version": 7, "library": "1.2", "machine": {...}}

Here is what does not depend on the kind of machine: what is plain, and what is checked before anything else.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import version as version_of
from typing import Any

import numpy as np

from budgetsvm._common.records import Fields, Record
from budgetsvm._model.option_records import OPTION, option_record

FORMAT = "budgetsvm snapshot"
VERSION = 8


def _say_what_is_certified(machine: Any) -> Any:
    """Version 2: before, a certificate was always about the span of the terms. Nothing is checked here."""
    state = machine.get("state") if isinstance(machine, dict) else None
    if not isinstance(state, dict):
        return machine
    new = dict(state)
    if "learner" in state:  # of features
        new["learner"] = _say_what_is_certified(state["learner"])
    elif "duality_gap" in state:
        new["certifies"] = None if state["duality_gap"] is None else "span"
    return machine | {"state": new}


def _say_what_outputs_are(machine: Any) -> Any:
    """Version 4: before, outputs of a classifier were classes, and never pairs of them. Nothing is checked here."""
    if not isinstance(machine, dict):
        return machine
    new = dict(machine)
    state, parameters = machine.get("state"), machine.get("parameters")
    if isinstance(state, dict) and "learner" in state:  # of features
        new["state"] = state | {"learner": _say_what_outputs_are(state["learner"])}
    elif machine.get("kind") == "BudgetSVC" and isinstance(state, dict):
        new["state"] = state | {"pairwise": False}
        if isinstance(parameters, dict):
            new["parameters"] = parameters | {"decision_function_shape": "ovr"}
    return new


def _say_how_ties_are_broken(machine: Any) -> Any:
    """Version 5: before, the values of pairs did. Nothing is checked here."""
    if not isinstance(machine, dict):
        return machine
    new = dict(machine)
    state, parameters = machine.get("state"), machine.get("parameters")
    if isinstance(state, dict) and "learner" in state:  # of features
        new["state"] = state | {"learner": _say_how_ties_are_broken(state["learner"])}
    elif machine.get("kind") == "BudgetSVC" and isinstance(state, dict):
        new["state"] = state | {"tie_order": None}
        if isinstance(parameters, dict):
            new["parameters"] = parameters | {"break_ties": True}
    return new


def _say_which_rows(machine: Any) -> Any:
    """Version 3: before, nobody took note of rows that are terms, nor of the weights of classes."""
    state = machine.get("state") if isinstance(machine, dict) else None
    if not isinstance(state, dict):
        return machine
    new = dict(state)
    if "learner" in state:  # of features
        new["learner"] = _say_which_rows(state["learner"])
    elif "duality_gap" in state:
        new["support"] = None
    if "classes" in state:
        new["class_weights"] = new["n_support"] = None
    return machine | {"state": new}


def _say_what_C_was(machine: Any) -> Any:
    """Version 6: before, C was the same in the span of terms, which nobody took note of. Nothing is checked here."""
    state = machine.get("state") if isinstance(machine, dict) else None
    if not isinstance(state, dict):
        return machine
    new = dict(state)
    if "learner" in state:  # of features
        new["learner"] = _say_what_C_was(state["learner"])
    elif machine.get("kind") in ("BudgetSVC", "BudgetSVR"):
        new["penalty"] = None
    return machine | {"state": new}


def _say_what_the_budget_was(machine: Any) -> Any:
    """Version 7: before, it was what the parameter says. Nothing is checked here."""
    if not isinstance(machine, dict) or not isinstance(machine.get("state"), dict):
        return machine
    state, parameters = dict(machine["state"]), machine.get("parameters")
    if "learner" in state:  # of features
        state["learner"] = _say_what_the_budget_was(state["learner"])
    elif "rows_seen" in state and isinstance(parameters, dict):
        budget = parameters.get("budget")
        state["budget"] = int(budget) if isinstance(budget, float) else budget
    return machine | {"state": state}


def _say_what_the_loss_was(machine: Any) -> Any:
    """Version 8: before, it was what the parameter says. Nothing is checked here."""
    if not isinstance(machine, dict) or not isinstance(machine.get("state"), dict):
        return machine
    state = dict(machine["state"])
    if "learner" in state:  # of features
        state["learner"] = _say_what_the_loss_was(state["learner"])
    elif machine.get("kind") == "BudgetSVC":
        state["logistic"] = None
    return machine | {"state": state}


#: From the machine of an old version to that of the next one. A version is added whenever fields are, or
#: their meaning changes: a new parameter of an estimator is a new field.
UPGRADES: dict[int, Callable[[Record], Record]] = {
    1: _say_what_is_certified,
    2: _say_which_rows,  # points may be sparse since then, too
    3: _say_what_outputs_are,
    4: _say_how_ties_are_broken,
    5: _say_what_C_was,
    6: _say_what_the_budget_was,
    7: _say_what_the_loss_was,
}

_PLAIN_KINDS = "biufU"  # of arrays
_DEEPEST, _MOST_THINGS = 20, 5_000_000


@cache  # it is looked up in a file
def library() -> str:
    """Return the version of this package."""
    return version_of("budgetsvm")


def sealed(machine: Record) -> Record:
    """Return the snapshot that a machine's record belongs in; complains about what is not plain."""
    content = plain(machine, "the estimator")
    return {
        "format": FORMAT,
        "version": VERSION,
        "library": library(),
        "machine": content,
    }


def opened(snapshot: Any) -> Any:
    """Return the machine's record of a snapshot, in the layout of today. Who reads it has to check it."""
    check_plain(snapshot, "the snapshot")
    fields = Fields(snapshot, "the snapshot")
    fields.choice("format", (FORMAT,))
    version, library = fields.count("version", least=1), fields.take("library")
    if version > VERSION:
        fields.fail(
            "version",
            f"is {version}, written by budgetsvm {library}; this budgetsvm reads up to {VERSION}: "
            "install a newer one",
        )
    machine = fields.take("machine")
    fields.end()
    for old in range(int(version), VERSION):
        machine = UPGRADES[old](machine)
    return machine


def plain(value: Any, where: str) -> Any:
    """Return the same in plain things; says what cannot be, and what to do about it."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic | np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        if value.dtype.kind in _PLAIN_KINDS:
            return np.asarray(value, order="C")
        _refuse(where, f"has the type {value.dtype}", "use numbers or strings")
    if isinstance(value, OPTION):
        record = option_record(value)
        if record is None:
            _refuse(where, f"is {value!r}", "use an option of budgetsvm's own, or a pickle")
        return plain(record, where)
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: plain(one, f"{where}[{key!r}]") for key, one in value.items()}
    if type(value) in (list, tuple):
        return [plain(one, f"{where}[{i}]") for i, one in enumerate(value)]
    if callable(value):
        _refuse(where, f"is {value!r}", "use a kernel of budgetsvm.kernels, or a pickle")
    what = "use plain numbers, strings or NumPy arrays, or a pickle"
    return _refuse(where, f"is of the type {type(value).__name__}", what)


def _refuse(where: str, what: str, instead: str) -> None:
    message = f"{where} {what}, which a snapshot cannot hold: {instead}"
    raise ValueError(message)


def check_plain(value: Any, where: str) -> None:
    """Raise a ValueError if there is anything but plain things in a record, or too many of them."""
    _Check().value(value, where)


class _Check:
    """Counts what it has seen: a record in which things occur again and again may have no end."""

    def __init__(self) -> None:
        self._seen = 0

    def value(self, value: Any, where: str, depth: int = 0) -> None:
        """Look at a value, and at what is in it."""
        self._seen += 1
        if self._seen > _MOST_THINGS:
            message = f"{where}: the record has more than {_MOST_THINGS} parts"
            raise ValueError(message)
        if value is None or type(value) in (bool, int, float, str):
            return
        if type(value) in (np.ndarray, np.memmap) and value.dtype.kind in _PLAIN_KINDS:
            return
        if depth < _DEEPEST and type(value) is dict and all(type(key) is str for key in value):
            for key, one in value.items():
                self.value(one, f"{where}[{key!r}]", depth + 1)
        elif depth < _DEEPEST and type(value) is list:
            for i, one in enumerate(value):
                self.value(one, f"{where}[{i}]", depth + 1)
        else:
            message = f"{where} is of the type {type(value).__name__}, and not plain"
            raise ValueError(message)

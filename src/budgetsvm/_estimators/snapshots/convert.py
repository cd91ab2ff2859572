"""From a fitted estimator to its snapshot, and back."""

from functools import partial
from typing import Any

from sklearn.exceptions import NotFittedError

from budgetsvm._common.checks import best_instead
from budgetsvm._common.records import Fields, Record
from budgetsvm._estimators.features import BudgetFeatures
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.snapshots.attributes import ATTRIBUTES, FOLLOWING, LEFT_OUT
from budgetsvm._estimators.snapshots.consistency import check_parameters, check_state
from budgetsvm._estimators.snapshots.parameters import parameter_record, read_parameters
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._model.snapshot import opened, sealed

_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures)
}
_LEARNER = "learner"  # of features that are learned from a stream


def snapshot_of(machine: Any) -> Record:
    """Return a plain record of a fitted estimator: all it takes to predict, and to go on training.

    It shares arrays with the estimator. Left out are the monitor (`monitor`, `monitor_`), scikit-learn's
    callbacks and metadata requests. What is not plain (a kernel function, a loss made by the user, labels
    that are objects, attributes that others have added) is refused with a ValueError; an estimator that
    is not fitted, by a NotFittedError.
    """
    return sealed(_record(machine))


def machine_of(snapshot: Any) -> Any:
    """Return the estimator of a snapshot, which predicts and goes on as the original does, bit for bit.

    Arrays are shared with the snapshot. Whatever is wrong with it is said in a ValueError.
    """
    return _machine(Fields(opened(snapshot), "the snapshot['machine']"), tuple(_KINDS))


def _record(machine: Any) -> Record:
    kind = type(machine).__name__
    if type(machine) is not _KINDS.get(kind):
        message = (
            f"a {type(machine).__module__}.{kind} is none of the estimators that a snapshot can hold: "
            f"{', '.join(_KINDS)}; use a pickle{best_instead(machine)}"
        )
        raise ValueError(message)
    if not hasattr(machine, "_expansion"):
        message = f"this {kind} is not fitted yet: there is nothing to take a snapshot of"
        raise NotFittedError(message)
    check_parameters(machine)
    if hasattr(machine, "_objects"):
        message = f"this {kind} compares objects by a function, which is code: a snapshot cannot hold it; use a pickle"
        raise ValueError(message)
    known = {one.name for one in ATTRIBUTES[kind].values()} | {"_learner"}
    known |= FOLLOWING | LEFT_OUT | set(machine._get_param_names())
    unknown = ", ".join(sorted(repr(name) for name in vars(machine).keys() - known))
    if unknown:
        message = (
            f"this {kind} has attributes that a snapshot does not know: {unknown}; delete them"
        )
        raise ValueError(message)
    return {"kind": kind, "parameters": parameter_record(machine), "state": _state(machine)}


def _state(machine: Any) -> Record:
    own, state = vars(machine), {}
    for field, one in ATTRIBUTES[type(machine).__name__].items():
        lacks = one.may_lack and one.name not in own
        state[field] = None if lacks else one.write(getattr(machine, one.name))
    if isinstance(machine, BudgetFeatures):
        learner = own.get("_learner")
        state[_LEARNER] = None if learner is None else _record(learner)
    return state


def _machine(fields: Fields, kinds: tuple[str, ...]) -> Any:
    kind = fields.choice("kind", kinds)
    parameters = read_parameters(fields.inside("parameters"), _KINDS[kind])
    state = fields.inside("state")
    fields.end()
    machine = _KINDS[kind](**parameters)
    check_parameters(machine)
    for field, one in ATTRIBUTES[kind].items():
        read = partial(one.read, state)
        value = state.optional(read, field) if one.may_lack else read(field)
        if not (one.may_lack and value is None):
            setattr(machine, one.name, value)
    if isinstance(machine, BudgetFeatures):
        _read_learner(machine, state)
    state.end()
    _follow(machine, state)
    check_state(machine, state.where)
    return machine


def _read_learner(machine: BudgetFeatures, state: Fields) -> None:
    kinds = tuple(kind for kind in _KINDS if kind != "BudgetFeatures")
    learner = state.optional(lambda name: _machine(state.inside(name), kinds), _LEARNER)
    if learner is not None:
        if learner.n_features_in_ != machine.n_features_in_:
            state.fail(_LEARNER, "has learned from rows of another width")
        machine._learner = learner


def _follow(machine: Any, state: Fields) -> None:
    """Set the attributes that follow from others."""
    if machine._expansion is None:
        state.fail("model", "must not be None")
    machine.kernel_ = machine._expansion.kernel
    if isinstance(machine, BudgetSVR):
        if machine._target_scale is None:
            state.fail("target_scale", "must not be None")
        machine._take_scale(machine._target_scale)

"""What comes out of the ONNX graph of an estimator: names, types and shapes."""

from collections.abc import Callable
from typing import Any

from budgetsvm._estimators.features import BudgetFeatures
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.relevance.scaler import RelevanceScaler
from budgetsvm._estimators.svc import BudgetSVC


def output_names(machine: Any) -> list[str]:
    """Return what an estimator has to say of rows."""
    if isinstance(machine, BudgetSVC):
        # Those of pairs of classes take the solution of linear systems.
        has_shares = machine._has_shares and not getattr(machine, "_pairwise", False)
        return ["label", *["probabilities"] * has_shares, "scores"]
    if isinstance(machine, BudgetOneClassSVM):
        return ["label", "scores"]
    return ["variable"]


def parser_for(alias: str) -> Callable[..., Any]:
    """Return what declares the outputs of an estimator that stands at the end, or in a pipeline."""

    def parse(scope: Any, machine: Any, inputs: Any, custom_parsers: Any = None) -> Any:  # noqa: ARG001
        from skl2onnx.common.data_types import FloatTensorType

        operator = scope.declare_local_operator(alias, machine)
        operator.inputs.extend(inputs)
        for name in output_names(machine):
            operator.outputs.append(scope.declare_local_variable(name, FloatTensorType()))
        set_types(operator)
        return operator.outputs

    return parse


UNKNOWN_STEP = "skl2onnx does not know all that a step before it does (add_indicator of SimpleImputer, say): export the machine alone, or use steps without it"


def check_columns(operator: Any) -> None:
    """Refuse a graph whose steps before a machine make other columns than those of the pipeline do."""
    widths: list[Any] = [
        one.type.shape[1] if len(one.type.shape) > 1 else None for one in operator.inputs
    ]
    machine = operator.raw_operator
    if None not in widths and sum(widths) != machine.n_features_in_:
        name, count = type(machine).__name__, machine.n_features_in_
        message = (
            f"{name} wants {count} columns, and would get {sum(widths)} in ONNX: {UNKNOWN_STEP}"
        )
        raise ValueError(message)


def _is_double(operator: Any) -> bool:
    from skl2onnx.common.data_types import DoubleTensorType

    return any(isinstance(one.type, DoubleTensorType) for one in operator.inputs)


def output_type(operator: Any) -> int:
    """Return the type of values, in ONNX: that of the input, or float for integers."""
    return 11 if _is_double(operator) else 1


def set_types(operator: Any) -> None:
    """Set types and shapes of all outputs; a width of None may be anything."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    machine, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    kind = DoubleTensorType if _is_double(operator) else FloatTensorType
    for one in operator.outputs[int("label" in output_names(machine)) :]:
        one.type = kind([rows, _width(machine, one.raw_name)])
    if "label" in output_names(machine):
        operator.outputs[0].type = _label_type(machine)([rows])


def _width(machine: Any, name: str) -> int | None:
    if isinstance(machine, RelevanceScaler):
        return int(machine.n_features_in_)
    if isinstance(machine, BudgetFeatures):
        return len(machine._expansion)
    n_outputs = len(machine._expansion.coef)
    if not isinstance(machine, BudgetSVC):
        return n_outputs
    if getattr(machine, "_pairwise", False):
        return None
    return n_outputs if name == "scores" else len(machine.classes_)


def _label_type(machine: Any) -> Any:
    from skl2onnx.common import data_types

    if isinstance(machine, BudgetOneClassSVM) or machine.classes_.dtype.kind in "biu":
        return data_types.Int64TensorType
    kinds = {"float64": data_types.DoubleTensorType, "float32": data_types.FloatTensorType}
    return kinds.get(str(machine.classes_.dtype), data_types.StringTensorType)

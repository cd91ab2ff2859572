"""How skl2onnx converts the estimators of this package: alone, in pipelines, and inside of others."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._estimators.features import BudgetFeatures
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.relevance.scaler import RelevanceScaler
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svc_prediction import HEAD_TO_HEAD
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._formats.onnx.graph import DOUBLE, INT64, Graph
from budgetsvm._formats.onnx.types import (
    check_columns,
    output_names,
    output_type,
    parser_for,
    set_types,
)
from budgetsvm._formats.sums import sums_of
from budgetsvm._model.expansion import KernelExpansion

CONVERTED = BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures, RelevanceScaler


@cache
def register() -> None:
    """Let skl2onnx know all estimators."""
    from skl2onnx import update_registered_converter

    for kind, convert in (
        (BudgetSVC, _convert_classifier),
        (BudgetSVR, _convert_regressor),
        (BudgetOneClassSVM, _convert_detector),
        (BudgetFeatures, _convert_features),
        (RelevanceScaler, _convert_scaler),
    ):
        update_registered_converter(
            kind,
            kind.__name__,
            set_types,
            convert,
            parser=parser_for(kind.__name__),
            options={"raw_scores": [True, False], "zipmap": [True, False, "columns"]}
            if kind is BudgetSVC
            else {},
        )


def _begin(scope: Any, operator: Any, container: Any) -> tuple[Graph, str, Any]:
    check_columns(operator)
    graph = Graph(scope, container)
    return graph, graph.rows([one.full_name for one in operator.inputs]), output_type(operator)


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    graph, x, kind = _begin(scope, operator, container)
    values = graph.sums(x, sums_of(operator.raw_operator))
    graph.add("Cast", values, to=kind, out=operator.outputs[0].full_name)


def _convert_features(scope: Any, operator: Any, container: Any) -> None:
    graph, x, kind = _begin(scope, operator, container)
    features: BudgetFeatures = operator.raw_operator
    values = graph.kernel_values(x, features._expansion)
    values = graph.add("MatMul", values, features.normalization_)
    graph.add("Cast", values, to=kind, out=operator.outputs[0].full_name)


def _convert_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph, x, kind = _begin(scope, operator, container)
    scaler: RelevanceScaler = operator.raw_operator
    if scaler.mean_ is not None:
        x = graph.add("Sub", x, scaler.mean_[np.newaxis])
    x = graph.add("Div", x, scaler.scale_[np.newaxis])
    graph.add("Cast", x, to=kind, out=operator.outputs[0].full_name)


def _convert_detector(scope: Any, operator: Any, container: Any) -> None:
    graph, x, kind = _begin(scope, operator, container)
    values = graph.sums(x, sums_of(operator.raw_operator))
    inside = graph.add("GreaterOrEqual", values, 0.0)
    labels = graph.add("Where", inside, np.int64(1), np.int64(-1))
    graph.add("Reshape", labels, np.array([-1]), out=operator.outputs[0].full_name)
    graph.add("Cast", values, to=kind, out=operator.outputs[1].full_name)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph, x, kind = _begin(scope, operator, container)
    machine: BudgetSVC = operator.raw_operator
    sums = graph.sums(x, machine._expansion)
    pairwise = machine._pairwise
    values = _votes(graph, sums, len(machine.classes_)) if pairwise else sums
    label, *others = operator.outputs
    if pairwise and machine.break_ties == HEAD_TO_HEAD:
        code = _head_to_head(graph, sums, len(machine.classes_))
        graph.add("Gather", _known(machine.classes_), code, out=label.full_name, axis=0)
    elif pairwise and not machine.break_ties:
        _first_winners(graph, sums, machine, label.full_name)
    else:
        _labels(graph, values, machine.classes_, label.full_name)
    raw = container.get_options(machine, {"raw_scores": False}).get("raw_scores", False)
    for one in others:
        if one.raw_name == "scores":
            by_pairs = pairwise and machine.decision_function_shape == "ovo"
            found = sums if by_pairs else values
        elif raw or "probabilities" not in output_names(machine):
            found = _columns(graph, values, machine._expansion)
        else:
            found = _probabilities(graph, values, machine._expansion)
        graph.add("Cast", found, to=kind, out=one.full_name)


def _labels(graph: Graph, values: str, classes: NDArray[Any], out: str) -> None:
    """Find the labels of values: of two classes by their sign, else that of the largest."""
    if len(classes) == 2:
        code = graph.add("Cast", graph.add("Greater", values, 0.0), to=INT64)
        code = graph.add("Reshape", code, np.array([-1]))
    else:
        code = graph.add("ArgMax", values, axis=1, keepdims=0)
    graph.add("Gather", _known(classes), code, out=out, axis=0)


def _known(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a type that ONNX has."""
    return classes.astype(np.int64) if classes.dtype.kind in "biu" else classes


def _first_winners(graph: Graph, values: str, machine: BudgetSVC, out: str) -> None:
    """Find the labels that win most pairs and, of several, come first: see `first_winners` of the estimator."""
    n_classes = len(machine.classes_)
    order = np.arange(n_classes) if machine._tie_order is None else machine._tie_order
    ranks = np.argsort(order)
    first, second = np.triu_indices(n_classes, 1)
    more, least = (
        graph.add("Cast", graph.add(test, values, 0.0), to=DOUBLE)
        for test in ("Greater", "GreaterOrEqual")
    )
    won = graph.add("Where", ranks[first] < ranks[second], more, least)
    incidence = _incidence(n_classes)[:, order]
    wins = graph.add("MatMul", won, incidence)
    wins = graph.add("Add", wins, (incidence < 0).sum(axis=0) * 1.0)
    code = graph.add("ArgMax", wins, axis=1, keepdims=0)
    graph.add("Gather", _known(machine.classes_[order]), code, out=out, axis=0)


def _head_to_head(graph: Graph, values: str, n_classes: int) -> str:
    """Find which classes win most pairs and, of several, most clearly against each other."""
    incidence = _incidence(n_classes)
    wins = _wins(graph, values, incidence)
    # ReduceMax has not been the same in all versions.
    first = graph.add("ArgMax", wins, axis=1, keepdims=1)
    best = graph.add("Equal", wins, graph.add("GatherElements", wins, first, axis=1))
    both = graph.add("MatMul", graph.add("Cast", best, to=DOUBLE), abs(incidence).T)
    known = graph.add("Where", graph.add("Greater", both, 1.5), values, 0.0)
    sums = graph.add("MatMul", known, incidence)
    return graph.add("ArgMax", graph.add("Where", best, sums, -np.inf), axis=1, keepdims=0)


def _incidence(n_classes: int) -> NDArray[np.float64]:
    """Return 1 for the first class of a pair and -1 for the second, (pairs, classes)."""
    first, second = np.triu_indices(n_classes, 1)
    incidence, every = np.zeros((len(first), n_classes)), np.arange(len(first))
    incidence[every, first], incidence[every, second] = 1.0, -1.0
    return incidence


def _columns(graph: Graph, values: str, model: KernelExpansion) -> str:
    """Return a value per class, also of two."""
    if len(model.coef) > 1:
        return values
    return graph.add("Concat", graph.add("Neg", values), values, axis=1)


def _probabilities(graph: Graph, values: str, model: KernelExpansion) -> str:
    """Return the probability of every class, as the logistic loss has it."""
    shares = graph.add("Sigmoid", _columns(graph, values, model))
    n_outputs = len(model.coef)
    if n_outputs == 1:
        return shares
    total = graph.add("MatMul", shares, np.ones((n_outputs, 1)))
    return graph.add("Div", shares, graph.add("Max", total, float(np.finfo(float).tiny)))


def _votes(graph: Graph, values: str, n_classes: int) -> str:
    """Return how many pairs each class wins, and a little more or less by how clearly."""
    incidence = _incidence(n_classes)
    wins = _wins(graph, values, incidence)
    sums = graph.add("MatMul", values, incidence)
    scale = graph.add("Mul", graph.add("Add", graph.add("Abs", sums), 1.0), 3.0)
    return graph.add("Add", wins, graph.add("Div", sums, scale))


def _wins(graph: Graph, values: str, incidence: NDArray[np.float64]) -> str:
    """Return how many pairs each class wins."""
    won = graph.add("Cast", graph.add("GreaterOrEqual", values, 0.0), to=DOUBLE)
    return graph.add("Add", graph.add("MatMul", won, incidence), (incidence < 0).sum(axis=0) * 1.0)

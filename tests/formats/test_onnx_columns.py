"""Tables whose columns have several types: what onnxruntime finds in them is what the estimators find, in all outputs."""

import warnings
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)

from budgetsvm import (
    BudgetFeatures,
    BudgetOneClassSVM,
    BudgetSVC,
    BudgetSVR,
    RelevanceScaler,
    to_onnx,
)
from budgetsvm._formats.onnx import columns

pd = pytest.importorskip("pandas")
onnxruntime = pytest.importorskip("onnxruntime")
N, RNG = 300, np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "whole": RNG.integers(0, 7, N),
        "small": RNG.integers(0, 9, N).astype(np.int32),
        "byte": RNG.integers(0, 9, N).astype(np.uint8),
        "unsigned": RNG.integers(0, 9, N).astype(np.uint64),
        "flag": RNG.random(N) < 0.5,
        "double": RNG.uniform(0, 3, N),
        "single": RNG.uniform(0, 3, N).astype(np.float32),
        "gaps": pd.array(RNG.integers(0, 9, N), dtype="Int64"),
        "time": 1.6e9 + 100 * RNG.random(N),
    }
)
GIVEN: dict[str, Any] = {"budget": 30, "gamma": 0.5, "random_state": 0}
MACHINES = {
    "two classes": BudgetSVC(C=10, **GIVEN),
    "pairs": BudgetSVC(C=10, multi_class="ovo", **GIVEN),
    "shares": BudgetSVC(multi_class="ovr", loss="logistic", **GIVEN),
    "regression": BudgetSVR(C=10, **GIVEN),
    "detector": BudgetOneClassSVM(**GIVEN),
    "features": BudgetFeatures(precision="double", **GIVEN),
}


def targets(table: Any, machine: str) -> np.ndarray:
    """Return what decimals of all columns decide about."""
    values = table.to_numpy(np.float64)
    y: np.ndarray = np.sin(2 * (values - values.mean(axis=0)) / values.std(axis=0)).sum(axis=1)
    if machine == "regression":
        return y
    return np.digitize(y, np.quantile(y, [0.4, 0.7] if machine in ("pairs", "shares") else [0.5]))


def fitted(*steps: Any, table: Any) -> Any:
    name = next(name for name, machine in MACHINES.items() if steps[-1] is machine)
    with warnings.catch_warnings(action="ignore"):  # of a polish that is not quite done
        return make_pipeline(*steps).fit(table, targets(table, name))


def run(model: Any, table: Any) -> dict[str, np.ndarray]:
    """Return all outputs for columns as they stand in a table."""
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [one.name for one in session.get_outputs()]
    given = {name: table[name].to_numpy()[:, np.newaxis] for name in table}
    return dict(zip(names, session.run(None, given), strict=True))


def check(machine: Any, table: Any, atol: float = 1e-5) -> None:
    """Let the runtime predict, and compare what it says, labels near boundaries apart."""
    found = run(to_onnx(machine, table), table)
    for name, raw in found.items():
        method = {"scores": "decision_function", "probabilities": "predict_proba"}.get(name)
        method = method or ("predict" if hasattr(machine, "predict") else "transform")
        expected = getattr(machine, method)(table)
        if name == "label":
            assert (raw == expected).mean() > 0.98
            continue
        values = raw.reshape(expected.shape)
        if machine[-1] is MACHINES["pairs"]:  # classes with as many votes may be exchanged
            values, expected = np.sort(values), np.sort(expected)
        assert_allclose(values, expected, atol=atol * expected.std())


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("names", [*permutations(["whole", "double", "flag"])], ids="-".join)
def test_any_order(names: Any, machine: str) -> None:
    """Decimals behind a column of integers count."""
    table = TABLE[list(names)]
    check(fitted(StandardScaler(), MACHINES[machine], table=table), table, 1e-3)


@pytest.mark.parametrize("first", TABLE)
@pytest.mark.parametrize("second", ["double", "single", "whole", "byte"])
@pytest.mark.parametrize("scaler", [[], [StandardScaler()]], ids=["alone", "scaled"])
def test_any_two_types(first: str, second: str, scaler: list[Any]) -> None:
    table = TABLE[list(dict.fromkeys([first, second]))]
    if first == "time" and not scaler:
        table = table.assign(time=table["time"] - 1.6e9)
    check(fitted(*scaler, MACHINES["two classes"], table=table), table, 1e-3)


STEPS = {
    "range": MinMaxScaler(),
    "relevance": RelevanceScaler(random_state=0),
    "side by side": make_union(StandardScaler(), MinMaxScaler()),
    "powers": make_pipeline(PolynomialFeatures(2), StandardScaler()),
    "medians": make_pipeline(SimpleImputer(), StandardScaler()),
    "yeo-johnson": PowerTransformer(),
    "branches": make_column_transformer(
        (StandardScaler(), ["whole", "double"]), (MinMaxScaler(), ["flag", "single"])
    ),
    "the rest": make_column_transformer((StandardScaler(), ["byte"]), remainder="passthrough"),
    "words": make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["whole", "byte"]),
        (StandardScaler(), ["flag", "double", "single"]),
    ),
    "places": make_column_transformer((StandardScaler(), [1, 0]), (MinMaxScaler(), [2, 3, 4])),
    "dropped": make_column_transformer((StandardScaler(), ["whole", "double"])),
}


@pytest.mark.parametrize("step", STEPS)
def test_steps(step: str) -> None:
    """All that skl2onnx can express says the same, columns apart or as one matrix."""
    table = TABLE[["whole", "double", "flag", "single", "byte"]]
    check(fitted(STEPS[step], MACHINES["two classes"], table=table), table, 1e-3)


def test_digits_beyond_single_precision() -> None:
    """Seconds since 1970 differ in their last digits only."""
    table = TABLE[["whole", "time"]]
    check(fitted(StandardScaler(), MACHINES["two classes"], table=table), table)


def test_what_only_single_precision_could_write_is_refused_where_digits_are_lost() -> None:
    table = TABLE[["whole", "time"]]
    machine = fitted(SimpleImputer(), StandardScaler(), MACHINES["two classes"], table=table)
    with pytest.raises(ValueError, match="ONNX would find something else"):
        to_onnx(machine, table)


@pytest.mark.parametrize("names", [("Sale Price", "a b"), ("label", "max"), ("scores", "X")])
def test_names_of_columns(names: Any) -> None:
    """Inputs have them, whatever they are, and whatever else of that name is in the graph."""
    table = TABLE[["whole", "double"]].set_axis(names, axis=1)
    machine = fitted(StandardScaler(), MACHINES["two classes"], table=table)
    model = to_onnx(machine, table)
    assert [one.name for one in model.graph.input] == list(names)
    labels, scores = run(model, table).values()
    assert (labels == machine.predict(table)).mean() > 0.99
    assert_allclose(scores[:, 0], machine.decision_function(table), atol=1e-5)


@pytest.mark.parametrize("machine", MACHINES)
def test_no_fault_is_silent(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a graph cuts decimals of one column off, all values are a little wrong and few labels are."""
    genuine = columns.put_right

    def cutting(model: Any, *args: Any, **named: Any) -> None:
        from onnx.helper import make_node

        genuine(model, *args, **named)
        place = next(k for k, node in enumerate(model.graph.node) if node.op_type == "Concat")
        inputs = model.graph.node[place].input
        cut = make_node("Floor", [inputs[1]], ["cut"])
        inputs[1] = "cut"
        model.graph.node.insert(place, cut)

    table = TABLE[["whole", "double", "flag"]]
    table = table.assign(double=10 * table["double"])  # decimals matter little
    model = fitted(StandardScaler(), MACHINES[machine], table=table)
    assert to_onnx(model, table)
    monkeypatch.setattr(columns, "put_right", cutting)
    with pytest.raises(ValueError, match=r"ONNX would find something else .* differs in"):
        to_onnx(model, table)

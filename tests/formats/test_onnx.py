"""onnxruntime predicts by exported models as the estimators do."""

import builtins
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, to_onnx

RNG = np.random.default_rng(0)
# Numbers that both precisions have: what is compared is the model, and not the rounding of its input.
X = RNG.standard_normal((200, 3)).astype(np.float32).astype(np.float64)
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(200) > 0, 1, 0)
CLASSES = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])
KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "laplacian": {"kernel": "laplacian", "gamma": 0.3},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.5, "coef0": 1.0},
}


def options(kernel: str) -> dict[str, Any]:
    maintenance = "merge" if kernel == "rbf" else "remove"
    own = {"maintenance": maintenance, "budget": 25, "random_state": 0, "precision": "double"}
    return KERNELS[kernel] | own


def run(model: Any, rows: Any) -> dict[str, np.ndarray]:
    """Return all outputs of an ONNX model by their names."""
    onnxruntime = pytest.importorskip("onnxruntime")
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


def close(found: Any, expected: Any) -> None:
    assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * abs(expected).max())


@pytest.fixture(params=[np.float32, np.float64], ids=["single", "double"])
def rows(request: pytest.FixtureRequest) -> np.ndarray:
    return X.astype(request.param)


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_classes(kernel: str, rows: np.ndarray) -> None:
    model = BudgetSVC(fit_intercept=True, **options(kernel)).fit(X, Y)
    found = run(to_onnx(model, rows), rows)
    assert list(found) == ["label", "scores"]
    assert found["scores"].dtype == rows.dtype
    close(found["scores"][:, 0], model.decision_function(X))
    assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("multi_class", ["ovr", "weston-watkins"])
def test_several_classes(multi_class: Any, rows: np.ndarray) -> None:
    model = BudgetSVC(multi_class=multi_class, **options("rbf")).fit(X, CLASSES)
    found = run(to_onnx(model, rows), rows)
    close(found["scores"], model.decision_function(X))
    assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_pairs_of_classes(shape: str, rows: np.ndarray) -> None:
    given = options("rbf") | {"multi_class": "ovo", "decision_function_shape": shape}
    model = BudgetSVC(**given).fit(X, CLASSES)
    found = run(to_onnx(model, rows), rows)
    close(found["scores"], model.decision_function(X))
    assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("y", [Y, CLASSES], ids=["two", "three"])
def test_probabilities(y: np.ndarray, rows: np.ndarray) -> None:
    model = BudgetSVC(loss="logistic", multi_class="ovr", **options("rbf")).fit(X, y)
    found = run(to_onnx(model, rows), rows)
    assert list(found) == ["label", "probabilities", "scores"]
    close(found["probabilities"], model.predict_proba(X))
    close(found["scores"].reshape(model.decision_function(X).shape), model.decision_function(X))


@pytest.mark.parametrize(
    "names",
    [["a", "b"], [False, True], [-1.0, 1.0], [-1.0, 2.5e9], np.array([3, 9], np.uint8)],
    ids=str,
)
@pytest.mark.parametrize("scaler", [[], [StandardScaler()]], ids=["alone", "scaled"])
def test_labels(scaler: list, names: Any) -> None:
    labels = np.asarray(names)[Y]
    model = make_pipeline(*scaler, BudgetSVC(**options("rbf"))).fit(X, labels)
    assert_array_equal(run(to_onnx(model, X), X)["label"], model.predict(X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_regression(kernel: str, n_targets: int, rows: np.ndarray) -> None:
    y = 500 + 20 * np.sin(X[:, :n_targets])
    model = BudgetSVR(C=10, **options(kernel)).fit(X, y[:, 0] if n_targets == 1 else y)
    found = run(to_onnx(model, rows), rows)["variable"]
    close(found.reshape(model.predict(X).shape), model.predict(X))


def test_one_class(rows: np.ndarray) -> None:
    model = BudgetOneClassSVM(nu=0.2, **options("rbf")).fit(X)
    found = run(to_onnx(model, rows), rows)
    expected = model.decision_function(X)
    close(found["scores"][:, 0], expected)
    clear = abs(expected) > 1e-5 * abs(expected).max()
    assert_array_equal(found["label"][clear], model.predict(X)[clear])


@pytest.mark.parametrize("kernel", KERNELS)
def test_features(kernel: str, rows: np.ndarray) -> None:
    model = BudgetFeatures(**options(kernel)).fit(X, Y)
    close(run(to_onnx(model, rows), rows)["variable"], model.transform(X))


def test_far_from_the_origin() -> None:
    """In single precision, distances far away are lost: not inside the graph."""
    far = (1000 + X).astype(np.float32)
    model = BudgetSVC(C=100, **options("rbf")).fit(far.astype(float), Y)
    close(run(to_onnx(model, far), far)["scores"][:, 0], model.decision_function(far.astype(float)))


def test_pipelines(rows: np.ndarray) -> None:
    scaled = make_pipeline(StandardScaler(), BudgetSVC(**options("rbf"))).fit(X, Y)
    found = run(to_onnx(scaled, rows), rows)
    assert_array_equal(found["label"], scaled.predict(X))
    close(found["scores"][:, 0], scaled.decision_function(X))
    features = make_pipeline(BudgetFeatures(**options("rbf")), LogisticRegression()).fit(X, Y)
    labels = next(iter(run(to_onnx(features, rows), rows).values()))
    assert_array_equal(labels, features.predict(X))


@pytest.mark.parametrize("y", [Y, CLASSES], ids=["two", "three"])
def test_inside_of_others(y: np.ndarray) -> None:
    model = CalibratedClassifierCV(BudgetSVC(**options("rbf")), cv=2).fit(X, y)
    skl2onnx = pytest.importorskip("skl2onnx")
    to_onnx(BudgetSVC(**options("rbf")).fit(X, Y), X)  # which lets skl2onnx know
    single = X.astype(np.float32)
    made = skl2onnx.to_onnx(model, single[:1], options={"zipmap": False})
    found = run(made, single)
    close(found["probabilities"], model.predict_proba(X))


def test_sparse_and_other_examples() -> None:
    model = BudgetSVC(**options("rbf")).fit(X, Y)
    for example in (sparse.csr_array(X), X.tolist(), np.ones((5, 3), int), X[:1]):
        kind = np.float32 if getattr(example, "dtype", None) == int else np.float64
        found = run(to_onnx(model, example), X.astype(kind))
        assert_array_equal(found["label"], model.predict(X))


def test_tables() -> None:
    """Each column of a data frame is an input of its own, as skl2onnx has it."""
    pd = pytest.importorskip("pandas")
    onnxruntime = pytest.importorskip("onnxruntime")
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = BudgetSVC(**options("rbf")).fit(table, Y)
    content = to_onnx(model, table).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    labels, scores = session.run(None, {name: table[[name]].to_numpy() for name in "abc"})
    assert_array_equal(labels, model.predict(table))
    close(scores[:, 0], model.decision_function(table))


def test_tables_with_words() -> None:
    pd = pytest.importorskip("pandas")
    onnxruntime = pytest.importorskip("onnxruntime")
    words = RNG.choice(["Bochum", "Essen", "Herne"], len(X))
    table = pd.DataFrame({"a": X[:, 0], "city": words, "n": np.arange(len(X)) % 5})
    labels = np.where((X[:, 0] > 0) ^ (words == "Essen"), "ja", "nein")
    columns = make_column_transformer(
        (StandardScaler(), ["a", "n"]),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["city"]),
    )
    model = make_pipeline(columns, BudgetSVC(**options("rbf"))).fit(table, labels)
    session = onnxruntime.InferenceSession(
        to_onnx(model, table).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    rows = {name: table[[name]].to_numpy() for name in ("a", "n")}
    found = session.run(["label"], {**rows, "city": table[["city"]].to_numpy(object)})[0]
    assert_array_equal(found, model.predict(table))


@pytest.mark.parametrize("scaler", [[], [StandardScaler()]], ids=["alone", "scaled"])
@pytest.mark.parametrize("kind", [BudgetSVC, BudgetFeatures])
def test_columns_that_onnx_would_not_make(scaler: list, kind: Any) -> None:
    """Those that say where numbers were missing: skl2onnx passes over them without a word."""
    rows = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
    model = make_pipeline(SimpleImputer(add_indicator=True), *scaler, kind(budget=20)).fit(rows, Y)
    with pytest.raises(ValueError, match="add_indicator"):
        to_onnx(model, rows.astype(np.float32))
    whole = make_pipeline(SimpleImputer(add_indicator=True), *scaler, kind(budget=20)).fit(X, Y)
    assert to_onnx(whole, X.astype(np.float32))  # nothing is missing: there are no such columns


@pytest.mark.parametrize(
    "make",
    [
        lambda machine: make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), machine),
        lambda machine: make_pipeline(PolynomialFeatures(2), StandardScaler(), machine),
        lambda machine: make_pipeline(PowerTransformer(), machine),
        lambda machine: make_pipeline(KNNImputer(), machine),
        lambda machine: BaggingClassifier(machine, 3, random_state=0),
        lambda machine: StackingClassifier([("a", machine), ("b", LogisticRegression())], cv=2),
        lambda machine: VotingClassifier([("a", machine), ("b", LogisticRegression())]),
        OneVsRestClassifier,
    ],
)
def test_what_is_written_says_the_same_or_is_refused(make: Any, rows: np.ndarray) -> None:
    """Not all that skl2onnx writes can be run."""
    machine = make(BudgetSVC(gamma=0.5, budget=20, random_state=0)).fit(X, CLASSES)
    try:
        model = to_onnx(machine, rows)
    except ValueError:
        with pytest.raises(ValueError, match="float32"):
            to_onnx(machine, rows)
        return
    labels = next(iter(run(model, rows).values()))
    assert (labels == machine.predict(X)).mean() > 0.98


INDICATOR = SimpleImputer(add_indicator=True)
UNKNOWN_STEPS = {
    "in a pipeline": (make_pipeline(StandardScaler(), INDICATOR), "simpleimputer.*add_indicator"),
    "in a branch": (
        make_column_transformer(
            (StandardScaler(), ["b"]), (make_pipeline(INDICATOR, StandardScaler()), ["a", "c"])
        ),
        "simpleimputer.*add_indicator",
    ),
    "beside others": (
        make_union(SimpleImputer(), MissingIndicator()),
        "missingindicator.*MissingIndicator",
    ),
    "a function": (
        make_pipeline(SimpleImputer(), FunctionTransformer(np.abs)),
        "functiontransformer.*absolute",
    ),
    "rare words": (
        make_column_transformer(
            (SimpleImputer(), ["a", "c"]),
            (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=30), ["word"]),
        ),
        "onehotencoder.*min_frequency=30",
    ),
}


@pytest.mark.parametrize("runtime", [True, False], ids=["onnxruntime", "onnx alone"])
@pytest.mark.parametrize(
    "last", [BudgetSVC(budget=20), LogisticRegression()], ids=["ours", "other"]
)
@pytest.mark.parametrize("name", UNKNOWN_STEPS)
def test_the_step_that_is_not_known_is_named(
    name: str, last: Any, runtime: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is written, with a runtime at hand or without."""
    pd = pytest.importorskip("pandas")
    rows = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X).astype(np.float32)
    rows[:100] = X[:100]  # gaps come late
    table = pd.DataFrame(rows, columns=["a", "b", "c"])
    if name == "in a branch":
        table["b"] = X[:, 1]
    if name == "rare words":
        table["word"] = np.repeat(["x", "y", "z", "w"], [100, 80, 10, 10])
    steps, said = UNKNOWN_STEPS[name]
    model = make_pipeline(steps, last).fit(table, Y)
    if not runtime:
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ValueError, match=f"the step '{said}.*export the last step alone"):
        to_onnx(model, table)


def test_pipelines_are_tried_out_without_a_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    single = X.astype(np.float32)
    model = make_pipeline(SimpleImputer(), StandardScaler(), BudgetSVC(budget=20)).fit(single, Y)
    assert to_onnx(model, single)


def test_large_codes_keep_all_digits() -> None:
    """Those above 2^24 are no numbers of single precision."""
    pd, onnxruntime = pytest.importorskip("pandas"), pytest.importorskip("onnxruntime")
    codes = np.array([400000001, 400000002, 400000003, 400000004])
    code = codes[RNG.integers(0, 4, 300)]
    table = pd.DataFrame({"x": RNG.standard_normal(300), "code": code, "word": "a"})
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer((StandardScaler(), ["x"]), (encoder, ["code", "word"]))
    machine = make_pipeline(columns, BudgetSVC(budget=20, random_state=0))
    machine.fit(table, code % 2)
    session = onnxruntime.InferenceSession(to_onnx(machine, table).SerializeToString())
    given = {
        "x": table[["x"]].to_numpy(),
        "code": table[["code"]].to_numpy(),
        "word": table[["word"]].to_numpy(object),
    }
    assert_array_equal(session.run(None, given)[0], machine.predict(table))


def test_a_model_without_terms() -> None:
    model = BudgetSVR(**options("rbf")).fit(X, np.full(len(X), 7.0))
    assert len(model.support_vectors_) == 0
    close(run(to_onnx(model, X), X)["variable"][:, 0], np.full(len(X), 7.0))


def test_kernel_functions_are_refused() -> None:
    model = BudgetSVC(kernel=lambda A, B: A @ B.T, maintenance="remove", budget=5).fit(X, Y)
    with pytest.raises(ValueError, match="ONNX cannot express the kernel"):
        to_onnx(model, X)


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without(name: str, *args: Any, **named: Any) -> Any:
        if name == "skl2onnx":
            raise ImportError(name)
        return genuine(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"budgetsvm\[onnx\]"):
        to_onnx(BudgetSVC(**options("rbf")).fit(X, Y), X)

"""A snapshot is plain, and what is made of it is the same estimator: its bits, and its future."""

import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sequences.runs import SUBJECTS, Data
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tools.frozen import differences, frozen
from tools.plain import assert_plain, through_a_file

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, kernels, losses
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm.maintenance import Merge, Project, Remove
from budgetsvm.monitoring import Trace
from budgetsvm.solvers import BSCA, BSGD

FIRST, SECOND = Data(n=60, d=3), Data(n=50, d=3, seed=1)
MACHINES = [subject for subject in SUBJECTS if subject != "features"]
WITHOUT_MERGING = {"maintenance": "remove"}

# Parameters, each of which is tried with every estimator that has them.
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bsgd": {"solver": "bsgd"},
    "solver object": {"solver": BSCA("uniform"), "maintenance": Project()},
    "bsgd object": {"solver": BSGD("uniform"), "maintenance": Remove()},
    "multimerge": {"maintenance": "multimerge"},
    "merge object": {"maintenance": Merge(3, "golden", "same-sign")},
    "laplacian": {"kernel": "laplacian", **WITHOUT_MERGING},
    "polynomial": {"kernel": kernels.Polynomial(2, 0.5, 1.0), "maintenance": "project"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01, **WITHOUT_MERGING},
    "linear": {"kernel": kernels.Linear(), **WITHOUT_MERGING},
    "gaussian object": {"kernel": kernels.Gaussian(np.float32(0.3))},
    "squared hinge": {"loss": "squared_hinge"},
    "logistic": {"loss": losses.Logistic(), "fit_intercept": True},
    "coupled": {"multi_class": "weston-watkins"},
    "each against the rest": {"multi_class": "ovr"},
    "unpolished": {"polish": False, "epochs": 2.5},
    "no budget": {"budget": None},
    "double": {"precision": "double"},
    "single": {"precision": "single"},
    "random": {"basis": "random"},
    "given": {"basis": np.random.default_rng(0).standard_normal((5, 3))},
    "given as lists": {"basis": [[0.0, 1, 2], [3, 4.5, 6]]},
    "early stopping": {"early_stopping": True, "validation_fraction": 0.3},
    "warm start": {"warm_start": True},
    "small reservoir": {"reservoir": 20},
    "no reservoir": {"reservoir": 0},
    "random state": {"random_state": np.random.RandomState(3)},
    "generator": {"random_state": np.random.default_rng(3)},
    "other generator": {"random_state": np.random.Generator(np.random.Philox(3))},
    "numpy numbers": {"C": np.float32(2), "budget": np.int16(9), "tol": np.float64(0.1)},
}
WAYS: dict[str, Callable[[Any, Data, str], Any]] = {
    "fit": lambda model, data, subject: model.fit(data.rows(), data.targets(subject)),
    "stream": lambda model, data, subject: model.partial_fit(data.rows(), data.targets(subject)),
}


def made(subject: str, **options: Any) -> Any:
    kind = SUBJECTS[subject]
    known = kind().get_params()
    chosen = {"budget": 10, "n_jobs": 1, "random_state": 0, **options}
    return kind(**{name: deepcopy(value) for name, value in chosen.items() if name in known})


def again(model: Any) -> Any:
    """Return what is made of the snapshot of a model, which is the same."""
    snapshot = snapshot_of(model)
    assert_plain(snapshot)
    loaded = machine_of(through_a_file(snapshot))
    assert type(loaded) is type(model)
    assert not differences(frozen(model)[1], frozen(loaded)[1])
    return loaded


def values(model: Any, X: Any) -> Any:
    for name in ("transform", "decision_function", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(X)
    raise AssertionError


def attributes(model: Any) -> Any:
    names = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    return frozen({name: getattr(model, name) for name in names if hasattr(model, name)})


@pytest.mark.sampled(5)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_snapshot_has_all(subject: str, options: str, way: str) -> None:
    chosen = OPTIONS[options]
    unfit = {"basis", "early_stopping"} & chosen.keys() if way == "stream" else False
    if unfit or (subject == "features" and chosen.get("budget", 1) is None):
        pytest.skip("refused")
    model = WAYS[way](made(subject, **chosen), FIRST, subject)
    loaded = again(model)
    assert attributes(loaded) == attributes(model)
    X = SECOND.rows()
    assert frozen(values(loaded, X)) == frozen(values(model, X))
    _same_future(model, loaded, subject)


def _same_future(model: Any, loaded: Any, subject: str) -> None:
    """Go on with both, in all ways that there are."""
    polishes = subject != "features" and model._reservoir is not None
    streams = not model.get_params().get("early_stopping") and isinstance(model.basis, str)
    for one in (model, loaded):
        if streams and model.basis == "learned":
            one.partial_fit(SECOND.rows(), SECOND.targets(subject))
        if polishes:
            one.polish_now()
    assert frozen(model) == frozen(loaded)
    for one in (model, loaded):
        for _ in range(2):  # a warm start, if it is asked for
            one.fit(FIRST.rows(), FIRST.targets(subject))
        if "C" in one.get_params():
            one.set_params(C=5.0).fit(FIRST.rows(), FIRST.targets(subject))
    assert frozen(model) == frozen(loaded)


@pytest.mark.parametrize("subject", MACHINES)
def test_a_warm_start_goes_on(subject: str) -> None:
    X, y = FIRST.rows(), FIRST.targets(subject)
    model = made(subject, warm_start=True).fit(X, y)
    loaded = again(model)
    digest = loaded._origin.digest
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for one in (model, loaded):
            one.set_params(tol=1e-4).fit(X, y)
    assert frozen(model) == frozen(loaded)
    assert loaded._origin.digest == digest
    assert loaded.n_iter_ == 0  # the terms were there


@pytest.mark.parametrize("form", ["dense", "fortran", "csr"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_streams_of_all_forms(subject: str, form: Any) -> None:
    model = made(subject, reservoir=30)
    for seed, other in enumerate(["dense", form, "dense", form]):
        data = Data(n=15, d=3, seed=seed, form=other, weights="equal")
        model.partial_fit(data.rows(), data.targets(subject), sample_weight=data.sample_weight())
        loaded = again(model)
        _same_values(model, loaded)
        model = loaded
    if subject != "features":
        _same_values(model.polish_now(), again(model))


def _same_values(model: Any, loaded: Any) -> None:
    assert frozen(values(model, SECOND.rows())) == frozen(values(loaded, SECOND.rows()))


LABELS = {
    "int": np.array([-1, 1, 7]),
    "small int": np.array([1, 2, 3], np.uint8),
    "bool": np.array([False, True]),
    "float": np.array([-0.5, 2.0, 3.0]).round(),
    "str": np.array(["a", "long label", "ß"]),
    "object": np.array(["a", "b", "long label"], object),
    "big endian": np.array([1, 2, 3], ">i4"),
}


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_all_types(labels: str, count: int) -> None:
    names = LABELS[labels][:count]
    y = names[np.arange(FIRST.n) % len(names)]
    weights = {label: 1.0 + i for i, label in enumerate(names)}
    model = made("two classes", class_weight=weights).fit(FIRST.rows(), y)
    loaded = again(model)
    assert loaded.predict(FIRST.rows()).dtype == model.predict(FIRST.rows()).dtype == y.dtype
    assert [*map(type, loaded.class_weight)] == [*map(type, model.class_weight)]
    for one in (model, loaded):
        one.fit(FIRST.rows(), y)
    assert frozen(model) == frozen(loaded)


def test_names_of_features_and_the_output_of_a_transformer() -> None:
    X = pd.DataFrame(FIRST.rows(), columns=["a", "b", "c"])
    model = made("features").set_output(transform="pandas").fit(X, FIRST.targets("features"))
    loaded = again(model)
    pd.testing.assert_frame_equal(loaded.transform(X), model.transform(X))
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(X[["b", "a", "c"]])


def test_a_model_that_has_not_been_asked_for_its_offset() -> None:
    model = made("one class").partial_fit(FIRST.rows())
    assert snapshot_of(model)["machine"]["state"]["offset"] is None
    loaded = again(model)
    assert loaded.offset_ == model.offset_


def test_arrays_are_shared() -> None:
    model = made("two classes").fit(FIRST.rows(), FIRST.targets("two classes"))
    snapshot = snapshot_of(model)
    points = snapshot["machine"]["state"]["model"]["points"]
    assert points is model._expansion.points is machine_of(snapshot)._expansion.points


def test_a_monitor_is_left_out() -> None:
    model = made("two classes", monitor=Trace()).fit(FIRST.rows(), FIRST.targets("two classes"))
    loaded = machine_of(through_a_file(snapshot_of(model)))
    assert loaded.monitor is None
    assert not hasattr(loaded, "monitor_")
    _same_values(model, loaded)


class _OwnKernel(kernels.Gaussian):
    """Made by a user."""


class _OwnLoss(losses.Hinge):
    """Made by a user."""


class _OwnClassifier(BudgetSVC):
    """Made by a user."""


class _Text(str):
    """Not quite a string."""

    __slots__ = ()


def _linear(X: Any, Z: Any) -> Any:
    return X @ Z.T


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "function": ({"kernel": _linear, **WITHOUT_MERGING}, "'kernel'.*_linear.*budgetsvm.kernels"),
    "callback": ({"kernel": kernels.Callback(_linear), **WITHOUT_MERGING}, "'kernel'.*Callback"),
    "own kernel": ({"kernel": _OwnKernel(0.5)}, "'kernel'.*_OwnKernel.*pickle"),
    "own loss": ({"loss": _OwnLoss()}, "'loss'.*_OwnLoss.*pickle"),
    "table": ({"basis": pd.DataFrame(np.eye(3))}, "'basis'.*DataFrame"),
    "string": ({"kernel": _Text("rbf")}, "'kernel'.*_Text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_plain_is_named(case: str) -> None:
    options, message = REFUSED[case]
    model = made("two classes", **options).fit(FIRST.rows(), FIRST.targets("two classes"))
    with pytest.raises(ValueError, match=message):
        snapshot_of(model)


def test_labels_that_are_objects_are_named() -> None:
    names = np.array([_Text("a"), _Text("b")], object)
    model = made("two classes").fit(FIRST.rows(), names[np.arange(FIRST.n) % 2])
    with pytest.raises(ValueError, match=r"labels.*LabelEncoder"):
        snapshot_of(model)


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures])
def test_what_is_not_fitted(kind: Any) -> None:
    with pytest.raises(NotFittedError, match="not fitted"):
        snapshot_of(kind())


def test_strangers() -> None:
    own = _OwnClassifier(budget=5).fit(FIRST.rows(), FIRST.targets("two classes"))
    for stranger in (own, 3, "model", None):
        with pytest.raises(ValueError, match="none of the estimators"):
            snapshot_of(stranger)
    model = made("two classes").fit(FIRST.rows(), FIRST.targets("two classes"))
    model.note_ = "mine"
    with pytest.raises(ValueError, match="note_"):
        snapshot_of(model)
    del model.note_
    with pytest.raises(ValueError, match="C must be"):
        snapshot_of(model.set_params(C=-1))

"""BudgetFeatures: kernel features that other estimators can use."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sequences.runs import Data
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from budgetsvm import BudgetFeatures, BudgetSVC
from budgetsvm._estimators.streaming.machine import StreamingMachine
from budgetsvm._polish.basis import Basis


@pytest.fixture(scope="module")
def moons():
    return make_moons(1200, noise=0.15, random_state=3)


def make(budget=30, **options):
    return BudgetFeatures(budget, **{"gamma": 2.0, "random_state": 0, **options})


def test_features_reproduce_the_kernel_on_the_points(moons):
    """G Gᵀ is the kernel between points of the basis, and with them, exactly."""
    X, y = moons
    model = make(precision="double").fit(X, y)
    Z = model.components_
    assert len(Z) <= 30
    at_points, elsewhere = model.transform(Z), model.transform(X)
    np.testing.assert_allclose(at_points @ at_points.T, rbf_kernel(Z, Z, 2.0), atol=1e-6)
    np.testing.assert_allclose(elsewhere @ at_points.T, rbf_kernel(X, Z, 2.0), atol=1e-6)
    values = rbf_kernel(X, Z, 2.0) @ model.normalization_
    np.testing.assert_allclose(elsewhere, values, rtol=0, atol=1e-4 * abs(values).max())
    assert ((elsewhere**2).sum(axis=1) <= 1 + 1e-6).all()  # a projection


def test_the_same_span_as_nystroem(moons):
    X, y = moons
    nystroem = Nystroem(gamma=2.0, n_components=20, random_state=0).fit(X)
    model = make(20, basis=nystroem.components_, precision="double").fit(X, y)
    ours, theirs = model.transform(X), nystroem.transform(X)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-4)


def test_a_linear_svm_on_them_is_as_good_as_the_machine(moons):
    X, y = moons
    X_test, y_test = make_moons(2000, noise=0.15, random_state=4)
    linear = make_pipeline(make(), LinearSVC(C=10, loss="hinge", max_iter=100_000)).fit(X, y)
    machine = BudgetSVC(C=10, gamma=2.0, budget=30, random_state=0).fit(X, y)
    assert linear.score(X_test, y_test) > machine.score(X_test, y_test) - 0.01


@pytest.mark.parametrize(
    ("task", "target", "tail"),
    [
        ("auto", "labels", LogisticRegression(C=100)),
        ("classification", "labels", LogisticRegression(C=100)),
        ("auto", "classes", LogisticRegression(C=100)),
        ("auto", "numbers", Ridge(1e-3)),
        ("auto", "several", Ridge(1e-3)),
        ("density", "labels", LogisticRegression(C=100)),
    ],
)
def test_tasks(moons, task, target, tail):
    X, y = moons
    targets = {
        "labels": y,
        "classes": np.array(["a", "b", "c"])[y + (X[:, 0] > 0.5)],
        "numbers": np.sin(X[:, 0]) + X[:, 1],
        "several": np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]),
    }[target]
    model = make_pipeline(make(task=task), tail).fit(X, targets)
    assert model.score(X, targets) > 0.95


def test_without_a_target(moons):
    X, y = moons
    G = make().fit_transform(X)
    assert LogisticRegression(C=100).fit(G, y).score(G, y) > 0.95


def test_names_and_data_frames(moons):
    pandas = pytest.importorskip("pandas")
    X, y = moons
    frame = pandas.DataFrame(X, columns=["east", "north"], index=np.arange(1200) + 7)
    model = make().set_output(transform="pandas").fit(frame, y)
    assert model.feature_names_in_.tolist() == ["east", "north"]
    out = model.transform(frame)
    names = [f"budgetfeatures{i}" for i in range(len(model.components_))]
    assert out.columns.tolist() == names == model.get_feature_names_out().tolist()
    assert out.index.tolist() == frame.index.tolist()
    np.testing.assert_array_equal(out.to_numpy(), make().fit(X, y).transform(X))
    model.set_output(transform="default").fit(X, y)
    assert not hasattr(model, "feature_names_in_")


def test_precision_is_the_type_of_the_features(moons):
    X, y = moons
    assert make(precision="single").fit(X, y).transform(X).dtype == np.float32
    assert make(precision="double").fit(X, y).transform(X).dtype == np.float64


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("fitted", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear", lambda A, B: A @ B.T]
)
def test_sparse_rows_have_the_same_features_up_to_rounding(fitted, precision, kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 37))
    X[rng.random(X.shape) < 0.4] = 0
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    maintenance = "merge" if kernel == "rbf" else "remove"
    options = {"gamma": 0.05, "kernel": kernel, "maintenance": maintenance}
    model = make(precision=precision, **options).fit(fitted(X), y)
    expected = model.transform(X)
    for convert in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        features = model.transform(convert(X))
        assert features.dtype == expected.dtype
        exact = 8 * np.finfo(expected.dtype).eps * abs(expected).max()
        np.testing.assert_allclose(features, expected, rtol=0, atol=exact)


def targets_of(kind, X):
    wave = np.sin(2 * X[:, 0]) * X[:, 1]
    return {"labels": (wave > 0).astype(int), "targets": wave, "none": None}[kind]


@pytest.mark.parametrize("kind", ["labels", "targets", "none"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_weights(moons, kind, method):
    """Rows of weight zero leave no trace; other weights count."""
    X, _ = moons
    y = targets_of(kind, X)
    weights = np.where(np.arange(len(X)) % 3, 1.0, 0.0)

    def points(rows, targets, given):
        model = getattr(make(), method)(rows, targets, sample_weight=given)
        return model.components_

    used = weights > 0
    left_out = points(X[used], None if y is None else y[used], None)
    np.testing.assert_array_equal(points(X, y, weights), left_out)
    many = np.where(X[:, 0] > 0, 100.0, 0.01)
    assert np.mean(points(X, y, many)[:, 0] > 0) > np.mean(points(X, y, 1 / many)[:, 0] > 0)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        points(X, y, -many)
    with pytest.raises(ValueError, match="zero"):
        points(X, y, 0 * many)


@pytest.mark.parametrize("kind", ["labels", "targets", "none"])
@pytest.mark.parametrize("where", ["_learn", "polished"])
def test_a_call_that_fails_changes_nothing(moons, kind, where, monkeypatch):
    X, _ = moons
    y = targets_of(kind, X)
    streamed = make().partial_fit(X, y)
    for model, method in ((make().fit(X, y), "fit"), (streamed, "partial_fit"), (streamed, "fit")):
        before, kept, features = pickle.dumps(model), dict(vars(model)), model.transform(X)

        def interrupted(*_args, **_options):
            raise KeyboardInterrupt

        if where == "_learn":
            monkeypatch.setattr(StreamingMachine, "_learn", interrupted)
        else:
            monkeypatch.setattr(Basis, "of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            getattr(model, method)(X + 1, y)
        monkeypatch.undo()
        assert vars(model) == kept
        assert pickle.dumps(model) == before
        np.testing.assert_array_equal(model.transform(X), features)


def test_parameters_that_change_in_a_stream(moons):
    X, y = moons
    model = make().partial_fit(X, y)
    kept = model._learner
    model.set_params(C=7.0, n_jobs=1, epochs=3, random_state=5).partial_fit(X, y)
    assert (model._learner.C, model._learner.n_jobs, model._learner.random_state) == (7.0, 1, 5)
    assert (kept.C, kept.random_state) == (1.0, 0)  # it is another one
    model.set_params(task="classification").partial_fit(X, y)
    with pytest.raises(ValueError, match=r"task='regression' differs.* needed a BudgetSVC"):
        model.set_params(task="regression").partial_fit(X, y)
    with pytest.raises(ValueError, match="set basis='learned'"):
        make(basis="random").partial_fit(X, y)


@pytest.mark.slow
def test_tools(moons):
    X, y = moons
    model = make().fit(X, y)
    for copied in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(copied.transform(X), model.transform(X))
    pipeline = make_pipeline(make(), LogisticRegression(C=100))
    grid = {"budgetfeatures__budget": [2, 30], "logisticregression__C": [1, 100]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["budgetfeatures__budget"] == 30
    assert search.best_score_ > 0.97


@pytest.mark.parametrize(
    ("options", "target", "message"),
    [
        ({"task": "ranking"}, "labels", "task must be one of 'auto'.* not 'ranking'"),
        ({"budget": 0}, "labels", "budget must be at least 1, not 0"),
        ({"C": -1}, "labels", "C must be .* not -1"),
        ({"gamma": -1}, "labels", "gamma must be .* not -1"),
        ({"task": "classification"}, None, "requires y"),
        ({"task": "regression"}, None, "requires y"),
        ({}, "constant", "only one class, 0"),
    ],
)
def test_bad_input(moons, options, target, message):
    X, y = moons
    targets = {"labels": y, "constant": 0 * y, None: None}[target]
    with pytest.raises(ValueError, match=message):
        make(**options).fit(X, targets)


def test_not_fitted_and_other_features(moons):
    X, y = moons
    with pytest.raises(AttributeError, match="not fitted"):
        _ = make().components_
    model = make().fit(X, y)
    with pytest.raises(ValueError, match=r"3 features.*2 features"):
        model.transform(np.column_stack([X, X[:, 0]]))


@pytest.mark.parametrize("kind", ["labels", "targets", "none"])
def test_a_stream_of_rows(kind: str) -> None:
    """Points are learned block by block, and serve a linear model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 2))
    wave = np.sin(2 * X[:, 0]) * X[:, 1]
    y = {"labels": (wave > 0).astype(int), "targets": wave, "none": None}[kind]
    features = BudgetFeatures(40, gamma=1.0, random_state=0)
    for start in range(0, 3000, 500):
        block = slice(start, start + 500)
        features.partial_fit(X[block], None if y is None else y[block])
    assert 20 <= len(features.components_) <= 40
    assert features.transform(X[:7]).shape == (7, len(features.components_))
    if kind == "labels":
        linear = LinearSVC(C=10.0).fit(features.transform(X), y)
        assert linear.score(features.transform(X), y) > 0.9
    before = features.components_
    features.fit(X[:500], None if y is None else y[:500])  # from scratch
    assert not np.array_equal(features.components_, before)


@pytest.mark.parametrize("task", ["classification", "regression", "density"])
def test_features_take_weights(task: Any) -> None:
    data = Data(n=200, d=2, weights="zeros")
    X, w = data.rows(), data.sample_weight()
    y = {"classification": "two classes", "regression": "one target"}.get(task, "")
    y = data.targets(y)
    kept = w > 0
    model = BudgetFeatures(10, task=task, gamma=1.0, random_state=0)
    weighted = model.fit(X, y, sample_weight=w).transform(X)
    left_out = model.fit(X[kept], None if y is None else y[kept], sample_weight=w[kept]).transform(
        X
    )
    np.testing.assert_array_equal(weighted, left_out)
    with pytest.raises(ValueError, match="weight"):
        model.fit(X, y, sample_weight=-w)

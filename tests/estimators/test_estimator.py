"""BudgetSVC as a scikit-learn estimator: its tools, persistence, weights, streams."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetSVC
from budgetsvm.kernels import Gaussian, Laplacian
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA, BSGD


@pytest.fixture(scope="module")
def moons():
    return make_moons(1500, noise=0.15, random_state=3)


@pytest.fixture(params=[True, False], ids=["polished", "plain"])
def model(moons, request):
    return BudgetSVC(C=10, gamma=2, budget=40, polish=request.param, random_state=0).fit(*moons)


def test_fitted_attributes(moons):
    X, y = moons
    options = {"polish": False, "fit_intercept": False}
    model = BudgetSVC(C=10, gamma=2, budget=40, random_state=0, **options).fit(X, y)
    assert model.support_vectors_.shape == (40, 2)
    assert model.dual_coef_.shape == (1, 40)
    assert model.intercept_.shape == (1,)
    assert model.intercept_ == 0
    assert model.n_iter_ == 5
    assert model.n_features_in_ == 2
    assert model.classes_.tolist() == [0, 1]
    assert model.kernel_ == Gaussian(2)
    keys = {"visits", "steps", "merges", "degradation", "size", "seconds"}
    assert all(keys <= set(epoch) for epoch in model.history_)
    squared = ((X[:, None] - model.support_vectors_[None]) ** 2).sum(axis=2)
    expected = np.exp(-2 * squared) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_predict_the_same(model, moons, copier):
    X, _ = moons
    np.testing.assert_array_equal(copier(model).decision_function(X), model.decision_function(X))


def test_joblib_and_skops(model, moons, tmp_path):
    import skops.io

    X, _ = moons
    joblib.dump(model, tmp_path / "model.joblib")
    skops.io.dump(model, tmp_path / "model.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith("budgetsvm.") for name in trusted)
    for loaded in (
        joblib.load(tmp_path / "model.joblib"),
        skops.io.load(tmp_path / "model.skops", trusted=trusted),
    ):
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_clone_keeps_option_objects():
    options = {"kernel": Laplacian(0.5), "solver": BSCA("uniform"), "maintenance": Merge(3)}
    copied = clone(BudgetSVC(**options))
    assert all(getattr(copied, name) == value for name, value in options.items())


def test_names_and_option_objects_are_the_same(moons):
    named = BudgetSVC(gamma=2, budget=20, solver="bsgd", maintenance="merge", random_state=1)
    objects = BudgetSVC(
        kernel=Gaussian(2), budget=20, solver=BSGD(), maintenance=Merge(), random_state=1
    )
    X, y = moons
    np.testing.assert_array_equal(
        named.fit(X, y).decision_function(X), objects.fit(X, y).decision_function(X)
    )


@pytest.mark.slow
def test_model_selection_and_calibration(moons):
    X, y = moons
    pipeline = make_pipeline(StandardScaler(), BudgetSVC(budget=30, random_state=0))
    search = GridSearchCV(
        pipeline, {"budgetsvc__C": [1, 10], "budgetsvc__gamma": [0.5, 2]}, cv=3, n_jobs=2
    )
    assert search.fit(X, y).best_score_ > 0.97
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.95
    calibrated = CalibratedClassifierCV(BudgetSVC(C=10, gamma=2, budget=30, random_state=0), cv=3)
    probabilities = calibrated.fit(X, y).predict_proba(X)
    assert np.mean(np.log(probabilities[np.arange(len(y)), y])) > -0.15


@pytest.mark.parametrize("labels", [(-1, 1), (1, 2), ("ham", "spam"), (False, True), (0.0, 1.0)])
def test_labels_of_any_kind(moons, labels):
    X, y = moons
    labels = np.array(labels)
    model = BudgetSVC(C=10, gamma=2, budget=40, random_state=0).fit(X, labels[y])
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.score(X, labels[y]) > 0.98


@pytest.mark.parametrize("polish", [True, False])
def test_a_weight_of_zero_is_leaving_the_row_out(moons, polish):
    X, y = moons
    weights = np.ones(len(y))
    weights[::3] = 0
    kept = weights > 0
    model = BudgetSVC(budget=20, polish=polish, random_state=0)
    left_out = clone(model).fit(X[kept], y[kept])
    weighted = clone(model).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(left_out.decision_function(X), weighted.decision_function(X))


@pytest.mark.parametrize("polish", [True, False])
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
def test_weights_are_boxes(moons, solver, polish):
    """Weights s with C are weights 1 with C s; class weights multiply both."""
    X, y = moons
    options = {"gamma": 2, "budget": 20, "random_state": 0, "solver": solver, "polish": polish}
    plain = BudgetSVC(C=6, **options).fit(X, y)
    weighted = BudgetSVC(C=2, **options).fit(X, y, sample_weight=np.full(len(y), 3.0))
    per_class = BudgetSVC(C=2, class_weight={0: 3, 1: 3}, **options).fit(X, y)
    for other in (weighted, per_class):
        np.testing.assert_allclose(
            other.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-6
        )


def test_balanced_class_weights_help_the_rare_class():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (2000, 2)), rng.normal(1.5, 1, (60, 2))])
    y = np.repeat([0, 1], [2000, 60])
    plain = BudgetSVC(budget=50, random_state=0, epochs=20).fit(X, y)
    balanced = BudgetSVC(budget=50, random_state=0, epochs=20, class_weight="balanced").fit(X, y)
    assert np.mean(balanced.predict(X[2000:])) > np.mean(plain.predict(X[2000:])) + 0.2


@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
def test_partial_fit_continues(moons, solver):
    X, y = moons
    model = BudgetSVC(C=10, gamma=2, budget=30, solver=solver, random_state=0)
    for repeat in range(4):
        for start in range(0, 1500, 300):
            block = slice(start, start + 300)
            classes = [0, 1] if start == repeat == 0 else None
            model.partial_fit(X[block], y[block], classes=classes)
            assert len(model.support_vectors_) <= 30
            assert model.n_iter_ == 1
    assert len(model.history_) == 20
    assert model.score(X, y) > 0.97


def test_partial_fit_starts_from_the_fitted_terms(model, moons):
    X, y = moons
    before = model.support_vectors_
    model.partial_fit(X[:1], y[:1])
    after = model.support_vectors_
    kept = [np.isclose(after, point, atol=1e-6).all(axis=1).any() for point in before]
    assert np.mean(kept) > 0.9


def test_partial_fit_with_one_class_at_a_time(moons):
    X, y = moons
    model = BudgetSVC(C=10, gamma=2, budget=30, random_state=0)
    model.partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    model.partial_fit(X[y == 1], y[y == 1])
    assert set(model.predict(X)) == {0, 1}


@pytest.mark.parametrize("polish", [True, False])
def test_random_states(moons, polish):
    X, y = moons

    def fit(random_state):
        model = BudgetSVC(budget=20, polish=polish, random_state=random_state)
        return model.fit(X, y).decision_function(X)

    np.testing.assert_array_equal(fit(5), fit(5))
    assert not np.array_equal(fit(5), fit(6))
    np.testing.assert_array_equal(fit(np.random.default_rng(1)), fit(np.random.default_rng(1)))
    fit(np.random.RandomState(0))
    fit(None)

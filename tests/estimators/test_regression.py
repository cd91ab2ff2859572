"""BudgetSVR: shapes, scales, scikit-learn's SVR, tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from tools import real_data

from budgetsvm import BudgetSVR
from budgetsvm.model_selection import BudgetSVRCV


def make(**options):
    defaults = {"C": 5, "gamma": 1.0, "epsilon": 0.05, "budget": 40, "random_state": 0}
    return BudgetSVR(**{**defaults, **options})


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.05 * rng.standard_normal(400)
    return X, (y - y.mean()) / y.std()


KINDS = [
    {},
    {"fit_intercept": False},
    {"polish": False, "epochs": 20},
    {"polish": False, "epochs": 50, "solver": "bsgd"},
    {"budget": None, "epochs": 20},
    {"basis": "random"},
    {"epsilon": 0.0},
]


@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize("targets", [None, 2, 3])
def test_attributes_rebuild_the_prediction(waves, options, targets):
    X, y = waves
    if targets is not None:
        y = np.column_stack([y, -y, 3 * y + 5])[:, :targets]
    model = make(**options).fit(X, y)
    assert model.predict(X).shape == y.shape
    count, terms = targets or 1, len(model.support_vectors_)
    assert terms <= (model.budget or 400)
    assert model.dual_coef_.shape == (count, terms)
    assert model.intercept_.shape == (count,)
    assert (model.intercept_ != model.target_mean_).any() == model._has_bias
    values = rbf_kernel(X, model.support_vectors_, gamma=1.0) @ model.dual_coef_.T
    expected = values + model.intercept_
    np.testing.assert_allclose(model.predict(X).reshape(400, -1), expected, atol=6e-3)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("options", [{"budget": 1000}, {"budget": None, "epochs": 500}], ids=str)
def test_all_rows_as_terms_is_svr(waves, options):
    X, y = waves
    reference = SVR(C=5, gamma=1.0, epsilon=0.05, tol=1e-6).fit(X, y)
    model = make(tol=1e-4, **options).fit(X, y)
    ours, theirs = model.predict(X), reference.predict(X)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.999
    np.testing.assert_allclose(ours, theirs, atol=0.1)
    assert np.mean(abs(ours - theirs)) < 0.01


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_targets_does_not_matter(waves, scale):
    X, y = waves
    plain = make().fit(X, y).predict(X)
    scaled = make().fit(X, scale * (y + 3)).predict(X)
    np.testing.assert_allclose(scaled / scale - 3, plain, atol=1e-4)


@pytest.mark.parametrize("value", [0, 7.0, -1e12, 1e-300])
@pytest.mark.parametrize("polish", [True, False])
def test_a_constant_target(waves, value, polish):
    X, _ = waves
    model = make(polish=polish).fit(X, np.full(400, value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-9)


def test_one_of_several_targets_is_constant(waves):
    X, y = waves
    model = make().fit(X, np.column_stack([y, np.full(400, 2.0)]))
    predicted = model.predict(X)
    assert np.corrcoef(predicted[:, 0], y)[0, 1] > 0.95
    np.testing.assert_allclose(predicted[:, 1], 2.0)


def test_a_weight_of_two_is_a_row_that_comes_twice(waves):
    """With given terms and a tight tolerance: the mean and scale of targets are weighted, too."""
    X, y = waves
    weights = np.where(y > 0, 2.0, 1.0)
    twice = np.repeat(np.arange(400), weights.astype(int))
    model = make(basis=X[:30], tol=1e-6, precision="double")
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.target_mean_, repeated.target_mean_)
    np.testing.assert_allclose(weighted.target_scale_, repeated.target_scale_)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=5e-3)


def test_a_weight_of_zero_is_leaving_the_row_out(waves):
    X, y = waves
    weights = (np.arange(400) % 3 > 0).astype(float)
    weighted = make().fit(X, np.where(weights > 0, y, 1e9), sample_weight=weights)
    left_out = make().fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(weighted.predict(X), left_out.predict(X))


def test_epsilon_is_in_standard_deviations(waves):
    """Errors within ε cost nothing: hardly any are larger where C is large."""
    X, y = waves
    model = make(C=1e3, epsilon=0.3, budget=1000).fit(X, 10 * y)
    errors = abs(model.predict(X) - 10 * y) / 10
    assert np.mean(errors < 0.33) > 0.99
    assert np.quantile(errors, 0.9) > 0.2  # and they are made use of


@pytest.mark.slow
def test_tools(waves):
    X, y = waves
    pipeline = make_pipeline(StandardScaler(), make())
    grid = {"budgetsvr__C": [0.01, 5], "budgetsvr__epsilon": [0.05, 0.5]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["budgetsvr__C"] == 5
    assert cross_val_score(pipeline, X, y, cv=3, n_jobs=2).mean() > 0.9
    model = make().fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [np.int64, np.float32, list])
def test_kinds_of_targets(waves, kind):
    X, y = waves
    y = (100 * y).round()
    expected = make().fit(X, y).predict(X)
    targets = y.tolist() if kind is list else y.astype(kind)
    predicted = make().fit(X, targets).predict(X)
    assert predicted.dtype == np.float64
    np.testing.assert_allclose(predicted, expected, atol=0.1)


def split(X, y, seed):
    """Return standardised rows and targets to train on, and others."""
    A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed)
    scaler = StandardScaler().fit(A)
    return scaler.transform(A), scaler.transform(B), a, b


def score_of_svr(A, B, a, b):
    standardised = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    return standardised.fit(A, a).score(B, b)


@pytest.mark.parametrize("seed", range(4))
def test_the_defaults_are_as_good_as_svr_on_standardised_targets(seed):
    A, B, a, b = split(*load_diabetes(return_X_y=True), seed)
    model = BudgetSVR(random_state=0).fit(A, a)
    assert model.score(B, b) == pytest.approx(score_of_svr(A, B, a, b), abs=0.005)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "features"), [("abalone", 8), ("cpusmall", 12), ("cadata", 8)])
def test_the_defaults_on_real_data(name, features):
    X, y = real_data.load(name, features)
    A, B, a, b = split(X.toarray(), y, 0)
    model = BudgetSVR(random_state=0).fit(A, a)
    assert model.score(B, b) >= score_of_svr(A, B, a, b) - 0.005


def test_the_parameters_of_svr_divided_by_the_scale():
    A, B, a, _ = split(*load_diabetes(return_X_y=True), 0)
    scale = a.std()
    ours = BudgetSVR(C=500 / scale, epsilon=20 / scale, tol=1e-5).fit(A, a)
    np.testing.assert_allclose(ours.target_scale_, scale)
    theirs = SVR(C=500, epsilon=20, tol=1e-6).fit(A, a)
    assert abs(ours.predict(B) - theirs.predict(B)).max() < 0.05 * scale


@pytest.mark.parametrize("far", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("budget", [20, 100])
@pytest.mark.filterwarnings("ignore:the spread of feature:UserWarning")
def test_a_linear_model_reaches_a_target_however_far_it_is(far, budget):
    """Where the row is as far as its target, that is no outlier: all rows are on a line."""
    X = np.random.default_rng(0).normal(size=(60, 1))
    X[0] = far
    model = BudgetSVR(C=1.0, kernel="linear", budget=budget, random_state=0).fit(X, X[:, 0])
    np.testing.assert_allclose(model.coef_, 1, rtol=1e-3)
    assert abs(model.predict(X[1:]) - X[1:, 0]).max() < 0.3


@pytest.mark.parametrize("form", ["array", "frame", "list"])
@pytest.mark.parametrize("way", ["fit", "partial_fit", "tune", "search"])
def test_a_single_column_of_targets_is_a_vector(waves, form, way):
    """As for SVR: else ``y - predict(X)`` would be a square matrix, of a vector y."""
    X, y = waves
    column = {"array": np.asarray, "frame": pd.DataFrame, "list": np.ndarray.tolist}[form](
        y[:, np.newaxis]
    )
    model = make(C="tune") if way == "tune" else make()
    if way == "search":
        model = BudgetSVRCV(Cs=[1.0, 10.0], gammas=[1.0], budget=40, cv=2, random_state=0)
    fit = model.partial_fit if way == "partial_fit" else model.fit
    with pytest.warns(DataConversionWarning, match="column-vector"):
        fit(X, column)
    assert model.predict(X).shape == SVR().fit(X, y).predict(X).shape == (400,)
    assert model.score(X, column) == model.score(X, y) == r2_score(y, model.predict(X))
    twin = getattr(clone(model), fit.__name__)(X, y)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_several_columns_of_targets_stay_several(waves):
    X, y = waves
    assert make().fit(X, np.column_stack([y, y])).predict(X).shape == (400, 2)

"""BudgetSVC with more than two classes, other losses, biases and probabilities."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_blobs
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from budgetsvm import BudgetSVC

NAMES = np.array(["ant", "bee", "cat", "dog"])
KINDS = [
    {},
    {"fit_intercept": True},
    {"polish": False},
    {"loss": "logistic", "fit_intercept": True},
    {"loss": "squared_hinge"},
    {"multi_class": "weston-watkins"},
    {"multi_class": "weston-watkins", "polish": False, "C": 1},
    {"budget": None, "fit_intercept": True},
    {"solver": "bsgd", "polish": False, "epochs": 20},
]


@pytest.fixture(scope="module")
def blobs():
    X, codes = make_blobs(600, centers=4, cluster_std=1.2, random_state=1)
    return X, NAMES[codes]


def make(**options):
    plain = {"multi_class": "ovr", "fit_intercept": False}  # pairs of classes: test_pairs.py
    return BudgetSVC(**{"C": 10, "gamma": 0.1, "budget": 40, "random_state": 0, **plain, **options})


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_attributes_rebuild_the_decision_function(blobs, options):
    X, y = blobs
    model = make(**options).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (600, 4)
    assert model.classes_.tolist() == NAMES.tolist()
    terms = len(model.support_vectors_)
    assert terms <= (model.budget or 600)
    assert model.dual_coef_.shape == (4, terms)
    assert model.intercept_.shape == (4,)
    assert model.intercept_.any() == model.fit_intercept
    K = rbf_kernel(X, model.support_vectors_, gamma=0.1)
    expected = K @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-3 * abs(values).max())
    assert (model.predict(X) == NAMES[values.argmax(axis=1)]).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_binary_shapes_with_a_bias(blobs, loss):
    X, y = blobs
    chosen = np.isin(y, NAMES[:2])
    model = make(loss=loss, fit_intercept=True).fit(X[chosen], y[chosen])
    values = model.decision_function(X)
    assert values.shape == (600,)
    assert model.dual_coef_.shape == (1, len(model.support_vectors_))
    assert model.intercept_.shape == (1,)
    K = rbf_kernel(X, model.support_vectors_, gamma=0.1)
    expected = K @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-3 * abs(values).max())
    assert (model.predict(X) == NAMES[(values > 0).astype(int)]).all()


def test_epochs_are_counted_without_a_budget(blobs):
    assert make(budget=None, epochs=3).fit(*blobs).n_iter_ == 3


# ---- probabilities ----


def test_probabilities(blobs):
    X, y = blobs
    for chosen in (np.isin(y, NAMES[:2]), y != ""):
        model = make(loss="logistic").fit(X[chosen], y[chosen])
        P = model.predict_proba(X)
        assert P.shape == (600, len(model.classes_))
        assert (P >= 0).all()
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P, atol=1e-12)
        far = model.predict_proba(np.full((1, 2), 1e3))  # the kernel vanishes
        np.testing.assert_allclose(far.sum(), 1)


def test_probabilities_far_on_the_wrong_side_still_sum_to_one():
    """All classes say no, by far: e.g. a linear kernel and rows of a huge norm."""
    X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]] * 10)
    model = BudgetSVC(C=1e4, loss="logistic", kernel="linear", maintenance="remove", random_state=0)
    P = model.fit(X, np.arange(40) % 4).predict_proba(1e6 * X[:, ::-1] + 1e3)
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_no_probabilities_from_other_losses(blobs, loss):
    model = make(loss=loss).fit(*blobs)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError) as caught:
        _ = model.predict_proba
    why = str(caught.value)
    assert "predict_proba needs loss='log_loss'" in why
    assert "CalibratedClassifierCV" in why
    assert hasattr(make(loss="logistic"), "predict_proba")


@pytest.mark.parametrize("classes", [2, 4])
def test_calibration_of_the_hinge_loss(blobs, classes):
    X, y = blobs
    chosen = np.isin(y, NAMES[:classes])
    X, y = X[chosen], y[chosen]
    calibrated = CalibratedClassifierCV(make(), cv=3).fit(X, y)
    P = calibrated.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert log_loss(y, P) < 0.5 * np.log(classes)


def test_logistic_loss_against_logistic_regression_on_the_same_basis(blobs):
    """On Nystroem's features of the same points, liblinear's and L-BFGS' problem is ours."""
    X, y = blobs
    chosen = np.isin(y, NAMES[1:3])
    X, y = X[chosen], y[chosen]
    nystroem = Nystroem(gamma=0.1, n_components=50, random_state=0).fit(X)
    reference = LogisticRegression(C=3, fit_intercept=False, tol=1e-8, max_iter=10_000)
    G = nystroem.transform(X)
    reference.fit(G, y)
    model = make(C=3, loss="logistic", budget=50, basis=nystroem.components_, tol=1e-6)
    model.set_params(precision="double")
    P = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(P, reference.predict_proba(G), atol=5e-3)


# ---- against scikit-learn ----


@pytest.mark.parametrize("options", [{"budget": 1000}, {"budget": None, "epochs": 300}], ids=str)
def test_all_rows_as_terms_is_one_vs_rest_of_svc(blobs, options):
    """A bias is a feature of ours, and free in SVC: values are close, not equal."""
    X, y = blobs
    reference = OneVsRestClassifier(SVC(C=10, gamma=0.1)).fit(X, y)
    model = make(fit_intercept=True, tol=1e-4, **options).fit(X, y)
    ours, theirs = model.decision_function(X), reference.decision_function(X)
    assert np.mean(model.predict(X) == reference.predict(X)) > 0.985
    for c in range(4):
        assert np.corrcoef(ours[:, c], theirs[:, c])[0, 1] > 0.99
    assert np.median(abs(ours - theirs)) < 0.1


@pytest.mark.parametrize("multi_class", ["ovr", "weston-watkins"])
def test_a_small_budget_on_iris(multi_class):
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(
        StandardScaler(), BudgetSVC(C=10, budget=15, multi_class=multi_class, random_state=0)
    )
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.93


# ---- tools ----


@pytest.mark.parametrize("options", [{}, {"loss": "logistic", "multi_class": "ovr"}], ids=str)
def test_copies_predict_the_same(blobs, options, tmp_path):
    X, y = blobs
    model = make(fit_intercept=True, **options).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    for copied in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(copied.decision_function(X), model.decision_function(X))
        assert (copied.predict(X) == model.predict(X)).all()
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.slow
def test_model_selection(blobs):
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), make(gamma="scale"))
    grid = {"budgetsvc__multi_class": ["ovr", "weston-watkins"], "budgetsvc__C": [0.1, 10]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(pipeline, X, y, cv=3, n_jobs=2).mean() > 0.9


@pytest.mark.parametrize("polish", [True, False])
def test_class_weights(blobs, polish):
    X, y = blobs
    plain = make(C=6, polish=polish).fit(X, y)
    weighted = make(C=2, polish=polish, class_weight=dict.fromkeys(NAMES, 3.0)).fit(X, y)
    np.testing.assert_allclose(
        weighted.decision_function(X), plain.decision_function(X), rtol=0, atol=1e-6
    )


def test_rows_of_one_class_without_weight_are_a_missing_class(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="all rows of class 'bee' have weight zero"):
        make().fit(X, y, sample_weight=(y != "bee").astype(float))

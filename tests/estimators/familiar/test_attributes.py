"""Attributes under the names that they have in SVC: right where they are, and honest where they are not."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils import compute_class_weight

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR

RNG = np.random.default_rng(1)
RAW = RNG.normal(size=(200, 4))
Y = np.digitize(RAW[:, 0] * RAW[:, 1], [-0.3, 0.4])
X = RAW + 3  # a linear one-class machine asks how far the data are from the origin
TARGETS = {BudgetSVC: Y, BudgetSVR: X @ [1.0, 2, 3, 4] + 50, BudgetOneClassSVM: None}
ROWS_STAY: list[dict[str, Any]] = [
    {},
    {"budget": 20, "maintenance": "project"},
    {"budget": 20, "maintenance": "remove", "polish": False},
    {"budget": 20, "basis": "random"},
    {"budget": None, "epochs": 2},
    {"precision": "double"},
    {"kernel": "linear"},
]


@pytest.mark.parametrize("of", [np.array, np.float32, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("options", ROWS_STAY, ids=str)
@pytest.mark.parametrize("kind", TARGETS)
def test_support_names_rows(kind: Any, options: dict[str, Any], of: Any) -> None:
    rows, weights = of(X), np.arange(200) % 4 > 0
    model = kind(random_state=0, **options).fit(rows, TARGETS[kind], sample_weight=weights)
    assert weights[model.support_].all()
    if model.polish:  # without it, a row may be two terms
        assert len(set(model.support_.tolist())) == len(model.support_)
    np.testing.assert_allclose(model.support_vectors_, X[model.support_], rtol=1e-5, atol=1e-6)
    counts = (
        [len(model.support_)]
        if kind is not BudgetSVC
        else np.bincount(Y[model.support_], minlength=3)
    )
    np.testing.assert_array_equal(model.n_support_, counts)
    assert model.shape_fit_ == (150, 4)


def test_the_same_row_twice() -> None:
    """Rows with several labels are terms each for itself."""
    doubled, labels = np.repeat(X[:50], 2, axis=0), np.tile([0, 1], 50)
    model = BudgetSVC(C=0.5).fit(doubled, labels)
    assert len(set(model.support_.tolist())) == len(model.support_)
    assert model.n_support_.tolist() == np.bincount(labels[model.support_]).tolist()


def test_merged_terms_are_no_rows() -> None:
    model = BudgetSVC(budget=10, random_state=0).fit(X, Y)
    for name in ("support_", "n_support_"):
        with pytest.raises(AttributeError, match="merging has moved them"):
            getattr(model, name)
    assert not hasattr(model, "support_")
    assert BudgetSVR(budget=10).fit(X, X[:, 0]).n_support_ == [10]
    assert not hasattr(BudgetSVC().fit(X, Y).partial_fit(X, Y), "support_")


@pytest.mark.parametrize("kind", TARGETS)
def test_weights_of_features(kind: Any) -> None:
    shape = {"decision_function_shape": "ovo"} if kind is BudgetSVC else {}
    model = kind(kernel="linear", random_state=0, **shape).fit(X, TARGETS[kind])
    outputs = 3 if kind is BudgetSVC else 1
    assert model.coef_.shape == (outputs, 4)
    values = getattr(model, "decision_function", model.predict)(X).reshape(200, -1)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, values, atol=1e-3)
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 1
    with pytest.raises(AttributeError, match="only available when using a linear kernel"):
        _ = clone(model).set_params(kernel="rbf").fit(X, TARGETS[kind]).coef_
    with pytest.raises(AttributeError, match="not fitted"):
        _ = kind().coef_


def test_what_a_fit_says_of_itself() -> None:
    model = BudgetSVC(class_weight="balanced").fit(X, Y)
    np.testing.assert_allclose(
        model.class_weight_, compute_class_weight("balanced", classes=np.arange(3), y=Y)
    )
    assert model.fit_status_ == 0
    with pytest.raises(AttributeError, match="without a polish"):
        _ = BudgetSVC(polish=False, epochs=1).fit(X, Y).fit_status_
    for name in ("probA_", "probB_"):
        with pytest.raises(AttributeError, match=r"log_loss.*CalibratedClassifierCV"):
            getattr(model, name)
    with pytest.raises(AttributeError, match=r"log_loss.*CalibratedClassifierCV"):
        _ = model.predict_proba


def test_all_kernels_by_default() -> None:
    kernels = ["rbf", "laplacian", "linear", "poly", "sigmoid", lambda A, B: A @ B.T]
    search = GridSearchCV(BudgetSVC(budget=30, epochs=1), {"kernel": kernels}, cv=2)
    scores = search.fit(X, Y).cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()


def test_a_name_of_the_loss_and_a_whole_budget() -> None:
    models = [
        BudgetSVC(loss=loss, budget=budget, random_state=0).fit(X, Y)
        for loss, budget in (("logistic", 20), ("log_loss", 2e1), ("log_loss", np.float64(20)))
    ]
    for one in models[1:]:
        np.testing.assert_array_equal(one.predict_proba(X), models[0].predict_proba(X))
    with pytest.raises(TypeError, match=r"budget must be an integer, not 20\.5"):
        BudgetSVC(budget=20.5).fit(X, Y)


def test_a_hard_margin() -> None:
    labels = RAW[:, 0] > 0
    far = RAW + np.where(labels, 1.0, -1.0)[:, np.newaxis] * [1, 0, 0, 0]
    hard = BudgetSVC(C=np.inf, kernel="linear", tol=1e-4, fit_intercept=False).fit(far, labels)
    assert hard.score(far, labels) == 1
    # in the span, without a bias: the least margin is 1
    assert abs(hard.decision_function(far)).min() == pytest.approx(1, abs=0.01)
    with warnings.catch_warnings():  # all digits of the interpolation are out of reach
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert BudgetSVR(C=np.inf).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.99


WIDE = sparse.random_array((200, 2000), density=0.002, format="csr", random_state=0)


@pytest.mark.parametrize(
    "rows", [X, np.asfortranarray(X - X.mean(axis=0)), WIDE], ids=["dense", "centred", "sparse"]
)
@pytest.mark.parametrize("options", [{}, {"kernel": "linear"}, {"polish": False}], ids=str)
@pytest.mark.parametrize("kind", [*TARGETS, BudgetFeatures])
def test_numbers_of_a_model_cannot_be_changed(
    kind: Any, options: dict[str, Any], rows: Any
) -> None:
    """All of them alike: some changes would be without effect, and some would not."""
    if kind is BudgetFeatures and "polish" in options:
        options = {}
    if kind is BudgetOneClassSVM and "kernel" in options:
        rows = X  # which are far from the origin
    model = kind(budget=30, random_state=0, **options).fit(rows, TARGETS.get(kind, Y))
    for name in ("dual_coef_", "intercept_", "support_vectors_", "coef_", "components_"):
        values = getattr(model, name, None)
        if values is None or sparse.issparse(values):
            values = None if values is None else values.data
        if values is not None:
            with pytest.raises(ValueError, match="read-only"):
                values[:] = 0
    again = pickle.loads(pickle.dumps(model))
    answer = "transform" if kind is BudgetFeatures else "predict"
    np.testing.assert_array_equal(getattr(again, answer)(rows), getattr(model, answer)(rows))
    if hasattr(model, "partial_fit"):
        model.partial_fit(rows, TARGETS.get(kind, Y))  # nothing inside is read-only

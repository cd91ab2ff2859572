"""Bad rows, targets and weights get a message that says what is wrong with them."""

import numpy as np
import pytest
from scipy import sparse

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = np.digitize(X[:, 0], [-0.5, 0.5])
NUMBERS = X[:, 0] + X[:, 1] ** 2

#: Estimators with targets that suit them.
ALL = [
    (BudgetSVC, {}, LABELS),
    (BudgetSVC, {"loss": "logistic", "fit_intercept": True}, LABELS),
    (BudgetSVC, {"multi_class": "weston-watkins"}, LABELS),
    (BudgetSVC, {"loss": "squared_hinge"}, LABELS > 0),
    (BudgetSVR, {}, NUMBERS),
    (BudgetSVR, {}, np.column_stack([NUMBERS, X])),
    (BudgetOneClassSVM, {}, None),
    (BudgetFeatures, {}, LABELS),
    (BudgetFeatures, {}, NUMBERS),
    (BudgetFeatures, {}, None),
]
NOT_A_NUMBER, INFINITE = X.copy(), X.copy()
NOT_A_NUMBER[3, 1], INFINITE[3, 1] = np.nan, np.inf
y = (X[:, 0] > 0).astype(int)

every = pytest.mark.parametrize(("estimator", "options", "y"), ALL)


# ---- rows ----


@every
def test_rows(estimator, options, y):
    for broken, message in [
        (X[0], "Expected 2D array"),
        (X[:, :0], "0 feature"),
        (NOT_A_NUMBER, "NaN"),
        (sparse.csr_array(INFINITE), r"infinity"),
        (np.full((60, 3), "red"), "could not convert|Unable to convert"),
        (X + 1j, "[Cc]omplex"),
        (X * 1e200, "too large"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator(**options).fit(broken, y)
    for other in (X[:0], X[:59]):
        if y is None and len(other):
            continue
        with pytest.raises(ValueError, match=r"0 sample|inconsistent numbers of samples"):
            estimator(**options).fit(other, y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.array, sparse.csr_array, sparse.csr_matrix])
def test_not_finite(value, convert):
    broken = X.copy()
    broken[7, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        BudgetSVC().fit(convert(broken), y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        BudgetSVC(epochs=1).fit(X, y).predict(convert(broken))


# ---- targets ----


@pytest.mark.parametrize("estimator", [BudgetSVR, BudgetSVC])
def test_targets(estimator):
    for y, message in [
        (None, "requires y"),
        (np.where(LABELS > 0, 1.0, np.nan), "NaN"),
        (np.where(LABELS > 0, 1.0, np.inf), "infinity"),
        (NUMBERS[:59], "inconsistent numbers of samples"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator().fit(X, y)
    with pytest.raises(ValueError, match=r"could not convert|Unable to convert"):
        BudgetSVR().fit(X, np.full(60, "high"))
    with pytest.raises(ValueError, match="Unknown label type"):
        BudgetSVC().fit(X, NUMBERS)
    with pytest.raises(ValueError, match="only one class, 'a'"):
        BudgetSVC().fit(X, np.full(60, "a"))


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        (X, y[:-1], "inconsistent numbers of samples"),
        (X, np.column_stack([y, y]), "1d array"),
        (X[:0], y[:0], "0 sample"),
        (X[:1], y[:1], "only one class"),
        (X, np.zeros(60), "only one class, .*0.0"),
    ],
)
def test_rows_and_labels(data, labels, message):
    with pytest.raises(ValueError, match=message):
        BudgetSVC().fit(data, labels)


# ---- weights ----


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(60), "[Nn]egative"),
        (np.zeros(60), "zero"),
        (np.ones(59), "shape"),
        (np.full(60, np.nan), "NaN"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("estimator", [BudgetSVR, BudgetSVC, BudgetOneClassSVM])
def test_weights(estimator, method, weights, message):
    targets = {BudgetSVC: LABELS, BudgetSVR: NUMBERS, BudgetOneClassSVM: None}[estimator]
    with pytest.raises(ValueError, match=message):
        getattr(estimator(), method)(X, targets, sample_weight=weights)


def test_a_class_without_weight():
    with pytest.raises(ValueError, match=r"all rows of class .*1.* have weight zero"):
        BudgetSVC().fit(X, y, sample_weight=np.where(y, 0.0, 1.0))


# ---- the order of calls ----


@every
def test_use_before_and_after_fitting(estimator, options, y):
    use = "transform" if estimator is BudgetFeatures else "predict"
    with pytest.raises(ValueError, match="not fitted"):
        getattr(estimator(**options), use)(X)
    fitted = estimator(**options).fit(X, y)
    with pytest.raises(ValueError, match=r"2 features.*3 features"):
        getattr(fitted, use)(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        getattr(fitted, use)(np.full((1, 3), np.nan))


def test_attributes_before_fitting():
    with pytest.raises(AttributeError, match="not fitted"):
        _ = BudgetSVC().support_vectors_


def test_partial_fit():
    with pytest.raises(ValueError, match="only one class"):
        BudgetSVC().partial_fit(X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match="'balanced' needs all labels"):
        BudgetSVC(class_weight="balanced").partial_fit(X, y)
    model = BudgetSVC().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"labels \[2\]"):
        model.partial_fit(X, np.where(y, 2, 0))
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X, y, classes=[0, 2])

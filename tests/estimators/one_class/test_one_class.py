"""BudgetOneClassSVM: the share of outliers, scikit-learn's OneClassSVM, tools."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM

from budgetsvm import BudgetOneClassSVM


def make(**options):
    return BudgetOneClassSVM(**{"nu": 0.2, "gamma": 0.5, "random_state": 0, **options})


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(0, 1, (400, 2)), rng.normal(4, 0.5, (200, 2))])


@pytest.mark.parametrize("nu", [0.01, 0.05, 0.2, 0.5, 0.9])
def test_all_rows_as_terms_is_the_one_class_svm(rows, nu):
    reference = OneClassSVM(nu=nu, gamma=0.5, tol=1e-6).fit(rows)
    model = make(nu=nu, budget=1000).fit(rows)
    ours, theirs = model.score_samples(rows), reference.score_samples(rows)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99
    assert np.median(ours / theirs) == pytest.approx(1, abs=0.05)  # the same scale
    assert model.offset_ == pytest.approx(reference.offset_[0], rel=0.05)
    assert np.mean(model.predict(rows) == reference.predict(rows)) > 0.95


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    "options",
    [
        {"budget": 20},
        {"budget": 20, "polish": False},
        {"budget": None},
        {"budget": 30, "basis": "random"},
        {"budget": 20, "solver": "bsgd", "maintenance": "remove"},
    ],
    ids=str,
)
def test_the_share_of_outliers_is_nu(rows, nu, options):
    model = make(nu=nu, **options).fit(rows)
    assert np.mean(model.predict(rows) == -1) == pytest.approx(nu, abs=0.01)


@pytest.mark.parametrize(
    "options", [{}, {"polish": False, "budget": 20}, {"budget": None}], ids=str
)
def test_attributes_rebuild_the_decision_function(rows, options):
    model = make(**options).fit(rows)
    values = model.decision_function(rows)
    assert values.shape == (600,)
    assert model.dual_coef_.shape == (1, len(model.support_vectors_))
    assert isinstance(model.offset_, float)
    np.testing.assert_array_equal(model.intercept_, [-model.offset_])
    np.testing.assert_allclose(values, model.score_samples(rows) - model.offset_)
    K = rbf_kernel(rows, model.support_vectors_, gamma=0.5)
    expected = K @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-3 * abs(values).max())
    assert (model.predict(rows) == np.where(values >= 0, 1, -1)).all()


def test_novelties_are_found(rows):
    rng = np.random.default_rng(1)
    novel = rng.uniform(-6, 8, (300, 2))
    far = (np.linalg.norm(novel, axis=1) > 4) & (np.linalg.norm(novel - 4, axis=1) > 2.5)
    new = np.concatenate([rng.normal(0, 1, (300, 2)), novel[far]])
    truth = np.repeat([1, 0], [300, far.sum()])
    for budget in (20, 500):
        scores = make(budget=budget).fit(rows).score_samples(new)
        assert roc_auc_score(truth, scores) > 0.97


def test_weights_are_repetitions(rows):
    weights = np.where(rows[:, 0] > 2, 3, 1)
    model = make(basis=rows[::10], tol=1e-5)
    weighted = clone(model).fit(rows, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(rows, weights, axis=0))
    a, b = weighted.decision_function(rows), repeated.decision_function(rows)
    assert np.corrcoef(a, b)[0, 1] > 0.999
    assert np.mean((a > 0) == (b > 0)) > 0.97
    outside = weighted.predict(rows) == -1
    assert weights[outside].sum() / weights.sum() == pytest.approx(0.2, abs=0.01)


def test_tools(rows):
    model = make(budget=30).fit(rows)
    for copied in (pickle.loads(pickle.dumps(model)), clone(model).fit(rows)):
        np.testing.assert_array_equal(copied.decision_function(rows), model.decision_function(rows))
    np.testing.assert_array_equal(make(budget=30).fit_predict(rows), model.predict(rows))


def test_sparse_and_dense_agree(rows):
    dense, other = make(basis=rows[:40]), make(basis=rows[:40])
    a = dense.fit(rows).decision_function(rows)
    b = other.fit(sparse.csr_array(rows)).decision_function(sparse.csr_array(rows))
    np.testing.assert_allclose(a, b, rtol=0, atol=0.02 * abs(a).max())


def test_partial_fit_after_fit_keeps_the_scale(rows):
    model = make(budget=30).fit(rows)
    scores, offset = model.score_samples(rows), model.offset_
    model.partial_fit(rows[:1])
    np.testing.assert_allclose(model.score_samples(rows), scores, rtol=0.2)
    assert model.offset_ == pytest.approx(offset, rel=0.2)  # not that of a single row


@pytest.mark.parametrize("size", [1, 7, 200])
def test_streams(rows, size):
    order = np.random.default_rng(2).permutation(600)
    blocks = [(rows[order[start : start + size]],) for start in range(0, 600, size)]
    model = make(budget=40).fit_stream(blocks)
    assert np.mean(model.predict(rows) == -1) == pytest.approx(0.2, abs=0.01)
    reference = OneClassSVM(nu=0.2, gamma=0.5).fit(rows)
    if size > 1:  # the scale of scores is estimated from the first block
        assert np.corrcoef(model.score_samples(rows), reference.score_samples(rows))[0, 1] > 0.9

"""Learning block by block: blocks of any size and kind, and what cannot change between them."""

import numpy as np
import pytest
from oracles.problems import noisy_xor
from scipy import sparse
from tools.streaming import in_blocks, make

from budgetsvm import BudgetSVR

CLASSIFIERS = [
    {},
    {"loss": "logistic", "fit_intercept": True},
    {"loss": "squared_hinge"},
    {"multi_class": "weston-watkins"},
    {"budget": None},
    {
        "solver": "bsgd",
        "multi_class": "ovr",
    },  # which trains each class by itself: better before a polish
]


ONE_BY_ONE = pytest.param([1], marks=pytest.mark.slow)


@pytest.mark.parametrize("sizes", [[1, 17, 3, 100], [300], ONE_BY_ONE], ids=str)
@pytest.mark.parametrize("options", CLASSIFIERS, ids=str)
def test_blocks_of_any_size(blobs, sizes, options):
    X, y = blobs
    model = make(C=1, gamma=0.1, **options)
    for block in in_blocks(X, y, sizes):
        model.partial_fit(*block, classes=["x", "y", "z"])
        assert len(model.support_vectors_) <= (model.budget or 900)
    assert model.decision_function(X).shape == (900, 3)
    assert model.score(X, y) > 0.85
    if model.budget is not None:
        model.polish_now()
        assert model.converged_
        assert model.score(X, y) > 0.93


def test_a_class_at_a_time(blobs):
    """No block has all classes, and no class is forgotten."""
    X, y = blobs
    for options in ({}, {"budget": None}):
        model = make(C=1, gamma=0.1, **options)
        for _ in range(2):
            for label in ("z", "x", "y"):
                model.partial_fit(X[y == label], y[y == label], classes=["z", "x", "y"])
        assert model.classes_.tolist() == ["x", "y", "z"]
        assert set(model.predict(X)) == {"x", "y", "z"}
        assert model.score(X, y) > 0.6  # what came last has too much weight
        assert model.budget is None or model.polish_now().score(X, y) > 0.93


def test_terms_of_earlier_blocks_stay_without_a_budget(blobs):
    X, y = blobs
    model = make(budget=None, gamma=0.1).partial_fit(X[:300], y[:300])
    before = model.support_vectors_
    model.partial_fit(X[300:330], y[300:330])
    after = {tuple(z) for z in np.round(model.support_vectors_, 4)}
    assert {tuple(z) for z in np.round(before, 4)} <= after


def test_an_announced_class_may_never_come(blobs):
    X, y = blobs
    model = make().partial_fit(X, y, classes=["x", "y", "z", "zz"])
    assert model.decision_function(X).shape == (900, 4)
    assert model.polish_now().score(X, y) > 0.9


def test_what_cannot_change_in_a_stream(blobs):
    X, y = blobs
    model = make(decision_function_shape="ovo").partial_fit(X, y)
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X, y, classes=["x", "y"])
    with pytest.raises(ValueError, match=r"labels \['w'\] that are not among \['x', 'y', 'z'\]"):
        model.partial_fit(X, np.where(y == "x", "w", y))
    with pytest.raises(ValueError, match=r"3 features.*2 features"):
        model.partial_fit(np.column_stack([X, X[:, 0]]), y)
    values = model.decision_function(X)
    model.partial_fit(X[:10], y[:10])  # none of that did any harm
    assert np.corrcoef(values.ravel(), model.decision_function(X).ravel())[0, 1] > 0.9


def test_bad_first_blocks(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="only one class, 'x'"):
        make().partial_fit(X[y == "x"], y[y == "x"])
    with pytest.raises(ValueError, match="only one class, 'x'"):
        make().partial_fit(X, y, classes=["x"])
    with pytest.raises(ValueError, match=r"labels \['z'\] that are not among"):
        make().partial_fit(X, y, classes=["x", "y"])
    with pytest.raises(ValueError, match="2 targets, but the first call had 1"):
        BudgetSVR().partial_fit(X, X[:, 0]).partial_fit(X, X)
    for estimator in (make(), BudgetSVR()):
        with pytest.raises(ValueError, match="requires y"):
            estimator.partial_fit(X)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_regression_from_single_rows(n_targets: int) -> None:
    """The first rows do not tell the scale of the targets; it is found as soon as they differ."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = 1e4 + 50 * np.column_stack([X[:, 0], np.sin(X[:, 1])])
    y = y if n_targets > 1 else y[:, 0]
    y[:3] = 1e4
    model = BudgetSVR(C=10.0, gamma=0.5, budget=30, random_state=0)
    for i in range(300):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        assert np.isfinite(model.predict(X[:2])).all()
        if i < 3:
            np.testing.assert_array_equal(model.predict(X), np.full(y.shape, 1e4))
    assert (model.target_scale_ > 1).all()
    assert model.polish_now().score(X, y) > 0.95


@pytest.mark.parametrize("sizes", [[2, 1], [31, 7], [400]], ids=str)
def test_regression(sizes):
    X = np.random.default_rng(0).uniform(-2, 2, (2000, 2))
    y = 100 + 10 * np.sin(X[:, 0]) * X[:, 1]
    model = BudgetSVR(C=1, gamma=0.5, budget=60, random_state=0)
    model.fit_stream(in_blocks(X, y, sizes))
    assert model.converged_
    assert model.score(X, y) > 0.95


# ---- dense and sparse ----


def test_a_centred_model_reads_sparse_rows():
    """Dense rows are centred for precision; sparse ones must then be, too."""
    X, y = noisy_xor(500, 0)
    X += 5
    model = make().fit(X, y)
    expected = model.decision_function(X)
    for convert in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        np.testing.assert_allclose(model.decision_function(convert(X)), expected, atol=1e-5)


@pytest.mark.parametrize("first", [np.asarray, sparse.csr_array])
def test_blocks_may_be_dense_or_sparse(first):
    X, y = noisy_xor(1200, 1, flips=0.0)
    kinds = [first, sparse.csr_array, np.asarray, sparse.csr_matrix]
    model, plain = make(gamma=0.5), make(gamma=0.5)
    for k, (rows, labels) in enumerate(in_blocks(X, y, [300])):
        model.partial_fit(kinds[k](rows), labels)
        plain.partial_fit(first(rows), labels)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-2)
    a, b = model.polish_now(), plain.polish_now()
    assert a.objective_[0] == pytest.approx(b.objective_[0], rel=0.02)

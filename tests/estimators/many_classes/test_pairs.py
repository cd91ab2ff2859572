"""BudgetSVC, each class against each: beside scikit-learn's SVC, pair by pair, and whatever else a fit must not mind."""

import pickle
from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_optimal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.svm import SVC

from budgetsvm import BudgetSVC, polish
from budgetsvm._estimators.svc_prediction import coupled
from budgetsvm._problem.pair_targets import pairs_of

NAMES = np.array(["ant", "bee", "cat", "dog"])


def overlapping(n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """Four classes of different sizes."""
    options: dict[str, Any] = {"n_informative": 4, "n_classes": 4, "flip_y": 0.1}
    X, codes = make_classification(
        n, 6, weights=[0.5, 0.25, 0.15, 0.1], random_state=seed, **options
    )
    return X, NAMES[codes]


def make(**options: Any) -> BudgetSVC:
    return BudgetSVC(**{"C": 1, "gamma": 0.1, "budget": 30, "random_state": 0, **options})


# ---- the same as SVC where all rows may be terms ----


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [1e-3, 0.1, 3.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_decision_values_of_svc(classes: int, C: float, weighted: bool) -> None:
    X, y = overlapping()
    X, y = X[np.isin(y, NAMES[:classes])], y[np.isin(y, NAMES[:classes])]
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    options: dict[str, Any] = {"C": C, "gamma": 0.1, "decision_function_shape": "ovo"}
    options |= {"class_weight": "balanced" if weighted else None}
    ours = BudgetSVC(budget=300, tol=1e-6, precision="double", random_state=0, **options)
    ours.fit(X, y, weights)
    theirs = SVC(tol=1e-8, **options).fit(X, y, weights)
    values, expected = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(values, expected, rtol=0, atol=3e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=3e-4)
    assert ours.certifies_ == "full problem"
    if classes > 2:
        for machine in (ours, theirs):
            machine.set_params(decision_function_shape="ovr", break_ties=True)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-3
        )
        assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99
        for machine in (ours, theirs):
            machine.set_params(break_ties=False)
        assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99
        largest = ours.decision_function(X).argmax(axis=1)
        np.testing.assert_array_equal(ours.classes_[largest], ours.predict(X))


# ---- certificates ----


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("bias", [False, True])
def test_certificates_hold(loss: str, bias: bool) -> None:
    X, y = overlapping(150)
    weights = np.random.default_rng(1).uniform(0, 2, len(y))
    model = make(budget=20, loss=loss, fit_intercept=bias, tol=1e-4, precision="double")
    model.fit(X, y, weights)
    check_optimal(model, X, y, weights)
    assert model.intercept_.all() == bias


@pytest.mark.parametrize("memory_limit", [None, 3e4])
def test_it_is_the_sum_of_its_pairs(memory_limit: float | None) -> None:
    """Each pair solved by itself, on the same terms, without the rows of other classes."""
    X, y = overlapping()
    options: dict[str, Any] = {"C": 2, "gamma": 0.1, "tol": 1e-6, "precision": "double"}
    whole = polish(X, y, X[:25], memory_limit=memory_limit, **options)
    alone = []
    for c, (a, b) in enumerate(pairs_of(4)):
        rows = (y == NAMES[a]) | (y == NAMES[b])
        pair = polish(X[rows], y[rows], X[:25], **options)
        alone.append((pair.primal, pair.dual))
        values, own = (
            np.exp(-0.1 * ((X[:, np.newaxis] - one.points) ** 2).sum(axis=2)) @ coef + bias
            for one, coef, bias in (
                (whole, whole.coef[c], whole.bias[c]),
                (pair, pair.coef, pair.bias),
            )
        )
        np.testing.assert_allclose(values, -own, rtol=0, atol=0.05)
    primal, dual = np.sum(alone, axis=0)
    assert whole.primal == pytest.approx(primal, rel=2e-5)
    assert whole.dual == pytest.approx(dual, rel=2e-5)
    assert whole.converged


@pytest.mark.parametrize("options", [{}, {"polish": False}, {"budget": None}, {"loss": "logistic"}])
def test_attributes_rebuild_the_decision_function(options: dict[str, Any]) -> None:
    X, y = overlapping()
    model = make(decision_function_shape="ovo", precision="double", **options).fit(X, y)
    assert model.dual_coef_.shape == (6, len(model.support_vectors_))
    distances = ((X[:, np.newaxis] - model.support_vectors_) ** 2).sum(axis=2)
    values = np.exp(-0.1 * distances) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), values, rtol=0, atol=1e-9)
    wins = np.zeros((len(X), 4))
    for c, (a, b) in enumerate(pairs_of(4)):
        wins[:, a] += values[:, c] >= 0
        wins[:, b] += values[:, c] < 0
    codes = np.searchsorted(NAMES, model.predict(X))
    assert (wins[np.arange(len(X)), codes] == wins.max(axis=1)).all()
    per_class = model.set_params(decision_function_shape="ovr").decision_function(X)
    assert (NAMES[per_class.argmax(axis=1)] == model.predict(X)).all()


# ---- what a fit must not mind ----


def test_threads_and_storage() -> None:
    X, y = overlapping(800)
    one = make(precision="double").fit(X, y)
    for other in (
        make(precision="double", n_jobs=2).fit(X, y),
        make(precision="double").fit(np.asfortranarray(X), y),
    ):
        np.testing.assert_array_equal(other.dual_coef_, one.dual_coef_)
        np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))
    single = make(precision="single").fit(X.astype(np.float32), y)
    thin = make().fit(sparse.csr_array(X), y)
    for other in (single, thin):
        assert np.mean(other.predict(X) == one.predict(X)) > 0.97
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict(X), one.predict(X))


@pytest.mark.parametrize("options", [{}, {"polish": False}, {"budget": None}, {"solver": "bsgd"}])
def test_a_class_of_one_row(options: dict[str, Any]) -> None:
    X, codes = make_blobs(201, centers=3, cluster_std=0.5, random_state=0)
    y = np.array(["x", "y", "z"])[codes]
    lonely = np.append(np.flatnonzero(y != "z"), np.flatnonzero(y == "z")[:1])
    model = make(C=10, **options).fit(X[lonely], y[lonely])
    assert model.decision_function(X).shape == (201, 3)
    assert model.score(X[y != "z"], y[y != "z"]) == 1
    assert model.predict(X[lonely[-1:]]) == ["z"]


def test_two_classes_are_one_output() -> None:
    X, y = overlapping()
    rows = np.isin(y, NAMES[:2])
    found = [make(multi_class=m).fit(X[rows], y[rows]) for m in ("ovo", "ovr")]
    assert found[0].dual_coef_.shape[0] == 1
    np.testing.assert_array_equal(found[0].dual_coef_, found[1].dual_coef_)


# ---- streams, warm starts and changed parameters ----


def test_a_stream() -> None:
    X, y = overlapping(1200)
    model = make(budget=60)
    for start in range(0, 1200, 300):
        part = slice(start, start + 300)
        model.partial_fit(X[part], y[part], classes=NAMES)
    assert model.dual_coef_.shape[0] == 6
    of_classes = model.dual_coef_[:3]  # of the first class against the others
    np.testing.assert_allclose(  # phase 1 trains classes, whose differences these are
        model.dual_coef_[3], of_classes[1] - of_classes[0], atol=1e-9
    )
    before = model.score(X, y)
    model.polish_now()
    assert model.converged_
    assert model.score(X, y) > before - 0.02
    model.partial_fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="multi_class is 'ovr' now"):
        model.set_params(multi_class="ovr").partial_fit(X[:300], y[:300])
    assert make(budget=60).fit_stream([(X, y)]).score(X, y) > 0.7


def test_a_warm_start_with_other_outputs() -> None:
    X, y = overlapping(600)
    model = make(warm_start=True).fit(X, y)
    points = model.support_vectors_
    for multi_class, outputs in (("ovr", 4), ("ovo", 6)):
        model.set_params(multi_class=multi_class, C=2).fit(X, y)
        assert len(model.dual_coef_) == outputs
        assert set(map(tuple, model.support_vectors_)) <= set(map(tuple, points))
        anew = clone(model).set_params(C=model.C_, basis=points, warm_start=False).fit(X, y)
        assert model.objective_[0] == pytest.approx(anew.objective_[0], rel=0.02)


def test_a_model_stays_what_it_is_when_parameters_change() -> None:
    X, y = overlapping()
    X, y = X[y != "dog"], y[y != "dog"]  # three classes have three pairs
    model = make().fit(X, y)
    before = model.predict(X)
    model.set_params(multi_class="ovr")
    np.testing.assert_array_equal(model.predict(X), before)


# ---- probabilities ----


def test_coupled_probabilities() -> None:
    """Where pairs agree with each other, their probabilities are found; else, positive ones that add up to 1."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(5), size=50)
    first, second = pairs_of(5).T
    np.testing.assert_allclose(coupled(p[:, first] / (p[:, first] + p[:, second]), 5), p, atol=1e-8)
    found = coupled(np.round(rng.uniform(size=(50, 10)), 1), 5)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    sure = coupled(np.tile([1.0, 1, 1, 0, 0, 0], (1, 1)), 4)
    assert sure.argmax() == 0

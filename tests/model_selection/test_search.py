"""Searches as scikit-learn's users know them: results, scorers, splitters, groups, weights, time, errors."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, cross_val_score
from tools.doubles.clock import let_time_pass_by_looking

from budgetsvm import BudgetSVC, model_selection
from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV

X, Y = make_moons(300, noise=0.25, random_state=0)
CS, GAMMAS = [0.01, 1.0, 100.0], [0.01, 1.0, 100.0]
SMALL: dict[str, Any] = {"budget": 30, "cv": 3, "random_state": 0}


@pytest.mark.slow
def test_results_have_the_form_of_scikit_learn() -> None:
    ours = BudgetSVCCV(CS, GAMMAS, **SMALL).fit(X, Y)
    grid = GridSearchCV(BudgetSVC(budget=30, random_state=0), {"C": CS, "gamma": GAMMAS}, cv=3)
    theirs = grid.fit(X, Y)
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.best_params_ == theirs.best_params_
    assert ours.n_splits_ == theirs.n_splits_ == 3
    difference = ours.cv_results_["mean_test_score"] - theirs.cv_results_["mean_test_score"]
    assert np.abs(difference).mean() < 0.02  # terms are learned with another C
    for name in ("param_C", "param_gamma"):
        np.testing.assert_array_equal(ours.cv_results_[name], theirs.cv_results_[name])
    assert (ours.cv_results_["n_splits"] == 3).all()
    assert (ours.cv_results_["n_rows"] == 200).all()


def test_the_best_machine_answers() -> None:
    search = BudgetSVCCV(CS, GAMMAS, loss="log_loss", **SMALL).fit(X, Y)
    best = search.best_estimator_
    assert best.get_params()["C"] == search.best_params_["C"]
    np.testing.assert_array_equal(search.predict(X), best.predict(X))
    np.testing.assert_array_equal(search.decision_function(X), best.decision_function(X))
    np.testing.assert_array_equal(search.predict_proba(X), best.predict_proba(X))
    assert search.score(X, Y) == best.score(X, Y) > 0.9
    assert search.classes_.tolist() == [0, 1]
    assert search.n_features_in_ == 2
    assert not hasattr(BudgetSVCCV(), "predict_proba")
    plain = BudgetSVC(loss="log_loss", budget=30, random_state=0, **search.best_params_).fit(X, Y)
    np.testing.assert_array_equal(plain.decision_function(X), best.decision_function(X))


def test_without_refit() -> None:
    search = BudgetSVCCV(CS, GAMMAS, refit=False, **SMALL).fit(X, Y)
    assert search.best_params_["gamma"] == 1.0
    with pytest.raises(AttributeError, match="refit=False"):
        search.predict(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(n_jobs: int) -> None:
    first = BudgetSVCCV(CS, GAMMAS, **SMALL).fit(X, Y)
    other = BudgetSVCCV(CS, GAMMAS, n_jobs=n_jobs, **SMALL).fit(X, Y)
    for k in range(3):
        name = f"split{k}_test_score"
        np.testing.assert_array_equal(first.cv_results_[name], other.cv_results_[name])


@pytest.mark.slow
def test_copies() -> None:
    search = BudgetSVCCV(CS, GAMMAS, **SMALL).fit(X, Y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert again.best_params_ == search.best_params_
    copy = clone(search)
    assert not hasattr(copy, "best_params_")
    assert copy.get_params() == search.get_params()
    assert cross_val_score(copy, X, Y, cv=2).mean() > 0.85


def test_groups_stay_together() -> None:
    groups = np.arange(300) % 7
    seen = []

    class Folds(GroupKFold):
        def split(self, *data: Any) -> Any:
            for train, test in super().split(*data):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    BudgetSVCCV([1.0], [1.0], budget=20, cv=Folds(3)).fit(X, Y, groups=groups)
    assert seen == [set()] * 3
    with pytest.raises(ValueError, match="groups"):
        BudgetSVCCV([1.0], [1.0], budget=20, cv=GroupKFold(3)).fit(X, Y)


def test_rows_of_no_weight_are_not_learned_from() -> None:
    rng = np.random.default_rng(0)
    wrong = rng.random(300) < 0.4
    labels, weights = np.where(wrong, 1 - Y, Y), np.where(wrong, 0.0, 1.0)
    folds = ShuffleSplit(3, random_state=0)
    search = BudgetSVCCV([1.0], [1.0], budget=30, cv=folds, random_state=0)
    search.fit(X, labels, sample_weight=weights)
    assert np.mean(search.predict(X) == Y) > 0.9
    right = ~wrong
    alone = BudgetSVC(C=1.0, gamma=1.0, budget=30, random_state=0).fit(X[right], labels[right])
    np.testing.assert_array_equal(search.predict(X), alone.predict(X))


def test_several_budgets() -> None:
    search = BudgetSVCCV([1.0, 10.0], [1.0], budget=[2, 30], cv=3, random_state=0).fit(X, Y)
    assert search.best_params_["budget"] == 30
    assert [cell["budget"] for cell in search.cv_results_["params"]] == [2, 30, 2, 30]
    assert len(search.best_estimator_.support_vectors_) <= 30


def test_many_classes_and_sparse_rows() -> None:
    rows, labels = make_blobs(300, centers=5, cluster_std=2.0, random_state=0)
    names = np.array(list("abcde"))[labels]
    dense = BudgetSVCCV([1.0, 10.0], [0.1], **SMALL).fit(rows, names)
    scattered = BudgetSVCCV([1.0, 10.0], [0.1], **SMALL).fit(sparse.csr_matrix(rows), names)
    assert dense.best_score_ == pytest.approx(scattered.best_score_, abs=0.02)
    assert set(dense.predict(rows)) <= set("abcde")


def test_regression_of_several_targets() -> None:
    targets = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2])
    search = BudgetSVRCV([0.01, 10.0], [0.01, 1.0], **SMALL).fit(X, targets)
    assert search.best_params_ == {"C": 10.0, "gamma": 1.0}
    assert search.predict(X).shape == targets.shape


def test_kernels_without_gamma() -> None:
    search = BudgetSVCCV([0.1, 1.0], kernel="linear", **SMALL).fit(X, Y)
    assert [*search.best_params_] == ["C"]
    gram = X @ X.T
    values = BudgetSVCCV([0.1, 1.0], kernel="precomputed", **SMALL).fit(gram, Y)
    assert values.best_score_ == pytest.approx(search.best_score_, abs=0.03)
    with pytest.raises(ValueError, match=r"gammas=\[1.0\].*kernel='linear'"):
        BudgetSVCCV([1.0], [1.0], kernel="linear").fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": []}, r"Cs must be a number of values, or a list of some, not \[\]"),
        ({"Cs": 0}, "Cs must be at least 1, not 0"),
        ({"Cs": [1.0, -1.0]}, "Cs has -1.0 in it: C must be a finite number > 0"),
        ({"gammas": [0.0]}, "gammas has 0.0 in it"),
        ({"gammas": ["wide"]}, "gammas has 'wide' in it"),
        ({"budget": None}, "budget=None"),
        ({"budget": []}, "budget is a list without budgets"),
        ({"budget": [0]}, "budget must be at least 1, not 0"),
        ({"time_limit": 0}, "time_limit must be a finite number > 0, not 0"),
        ({"scoring": ["f1", "roc_auc"]}, "scoring must be a single scorer"),
        ({"scoring": "beauty"}, "beauty"),
        ({"cv": 1}, "n_splits=1"),
        ({"tol": -1}, "tol must be a finite number > 0, not -1"),
    ],
)
def test_errors_name_the_value(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BudgetSVCCV(**({"Cs": [1.0], "gammas": [1.0], "budget": 10} | parameters)).fit(X, Y)


def test_a_search_that_fails_changes_nothing() -> None:
    search = BudgetSVCCV([1.0], [1.0], budget=10).fit(X, Y)
    before = search.predict(X)
    with pytest.raises(ValueError, match="Cs"):
        search.set_params(Cs=[]).fit(X, Y)
    np.testing.assert_array_equal(search.predict(X), before)


def test_a_time_limit_gives_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = make_moons(3000, noise=0.25, random_state=0)
    let_time_pass_by_looking(monkeypatch, seconds=0.5e-3)
    search = BudgetSVCCV(budget=50, time_limit=0.5, random_state=0).fit(rows, labels)
    tried = search.cv_results_["n_splits"]
    assert 0 < np.count_nonzero(tried) < len(tried)
    assert search.best_index_ in np.flatnonzero(tried)
    assert search.best_estimator_.score(rows, labels) > 0.9
    assert not search.search_complete_


def test_without_time_for_a_cell_a_search_guesses() -> None:
    rows, labels = make_moons(3000, noise=0.25, random_state=0)
    with pytest.warns(ConvergenceWarning):  # by the fit to all rows
        hardly = BudgetSVCCV(budget=50, time_limit=1e-6, random_state=0).fit(rows, labels)
    assert np.isnan(hardly.best_score_)
    assert 0.1 < hardly.best_params_["C"] < 1000
    assert not hardly.search_complete_


def test_a_search_says_that_it_had_the_time_that_it_needed() -> None:
    for limit in (None, 1000.0):
        search = BudgetSVCCV([1.0, 4.0], [1.0, 2.0], budget=10, time_limit=limit, random_state=0)
        assert search.fit(X, Y).search_complete_


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    BudgetSVCCV([1.0], [1.0], budget=10, verbose=1).fit(X, Y)
    assert "search" in capsys.readouterr().err


def test_public_names() -> None:
    assert model_selection.__all__ == ["BudgetSVCCV", "BudgetSVRCV"]

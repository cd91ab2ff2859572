"""The mathematics of a search: a cell is what a plain fit to the same terms is, and its score what it is by hand."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._estimators.tuning.cells.fold_path import FoldPath
from budgetsvm._estimators.tuning.cells.held_out import HeldOutRows
from budgetsvm.model_selection import BudgetSVCCV

CS = (0.1, 1.0, 10.0, 300.0)


def problem(kind: str) -> tuple[Any, Any, Any]:
    """Return a machine, rows and targets."""
    X, y = make_moons(600, noise=0.3, random_state=0)
    options: dict[str, Any] = {"gamma": 1.0, "budget": 40, "random_state": 0, "tol": 1e-4}
    if kind == "regression":
        return BudgetSVR(**options), X, np.sin(3 * X[:, 0]) + X[:, 1]
    if kind in ("ovo", "ovr", "weston-watkins"):
        X, y = make_blobs(400, centers=4, cluster_std=3.0, random_state=0)
        more = {"gamma": 0.1, "tol": 1e-2 if kind == "weston-watkins" else 1e-4}
        return BudgetSVC(multi_class=kind, **(options | more)), X, y
    return BudgetSVC(loss=kind, **options), X, y


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "kind", ["hinge", "squared_hinge", "log_loss", "regression", "ovo", "ovr", "weston-watkins"]
)
def test_a_cell_is_a_plain_fit_of_the_same_terms(kind: str) -> None:
    machine, X, y = problem(kind)
    path, rows = FoldPath(machine, X, y, None, 10.0), HeldOutRows(X, 1)
    assert path._path is not None
    terms = path._path._model.original_points()
    for C in CS[:3] if kind == "weston-watkins" else CS:
        solved = path.solve(C, rows)
        parameters = solved.get_params() | {"C": C, "basis": terms, "budget": len(terms)}
        plain = type(solved)(**parameters).fit(X, y)
        assert path._path._last is not None
        primal = path._path._last[1].polished.primal
        assert primal == pytest.approx(plain.objective_[0], rel=1.5 * plain.tol)
        ours, theirs = solved.predict(X), plain.predict(X)
        if kind == "regression":
            assert np.abs(ours - theirs).max() < 0.05 * np.std(y)
            assert np.abs(ours - theirs).mean() < 0.01 * np.std(y)
        elif (
            kind != "weston-watkins"
        ):  # whose tolerance, for the time it takes, leaves room for others
            assert np.mean(ours == theirs) > 0.98
            values = [one.decision_function(X) for one in (solved, plain)]
            assert np.mean(np.abs(values[0] - values[1])) < 0.05 * np.mean(np.abs(values[1]))
    path.close()


def test_where_all_rows_may_be_terms_cells_are_exact_machines() -> None:
    X, y = make_moons(200, noise=0.3, random_state=0)
    path = FoldPath(BudgetSVC(gamma=1.0, budget=200, random_state=0, tol=1e-4), X, y, None, 10.0)
    for C in CS:
        solved = path.solve(C, HeldOutRows(X, 1))
        plain = BudgetSVC(C=C, gamma=1.0, budget=200, random_state=0, tol=1e-4).fit(X, y)
        np.testing.assert_allclose(
            solved.decision_function(X), plain.decision_function(X), atol=0.02
        )
    assert path._path is None


@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1"])
def test_scores_are_what_they_are_by_hand(scoring: str | None) -> None:
    X, y = make_moons(300, noise=0.3, random_state=1)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = BudgetSVCCV(
        [1.0, 100.0], [0.5, 5.0], budget=30, cv=folds, scoring=scoring, random_state=0, tol=1e-4
    ).fit(X, y)
    found = search.cv_results_
    scorer = get_scorer(scoring or "accuracy")
    for k, (train, test) in enumerate(folds.split(X, y)):
        for i, cell in enumerate(found["params"]):
            # Terms are learned with the middle C: of two, the larger.
            machine = BudgetSVC(gamma=cell["gamma"], budget=30, random_state=0, tol=1e-4, n_jobs=1)
            path = FoldPath(machine, X[train], y[train], None, 100.0)
            solved = path.solve(cell["C"], HeldOutRows(X[:5], 1))  # other rows: computed as usual
            score = scorer(solved, X[test], y[test])
            assert found[f"split{k}_test_score"][i] == pytest.approx(score, abs=0.011)
    table = np.column_stack([found[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(found["mean_test_score"], table.mean(axis=1))
    np.testing.assert_allclose(found["std_test_score"], table.std(axis=1))
    assert found["mean_test_score"][search.best_index_] == search.best_score_
    assert found["rank_test_score"][search.best_index_] == 1


def test_known_rows_and_others_have_the_same_values() -> None:
    X, y = make_moons(300, noise=0.3, random_state=1)
    model = BudgetSVC(C=10, gamma=1, budget=30, random_state=0).fit(X, y)._expansion
    rows = HeldOutRows(X[:100], 1)
    known = rows.known_by(model)
    np.testing.assert_allclose(known.decision(X[:100]), model.decision(X[:100]), atol=1e-4)
    np.testing.assert_array_equal(known.decision(X[100:]), model.decision(X[100:]))


def test_rows_held_out_are_not_mistaken() -> None:
    """Values are kept for a model that is asked twice; another model, and whoever changes what was returned, get their own."""
    machine, X, y = problem("hinge")
    path, rows = FoldPath(machine, X[:500], y[:500], None, 10.0), HeldOutRows(X[500:], 1)
    small = path.solve(0.1, rows)._expansion
    large = path.solve(300.0, rows)._expansion
    first = [model.decision(X[500:]) for model in (small, large, small, large)]
    first[0][:] = np.nan
    np.testing.assert_array_equal(first[2], small.decision(X[500:]))
    np.testing.assert_array_equal(first[1], first[3])
    assert not np.allclose(first[2], first[3])
    np.testing.assert_allclose(small.decision(X[:300]), small.decision(X[:300].copy()))
    path.close()

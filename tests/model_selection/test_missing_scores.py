"""Searches in which scores are missing: they never end with a cell that looks as if it had won."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut
from tools.doubles.clock import let_time_pass_by_looking

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._estimators.tuning import tuned_fit
from budgetsvm._estimators.tuning.folds import Folds
from budgetsvm._estimators.tuning.grid import Grid
from budgetsvm._estimators.tuning.guard.default_cell import DefaultCell
from budgetsvm._estimators.tuning.scores import Heat, Scores
from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
SMALL: dict[str, Any] = {"Cs": [1.0, 10.0], "gammas": [0.5, 1.0], "budget": 10, "random_state": 0}


@pytest.fixture(autouse=True)
def _few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``"tune"`` try few values: these tests are not about what it finds."""
    monkeypatch.setattr(tuned_fit, "_CS", 2)
    monkeypatch.setattr(tuned_fit, "_GAMMAS", 2)


def no_score(*_: Any) -> float:
    """Be a scorer that cannot say anything."""
    return np.nan


@pytest.mark.parametrize("halving", [False, True])
@pytest.mark.parametrize("budget", [10, [5, 10], "auto"])
def test_a_search_without_a_finite_score_is_an_error(budget: Any, halving: bool) -> None:
    search = BudgetSVCCV([1, 10], [0.5, 1], budget=budget, cv=2, scoring=no_score, halving=halving)
    with pytest.raises(ValueError, match=r"none of \d+ scores is finite"):
        search.fit(X, Y)
    assert not hasattr(search, "best_params_")


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_r_squared_of_single_rows_is_an_error() -> None:
    with pytest.raises(ValueError, match="fewer folds"):
        BudgetSVRCV(cv=LeaveOneOut(), **SMALL).fit(X[:8], X[:8, 0])


@pytest.mark.parametrize("budget", [10, "auto"])
@pytest.mark.parametrize("known", [0, 1, 2])
def test_scores_that_come_and_go_are_counted(budget: Any, known: int) -> None:
    """Whichever C is the one that has a score."""
    Cs = [1.0, 10.0, 100.0]

    def scorer(machine: BudgetSVC, X: Any, y: Any) -> float:
        return float(machine.score(X, y)) if Cs[known] == machine.C else np.nan

    options = {**SMALL, "Cs": Cs, "budget": budget}
    with pytest.warns(UserWarning, match=r"\d+ of \d+ scores are not finite"):
        search = BudgetSVCCV(cv=3, scoring=scorer, **options).fit(X, Y)
    assert search.best_params_["C"] == Cs[known]
    assert np.isfinite(search.best_score_)


def test_scores_that_end_with_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that had a score on a sample, and have none of all rows."""
    monkeypatch.setattr("budgetsvm._estimators.tuning.race._FEW_ROWS", 20)

    def scorer(machine: BudgetSVC, X: Any, y: Any) -> float:
        few = machine.converged_ is not None and machine._problem_rows <= 20
        return float(machine.score(X, y)) if few else np.nan

    seen: list[int] = []
    known = BudgetSVC._targets

    def counting(self: Any, encoded: Any, weights: Any) -> Any:
        self._problem_rows = len(encoded)
        seen.append(len(encoded))
        return known(self, encoded, weights)

    monkeypatch.setattr(BudgetSVC, "_targets", counting)
    with pytest.warns(UserWarning, match="are not finite"):
        BudgetSVCCV(cv=3, scoring=scorer, **{**SMALL, "Cs": 8, "gammas": 6}).fit(X, Y)
    assert min(seen) <= 20 < max(seen)


def test_a_budget_without_a_score_ends_the_curve() -> None:
    def scorer(machine: BudgetSVC, X: Any, y: Any) -> float:
        return float(machine.score(X, y)) if machine.budget == 60 else np.nan

    with pytest.warns(UserWarning, match="are not finite"):
        search = BudgetSVCCV([1, 10], [0.5], cv=2, scoring=scorer, random_state=0).fit(X, Y)
    assert search.best_params_["budget"] == 60


@pytest.mark.parametrize("kind", [BudgetSVCCV, BudgetSVRCV])
def test_no_time_for_any_cell(kind: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="time_limit=1e-06 was over before a cell"):
        search = kind(time_limit=1e-6, refit=False, **SMALL).fit(X, Y)
    assert not search.search_complete_
    assert np.isnan(search.best_score_)


@pytest.mark.filterwarnings("ignore:the duality gap")
def test_no_time_to_tune(monkeypatch: pytest.MonkeyPatch) -> None:
    let_time_pass_by_looking(monkeypatch, seconds=1.0)
    with pytest.warns(ConvergenceWarning, match="the parameters stay what they are"):
        model = BudgetSVC(C="tune", budget=10, time_limit=2.0).fit(X, Y)
    assert model.best_params_ == {"C": "scale"}
    assert not model.search_complete_


@pytest.mark.filterwarnings("ignore:the duality gap")
def test_the_machine_of_a_cell_that_was_cut_short_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However good the cell is on rows held out: what counts is the model that there is."""
    monkeypatch.setattr("budgetsvm._estimators.tuning.tuned_fit._LEAST_REST", 1e-9)
    monkeypatch.setattr(DefaultCell, "is_beaten", lambda *_: True)
    refit = tuned_fit.refitted

    def late(base: Any, found: Any, data: Any, started: float) -> Any:
        return refit(base, found, data, started - 1e6)

    monkeypatch.setattr(tuned_fit, "refitted", late)
    model = BudgetSVC(C="tune", gamma="tune", budget=10, time_limit=60, random_state=0)
    with pytest.warns(ConvergenceWarning, match="before the best cell was fitted to all rows"):
        model.fit(X, Y)
    assert model.converged_
    assert model.best_params_["C"] == "scale"
    assert not model.search_complete_
    plain = BudgetSVC(budget=10, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))


def test_a_fit_of_one_cell_alone_takes_longer_than_in_a_search() -> None:
    """All C share terms, and each begins where another one ended."""
    scores, none = Scores(Grid((1.0, 2.0), (1.0,), ()), 1), np.zeros(2)
    heat = Heat(0, 0, np.arange(2), 100, np.ones(2), np.array([3.0, 4.0]), none, other_parts=2.0)
    scores.add(heat)
    np.testing.assert_allclose(scores.alone(lambda rows: 1000 / rows), [[80.0], [100.0]])


def test_samples_hold_a_row_of_every_class() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6100, 2))
    y = (rows[:, 0] > 0).astype(int)
    y[:3] = 2
    sizes: list[int] = []

    class Counting(BudgetSVC):
        def _targets(self, encoded: Any, weights: Any) -> Any:
            sizes.append(len(encoded))
            return super()._targets(encoded, weights)

    class Search(BudgetSVCCV):
        _KIND = Counting

    Search([1.0], 5, budget=5, cv=3, refit=False, random_state=0).fit(rows, y)
    assert {4000} <= {size for size in sizes if size < 4060} <= {4000, 4001}


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR])
@pytest.mark.parametrize("what", ["list", "tuple", "words", "frame"])
def test_rows_of_any_kind(kind: Any, what: str) -> None:
    rows = {
        "list": X.tolist(),
        "tuple": tuple(map(tuple, X.tolist())),
        "words": X.astype(str).astype(object),
        "frame": pd.DataFrame(X),
    }[what]
    options = {"C": "tune", "gamma": "tune", "budget": 5, "random_state": 0}
    expected = kind(**options).fit(X, Y)
    found = kind(**options).fit(rows, Y)
    assert found.best_params_ == expected.best_params_


def test_weights_that_leave_one_class_in_a_split() -> None:
    weights = np.ones(60)
    weights[np.flatnonzero(Y == 1)[2:]] = 0.0
    with pytest.raises(ValueError, match=r"split \d of cv are all of class 0"):
        BudgetSVCCV(cv=3, **SMALL).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("scoring", "error", "message"),
    [
        ("neg_log_loss", ValueError, "loss='log_loss'"),
        (lambda *_: None, TypeError, "must return a number, not None"),
        (lambda *_: {"a": 1}, TypeError, "must return a number"),
    ],
)
def test_scorers_that_do_not_fit(scoring: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        BudgetSVCCV(scoring=scoring, **SMALL).fit(X, Y)


# Rows of every class, or all rows of a regression; 0: none of which can be held out.
TOO_FEW = [(1, 1), (59, 1), (1, 1, 1), (50, 1, 1)]
FEW = [(2, 2), (58, 2), (3, 4), (9, 3, 1), (2, 2, 2), (4, 4)]


def labels(counts: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return labels with so many of each class, mixed."""
    return RNG.permutation(np.repeat(np.arange(len(counts)), counts))


@pytest.mark.parametrize("counts", TOO_FEW)
def test_too_few_rows_to_tune_with(counts: tuple[int, ...]) -> None:
    y = labels(counts)
    options: dict[str, Any] = {"budget": 10, "random_state": 0}
    with pytest.warns(UserWarning, match="too few rows to tune with"):
        model = BudgetSVC(C="tune", gamma="tune", **options).fit(X[: len(y)], y)
    assert model.best_params_["C"] == "scale"
    assert np.isnan(model.best_score_)
    assert not model.search_complete_
    plain = BudgetSVC(**options).fit(X[: len(y)], y)
    np.testing.assert_allclose(plain.decision_function(X), model.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("counts", FEW)
@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_are_tuned_with_fewer_folds(counts: tuple[int, ...], weighted: bool) -> None:
    y = labels(counts)
    rows, weights = X[: len(y)], None
    if weighted:  # rows of weight 0 do not make up for those that are missing
        weights = np.repeat([1.0, 0.0], len(y))
        rows, y = np.tile(rows, (2, 1)), np.tile(y, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BudgetSVC(C="tune", budget=2, random_state=0).fit(rows, y, weights)
    assert np.isfinite(model.best_score_)


@pytest.mark.parametrize("n_rows", range(2, 14))
def test_regression_of_few_rows(n_rows: int) -> None:
    model = BudgetSVR(C="tune", budget=5, random_state=0)
    if n_rows < 4:
        with pytest.warns(UserWarning, match="too few rows to tune with"):
            model.fit(X[:n_rows], X[:n_rows, 0])
    else:
        model.fit(X[:n_rows], X[:n_rows, 0])
    assert np.isfinite(model.best_score_) == (n_rows >= 4)


@pytest.mark.parametrize("classifies", [False, True])
def test_folds_hold_out_every_row_that_counts_once(classifies: bool) -> None:
    for weights in (None, np.arange(60) % 3.0):
        splits = list(Folds(classifies, weights).split(X, Y))
        counting = np.arange(60) if weights is None else np.flatnonzero(weights)
        np.testing.assert_array_equal(np.sort(np.concatenate([t for _, t in splits])), counting)
        for train, test in splits:
            np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), counting)


@pytest.mark.parametrize("Cs", [None, 2.5, "many", (C for C in (1, 2)), {1, 2}, object()])
def test_what_is_no_list_of_values(Cs: Any) -> None:
    with pytest.raises(TypeError, match=r"Cs must be (a number of values|an integer)"):
        BudgetSVCCV(Cs, [1.0], budget=5).fit(X, Y)


def test_a_C_that_is_too_far_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budgetsvm._estimators.tuning.cells.heats.Heats.run", None)
    with pytest.raises(ValueError, match="too far to compute with"):
        BudgetSVCCV([1.0, 1e300, 10.0], [1.0], budget=5).fit(X, Y)


def test_one_terrible_cell_does_not_make_others_equal() -> None:
    scores = Scores(Grid((1.0, 2.0, 3.0, 4.0), (1.0,), ()), 1)
    none = np.zeros(4)
    scores.add(Heat(0, 0, np.arange(4), 10, np.array([0.78, -1e300, 0.97, -5.0]), none, none))
    assert scores.order().tolist() == [2, 0, 3, 1]
    assert scores.results()["rank_test_score"].tolist() == [2, 4, 1, 3]


@pytest.mark.parametrize("unit", [2.0**-700, 1.0, 2.0**30])
def test_ranks_of_the_same_scores_in_another_order(unit: float) -> None:
    scores = Scores(Grid((1.0, 2.0, 3.0), (1.0,), ()), 3)
    cells = unit * np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.1, 0.1, 0.1]])
    assert cells[0].mean() != cells[1].mean()
    for split in range(3):
        none = np.zeros(3)
        scores.add(Heat(0, split, np.arange(3), 10, cells[:, split], none, none))
    assert scores.results()["rank_test_score"].tolist() == [1, 1, 3]

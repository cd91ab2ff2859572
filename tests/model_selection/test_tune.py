"""``C="tune"`` and ``gamma="tune"``, and the budget by its curve."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from tools.doubles.clock import let_time_pass_by_looking

from budgetsvm import BudgetSVC, BudgetSVR, load
from budgetsvm._estimators.tuning.budget_curve import as_good, candidates

X, Y = make_moons(240, noise=0.2, random_state=0)
BOARD = np.random.default_rng(0).uniform(0, 4, (240, 2))
FIELDS = (
    BOARD.astype(int).sum(axis=1) % 2
)  # of a chess board, for which the default kernel is too wide


def tuned(**parameters: Any) -> BudgetSVC:
    """Return a classifier with a tuned C and gamma."""
    return BudgetSVC(C="tune", gamma="tune", budget=20, random_state=0, **parameters)


@pytest.mark.slow
def test_a_fit_finds_its_parameters() -> None:
    model = BudgetSVC(C="tune", gamma="tune", budget=40, random_state=0).fit(BOARD, FIELDS)
    assert (model.C, model.gamma) == ("tune", "tune")
    assert model.best_params_["C"] == model.C_
    assert model.kernel_.gamma == model.best_params_["gamma"]
    assert model.score(BOARD, FIELDS) > 0.9
    assert len(model.support_vectors_) <= 40
    assert len(model.cv_results_["params"]) == 10 * 9 + 1  # the default cell is the last
    plain = BudgetSVC(budget=40, random_state=0, **model.best_params_).fit(BOARD, FIELDS)
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))


@pytest.mark.slow
def test_one_parameter_alone() -> None:
    model = BudgetSVC(C=3.0, gamma="tune", budget=20, random_state=0).fit(X, Y)
    assert model.C_ == 3.0
    assert [cell["C"] for cell in model.cv_results_["params"]] == [3.0] * (9 + 1)
    other = BudgetSVC(C="tune", gamma=0.7, budget=20, random_state=0).fit(X, Y)
    assert other.kernel_.gamma == 0.7
    assert [*other.best_params_] == ["C"]
    scaled = BudgetSVC(gamma="tune", budget=20, random_state=0).fit(X, Y)
    assert scaled.best_params_["C"] == "scale"
    assert scaled.C_ >= 1.0


@pytest.mark.slow
def test_copies_keep_the_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_time_pass_by_looking(monkeypatch, seconds=1e-4)
    model = tuned(time_limit=3.0).fit(X, Y)
    assert clone(model).get_params()["C"] == "tune"
    again = pickle.loads(pickle.dumps(model))
    assert again.best_params_ == model.best_params_
    model.save(tmp_path / "model.bsvm")
    loaded = load(tmp_path / "model.bsvm")
    assert loaded.C == "tune"
    for other in (again, loaded):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_what_was_found_is_forgotten_by_another_fit() -> None:
    model = BudgetSVC(gamma="tune", budget=20, random_state=0).fit(X, Y)
    model.set_params(C=1.0, gamma=1.0).fit(X, Y)
    assert not hasattr(model, "best_params_")
    assert not hasattr(model, "cv_results_")


@pytest.mark.slow
def test_regression() -> None:
    target = np.sin(3 * X[:, 0]) + X[:, 1]
    model = BudgetSVR(C="tune", budget=30, random_state=0, time_limit=20).fit(X, target)
    assert model.C == "tune"
    assert model.score(X, target) > 0.9


@pytest.mark.slow
def test_the_budget_has_a_curve() -> None:
    model = BudgetSVC(C="tune", gamma="tune", random_state=0).fit(BOARD, FIELDS)
    curve = model.budget_curve_
    assert {"budget", "C", "mean_test_score", "std_test_score"} == set(curve)
    assert (np.diff(curve["budget"]) > 0).all()
    place = curve["budget"].tolist().index(model.best_params_["budget"])
    assert curve["mean_test_score"][place] == pytest.approx(model.best_score_)
    assert curve["mean_test_score"][place] >= 0.997 * curve["mean_test_score"].max()
    assert model.budget_ <= model.best_params_["budget"] <= len(BOARD)
    assert model.budget == "auto"


def test_budgets_to_choose_from() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(6000, 2)), np.arange(6000) % 2
    few = candidates(BudgetSVC(), X, Y, None)
    assert few.all == (30, 60, 120, 240)
    many = candidates(BudgetSVC(), rows, labels, None)
    assert many.all == (62, 125, 250, 500, 1000, 2000)
    bounded = candidates(BudgetSVC(memory_limit=1e8), rows, labels, None)
    assert bounded.larger == (1000,)


def test_the_smallest_budget_that_is_as_good() -> None:
    best = np.array([0.90, 0.92, 0.91])
    assert as_good(best, best)
    assert as_good(best - np.array([0.003, -0.002, 0.001]), best)
    assert not as_good(best - 0.01, best)  # always worse
    assert not as_good(best - np.array([0.3, -0.2, 0.1]), best)  # noisy, and much worse


def test_streams_want_numbers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="C must be a number, or 'scale', not 'tune'"):
        BudgetSVC(C="tune").partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"gamma must be .*not 'tune'"):
        BudgetSVC(gamma="tune").partial_fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint="):
        BudgetSVC(C="tune").fit(X, Y, checkpoint=tmp_path / "x")
    with pytest.raises(ValueError, match="polish=False"):
        BudgetSVC(C="tune", polish=False).fit(X, Y)
    with pytest.raises(NotFittedError):
        tuned().predict(X)

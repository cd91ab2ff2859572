"""A tuned machine is not worse than an untuned one: the default cell takes part, and stays unless another one is better."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.preprocessing import scale
from tools.doubles.clock import let_time_pass_by_looking

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._estimators.tuning.cells.heats import Heats
from budgetsvm._estimators.tuning.grid import Grid
from budgetsvm._estimators.tuning.guard.default_cell import DefaultCell
from budgetsvm._estimators.tuning.guard.gain import chosen_by_others, is_gain
from budgetsvm._estimators.tuning.guard.parts import scores_of_parts, together
from budgetsvm._estimators.tuning.scores import Heat, Scores


def tuned(**parameters: Any) -> BudgetSVC:
    """Return a classifier with a tuned C and gamma."""
    return BudgetSVC(C="tune", gamma="tune", random_state=0, **parameters)


def board(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the fields of a chess board, which are narrower than the default kernel is."""
    X = np.random.default_rng(seed).uniform(0, 6, (n, 2))
    return X, X.astype(int).sum(axis=1) % 2


def stays(model: Any) -> bool:
    """Whether the default cell was chosen."""
    return bool(model.best_params_["C"] == "scale")


@pytest.mark.slow
def test_noise_leaves_the_default() -> None:
    kept = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 4)), rng.permutation(np.arange(150) % 2)
        kept.append(stays(tuned(budget=150).fit(X, y)))
    assert sum(kept) >= 7


def test_what_is_easy_leaves_the_default() -> None:
    X, y = make_blobs(300, centers=[[0, 0], [9, 9]], random_state=0)
    model = tuned().fit(X, y)
    plain = BudgetSVC(random_state=0).fit(X, y)
    assert stays(model)
    assert model.best_score_ == 1.0
    assert model.best_params_["gamma"] == plain.kernel_.gamma
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


@pytest.mark.slow
def test_what_is_better_is_taken() -> None:
    X, y = board(500, 0)
    model = tuned().fit(X, y)
    assert not stays(model)
    results, test = model.cv_results_, board(2000, 1)
    place = [cell["C"] for cell in results["params"]].index("scale")
    assert results["n_splits"][place] == 5
    assert model.best_score_ > results["mean_test_score"][place] + 0.05
    assert model.score(*test) > BudgetSVC(random_state=0).fit(X, y).score(*test) + 0.05


@pytest.mark.slow
def test_the_default_of_regression() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    noise = BudgetSVR(C="tune", gamma="tune", random_state=0).fit(X, rng.normal(size=200))
    wave = BudgetSVR(C="tune", gamma="tune", random_state=0).fit(X, np.sin(9 * X[:, 0]))
    assert (stays(noise), stays(wave)) == (True, False)


@pytest.mark.slow
def test_parameters_that_are_given_are_those_of_the_default() -> None:
    X, y = make_blobs(200, centers=[[0, 0], [9, 9]], random_state=0)
    model = BudgetSVC(C=3.0, gamma="tune", budget=20, random_state=0).fit(X, y)
    plain = BudgetSVC(C=3.0, budget=20, random_state=0).fit(X, y)
    assert model.best_params_ == {"C": 3.0, "gamma": plain.kernel_.gamma}
    other = BudgetSVC(C="tune", gamma=0.3, budget=20, random_state=0).fit(X, y)
    assert other.best_params_ == {"C": "scale"}
    assert other.kernel_.gamma == 0.3


def test_no_time_leaves_the_default() -> None:
    X, y = board(3000, 0)
    with pytest.warns(ConvergenceWarning):  # by the fit to all rows
        model = tuned(budget=50, time_limit=1e-6).fit(X, y)
    assert stays(model)
    assert np.isnan(model.best_score_)
    assert not model.search_complete_


def test_little_time_is_enough_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = board(6000, 0)
    let_time_pass_by_looking(monkeypatch, seconds=0.003)
    model = tuned(budget=100, time_limit=6.0, tol=0.1).fit(X, y)
    assert np.count_nonzero(model.cv_results_["n_splits"]) < 30  # of 91 cells
    assert not stays(model)
    assert model.score(*board(2000, 1)) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_small_data_are_not_worse_off(load: Any) -> None:
    X, y = load(return_X_y=True)
    X, gains = scale(X), []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[: len(y) // 2], order[len(y) // 2 :]
        model = tuned().fit(X[train], y[train])
        plain = BudgetSVC(random_state=0).fit(X[train], y[train])
        gains.append(model.score(X[test], y[test]) - plain.score(X[test], y[test]))
    assert np.mean(gains) >= -0.004


def test_a_cell_is_chosen_by_the_other_splits() -> None:
    cells = np.array([[0.9, 0.5, 0.5], [0.6, 0.7, 0.6], [0.1, 0.8, 0.9]])
    # by splits 2 and 3 it is the third; by 1 and 3 the first, as 1.4 > 1.2 > 1.0; by 1 and 2 the first
    np.testing.assert_array_equal(chosen_by_others(cells), [0.1, 0.5, 0.5])


def test_the_luck_of_the_best_is_no_gain() -> None:
    rng, believed, praised = np.random.default_rng(0), 0, 0
    for _ in range(200):
        cells, default = rng.normal(0.8, 0.01, (60, 5)), rng.normal(0.8, 0.01, 5)
        differences = cells[cells.mean(axis=1).argmax()] - default
        praised += differences.mean() > differences.std(ddof=1) / np.sqrt(5)
        believed += is_gain(cells, default)
    assert praised > 160  # the usual comparison, with the best of them
    assert believed < 30


def test_a_steady_gain_is_one() -> None:
    default = np.array([0.80, 0.84, 0.78, 0.81, 0.82])
    gain = np.array([0.011, 0.014, 0.012, 0.010, 0.013])
    assert is_gain(np.array([default + gain, default - 0.1]), default)
    assert not is_gain(default[np.newaxis], default)
    assert not is_gain(np.array([[0.9]]), default[:1])  # a single part has no error


def test_parts_add_up_to_scores() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    for model, y in (
        (BudgetSVC(random_state=0), (X[:, 0] > rng.normal(size=200)).astype(int)),
        (BudgetSVR(random_state=0), 1e200 * X[:, 0]),
        (BudgetSVR(random_state=0), np.column_stack([X[:, 0], np.ones(200), X[:, 1] ** 2])),
    ):
        model.fit(X[:100], y[:100])
        parts = scores_of_parts(model, X[100:], y[100:])
        assert parts.shape == (10,)
        assert np.mean(parts) == pytest.approx(model.score(X[100:], y[100:]))
        assert np.isnan(scores_of_parts(model, X[100:104], y[100:104])).sum() == 6


@pytest.mark.parametrize(
    ("splits", "parts"), [(1, 10), (2, 10), (3, 15), (5, 10), (10, 10), (12, 12)]
)
def test_ten_parts_at_least(splits: int, parts: int) -> None:
    scores = np.random.default_rng(0).normal(size=(4, splits, 10))
    few = together(scores)
    assert few.shape == (4, parts)
    np.testing.assert_allclose(few.mean(axis=1), scores.mean(axis=(1, 2)))
    scores[:, 0, 3:] = np.nan  # a split of three rows
    assert np.isfinite(together(scores)).sum() >= 4 * min(3, parts)


def heat(line: int, C: int, scores: np.ndarray) -> Heat:
    """Return the scores of a cell on 50 rows of one split, with those of its parts."""
    mean = scores.mean(keepdims=True)
    return Heat(line, 0, np.array([C]), 50, mean, mean, mean, of_parts=scores[np.newaxis])


def test_a_default_that_takes_too_long_is_no_default() -> None:
    X, y = board(100, 0)
    machine, splits = BudgetSVC(random_state=0), [(np.arange(50, 100), np.arange(50))]
    scorer, grid = get_scorer("accuracy"), Grid((1.0, 9.0), (0.1, 1.0), ())
    heats = Heats(machine, grid, X, y, None, splits, scorer, 0, 1, np.inf)
    default, scores = DefaultCell(heats, Grid(("scale",), (0.5,), ())), Scores(grid, 1)
    assert not default.is_beaten(scores, 0)  # there was no time for anything
    steady, luck = np.full(10, 0.6), np.full(10, 0.5)
    luck[4] = 1.2
    scores.add(heat(1, 1, steady))
    assert default.is_beaten(scores, 3)
    default.scores.add(heat(0, 0, steady - 0.002 * np.arange(-3, 7)))
    assert not default.is_beaten(scores, 3)
    default.scores.add(heat(0, 0, np.full(10, 0.5)))
    assert default.is_beaten(scores, 3)
    scores.add(heat(1, 1, luck))  # better by as much, all of it in one part
    assert not default.is_beaten(scores, 3)

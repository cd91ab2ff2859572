"""Every check finds what it is for, says its number, and is silent where nothing is wrong."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, diagnose


def found(model, X, y=None):
    """All findings by what they are about; skipped ones are words."""
    diagnosis = diagnose(model, X, y)
    return {one.about: one for one in diagnosis.findings} | dict(diagnosis.skipped)


def advice(model, X, y=None):
    return {one.about: one for one in diagnose(model, X, y).advice}


def moons(n=1500, noise=0.15, seed=0):
    return make_moons(n, noise=noise, random_state=seed)


def checkerboard(n=4000, seed=0):
    X = np.random.default_rng(seed).uniform(0, 6, (n, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(int)


# ---- features ----


def test_features_that_were_not_scaled() -> None:
    X, y = load_wine(return_X_y=True)
    model = BudgetSVC(random_state=0).fit(X, y)
    one = advice(model, X, y)["features"]
    spreads = np.delete(X.std(axis=0), 12)
    assert one.number == pytest.approx(X[:, 12].std() / np.median(spreads), rel=0.05)
    assert "feature 12 " in one.sentence
    assert "StandardScaler" in one.remedy
    scaled = StandardScaler().fit_transform(X)
    assert found(BudgetSVC(random_state=0).fit(scaled, y), scaled, y)["features"].number < 2


def test_sparse_features_are_judged_as_dense_ones() -> None:
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6)) * (rng.random((300, 6)) < [1, 1, 1, 0.2, 0.2, 0.1])
    X[:, 2] *= 500
    y = X[:, 0] > 0
    dense, few = (
        found(BudgetSVC(gamma=0.1).fit(Z, y), Z, y)["features"] for Z in (X, sparse.csr_array(X))
    )
    assert dense.remedy
    assert dense.number == pytest.approx(few.number)


def test_a_feature_is_called_by_its_name() -> None:
    import pandas as pd

    X, y = moons()
    frame = pd.DataFrame(X * [1.0, 1000.0], columns=["width", "height"])
    model = BudgetSVC(gamma=1.0, budget=50).fit(frame, y)
    assert "'height'" in advice(model, frame, y)["features"].sentence


# ---- balance ----


def rare(n=4000, share=0.03, distance=1.5):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < share).astype(int)
    return rng.standard_normal((n, 2)) + distance * y[:, np.newaxis], y


def test_a_rare_class_that_is_not_found() -> None:
    X, y = rare()
    model = BudgetSVC(budget=50, random_state=0).fit(X, y)
    one = advice(model, X, y)["balance"]
    assert one.number == pytest.approx(y.mean())
    assert "class 1 " in one.sentence
    assert "class_weight='balanced'" in one.remedy
    weighted = BudgetSVC(budget=50, class_weight="balanced", random_state=0).fit(X, y)
    assert "balance" not in advice(weighted, X, y)


def test_a_rare_class_that_is_found_is_no_problem() -> None:
    X, y = rare(distance=6.0)
    assert "balance" not in advice(BudgetSVC(budget=50, random_state=0).fit(X, y), X, y)


@pytest.mark.parametrize("count", [0, 1, 9])
@pytest.mark.parametrize("distance", [1.5, 6.0], ids=["missed", "found"])
def test_a_class_of_a_few_rows_is_not_called_fine(count, distance) -> None:
    """Whether its rows are found or not: nobody can tell by so few."""
    X, y = rare(distance=distance)
    model = BudgetSVC(budget=50, random_state=0).fit(X, y)
    some = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y)[:count]]
    one = advice(model, X[some], y[some])["balance"]
    assert f"class 1 has {count} of {len(some):,} rows, too few" in one.sentence
    assert one.number == pytest.approx(count / len(some))
    assert "collect more rows" in one.remedy


def test_all_classes_of_a_few_rows_are_counted() -> None:
    X, y = load_digits(return_X_y=True)
    model = BudgetSVC(gamma=0.001, random_state=0).fit(X, y)
    some = np.flatnonzero((y > 2) | (np.arange(len(y)) < 50))
    one = advice(model, X[some], y[some])["balance"]
    assert "class 2 has 3 of" in one.sentence
    assert "; 2 more have fewer than 10" in one.sentence


def test_a_small_sample_is_no_fault_of_a_class() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = BudgetSVC(random_state=0).fit(X, y)
    some = np.r_[:12, 60:72, 140:148]
    skipped = dict(diagnose(model, X[some], y[some]).skipped)
    assert skipped["balance"].startswith("class 2 has 8 of 32 rows, too few")


@pytest.mark.parametrize("n", [2, 5, 20])
def test_a_few_rows_tell_nothing(n) -> None:
    X, y = moons()
    model = BudgetSVC(budget=50, random_state=0).fit(X, y)
    some = np.r_[np.flatnonzero(y == 0)[: n - 1], np.flatnonzero(y)[:1]]
    assert dict(diagnose(model, X[some], y[some]).skipped)["balance"] == "there are too few rows"


# ---- labels ----


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_wrong_labels(share) -> None:
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < share
    noisy = np.where(wrong, (y + rng.integers(1, 10, len(y))) % 10, y)
    model = BudgetSVC(gamma=0.001, budget=100, random_state=0).fit(X, noisy)
    one = advice(model, X, noisy)["labels"]
    assert one.number == pytest.approx(share, abs=0.05)
    assert np.mean(wrong[list(one.rows)]) > 0.9  # they are those that were changed
    right = found(BudgetSVC(gamma=0.001, budget=100, random_state=0).fit(X, y), X, y)["labels"]
    assert not right.remedy
    assert right.number < 0.01


def test_classes_that_overlap_are_not_wrong_labels() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2))
    y = (X[:, 0] + rng.standard_normal(4000) > 0).astype(int)
    assert "labels" not in advice(BudgetSVC(budget=50, random_state=0).fit(X, y), X, y)


# ---- gamma ----


def test_a_gamma_that_is_too_large() -> None:
    X, y = moons()
    one = advice(BudgetSVC(gamma=1e5, random_state=0).fit(X[:1000], y[:1000]), X[:1000], y[:1000])
    assert one["gamma"].number < 0.01
    assert "smaller gamma" in one["gamma"].remedy
    better = float(one["gamma"].remedy.split(", ")[1].split()[0])
    assert 0.05 < better < 5


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_gamma_that_is_too_small(kernel) -> None:
    X, y = moons()
    model = BudgetSVC(kernel=kernel, gamma=1e-6, budget=30, random_state=0).fit(X, y)
    one = advice(model, X, y)["gamma"]
    assert one.number > 0.9
    assert "larger gamma" in one.remedy
    better = float(one.remedy.split(", ")[1].split()[0])
    assert 0.05 < better < 5
    assert "gamma" not in advice(BudgetSVC(gamma=better, budget=30).fit(X, y), X, y)


# ---- sight ----


def test_rows_that_no_term_sees() -> None:
    X, y = moons()
    model = BudgetSVC(gamma=2, budget=30, random_state=0).fit(X, y)
    assert found(model, X, y)["sight"].number == 0
    moved = X + np.where(np.arange(len(X)) % 5 == 0, 20.0, 0.0)[:, np.newaxis]
    one = advice(model, moved, y)["sight"]
    assert one.number == pytest.approx(0.2)
    assert set(one.rows) <= set(range(0, len(X), 5))


# ---- budget ----


@pytest.mark.slow
def test_a_budget_that_is_too_small() -> None:
    X, y = checkerboard()
    model = BudgetSVC(C=10, gamma=4, budget=15, random_state=0).fit(X, y)
    one = advice(model, X, y)["budget"]
    assert one.number > 0.05
    assert "with 215 terms in the place of 15" in one.sentence
    assert "of the visits" in one.sentence  # of phase 1, and what maintenance did there
    larger = BudgetSVC(C=10, gamma=4, budget=300, random_state=0).fit(X, y)
    assert "budget" not in advice(larger, X, y)
    assert larger.score(X, y) > model.score(X, y) + 0.05


def test_a_budget_that_is_too_small_for_a_regression() -> None:
    X = np.random.default_rng(0).uniform(0, 20, (3000, 1))
    y = np.sin(3 * X[:, 0])
    model = BudgetSVR(C=10, gamma=2, budget=5, random_state=0).fit(X, y)
    assert advice(model, X, y)["budget"].number > 0.1
    larger = BudgetSVR(C=10, gamma=2, budget=100, random_state=0).fit(X, y)
    assert "budget" not in advice(larger, X, y)


def test_a_tuned_machine_gets_its_trial_with_what_was_found() -> None:
    X, y = checkerboard(1500)
    model = BudgetSVC(C="tune", gamma=4, budget=10, time_limit=10, random_state=0).fit(X, y)
    assert advice(model, X, y)["budget"].number > 0.03


@pytest.mark.parametrize(("last", "rises"), [(0.95, True), (0.9005, False), (0.89, False)])
def test_the_curve_of_a_search(last, rises) -> None:
    X, y = moons()
    model = BudgetSVC(gamma=2, budget=30, random_state=0).fit(X, y)
    scores = np.array([0.8, 0.9, last])
    model.cv_results_ = {}
    model.budget_curve_ = {"budget": np.array([10, 20, 40]), "mean_test_score": scores}
    one = found(model, X, y)["budget"]
    assert bool(one.remedy) == rises
    assert one.number == pytest.approx(last - 0.9)
    assert not rises or "80" in one.remedy


def test_the_full_problem_needs_no_more_terms() -> None:
    X, y = moons()
    model = BudgetSVC(gamma=2, random_state=0).fit(X, y)
    assert "full problem" in found(model, X, y)["budget"].sentence


# ---- the solution ----


def test_a_polish_that_has_not_converged() -> None:
    X, y = moons(noise=0.4)
    with pytest.warns(ConvergenceWarning):
        model = BudgetSVC(1e4, gamma=10, budget=200, max_passes=1, random_state=0).fit(X, y)
    one = advice(model, X, y)["convergence"]
    assert one.number == model.duality_gap_ > model.tol
    assert "max_passes" in one.remedy


def test_single_precision_at_its_end() -> None:
    X, y = moons()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BudgetSVC(1e7, gamma=0.1, budget=50, precision="single", random_state=0).fit(X, y)
    one = advice(model, X, y)["precision"]
    rounded = model._expansion.decision(X)[:, 0]  # which nobody gets to see, but training did
    assert one.number == pytest.approx(abs(model.decision_function(X) - rounded).max())
    assert one.number > 0.01
    assert "precision='double'" in one.remedy
    usual = found(BudgetSVC(gamma=2, budget=50, random_state=0).fit(X, y), X, y)["precision"]
    assert usual.number < 1e-3


# ---- in words ----


def test_what_cannot_be_looked_at_is_said() -> None:
    X, _ = moons(300)
    skipped = dict(diagnose(BudgetOneClassSVM(nu=0.1, random_state=0).fit(X), X).skipped)
    assert skipped.keys() == {"balance", "labels", "sight", "budget"}
    K = X @ X.T
    model = BudgetSVC(kernel="precomputed", budget=10, random_state=0).fit(K, X[:, 0] > 0)
    assert {"features", "labels", "gamma", "sight", "budget"} <= dict(
        diagnose(model, K, X[:, 0] > 0).skipped
    ).keys()


def test_it_reads_well() -> None:
    X, y = moons()
    model = BudgetSVC(gamma=1e5, random_state=0).fit(X[:500], y[:500])
    text = str(diagnose(model, X[:500], y[:500]))
    assert text.startswith("gamma: a typical row")
    assert "\n  -> try a smaller gamma" in text
    assert "\nfine: features, balance" in text
    good = str(diagnose(BudgetSVC(gamma=2, random_state=0).fit(X, y), X, y))
    assert good.startswith("Nothing was found that would help.\nfine: ")


@pytest.mark.slow
def test_the_same_each_time() -> None:
    X, y = checkerboard(9000)
    model = BudgetSVC(C=10, gamma=4, budget=15, random_state=0).fit(X, y)
    assert diagnose(model, X, y) == diagnose(model, X, y)


def test_labels_that_the_model_does_not_know() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match="no label that the model knows, but"):
        diagnose(BudgetSVC(budget=10, random_state=0).fit(X, y), X, y + 5)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_targets_in_any_units(unit: float) -> None:
    X = np.random.default_rng(0).normal(size=(1000, 2))
    y = np.sin(4 * X[:, 0])
    budgets = [
        found(BudgetSVR(C=10, gamma=4, budget=4, random_state=0).fit(X, y * one), X, y * one)[
            "budget"
        ]
        for one in (1.0, unit)
    ]
    assert budgets[0].number == pytest.approx(budgets[1].number, rel=0.05)
    assert budgets[0].number > 0

"""Labels are those of double precision, next to the boundary, too, and values are off by 1e-5 at most."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import sparse
from sklearn.datasets import make_moons

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._model.decisions import near_zero, precise_decision, sure_decision
from budgetsvm._model.expansion import KernelExpansion

X, TWO = make_moons(600, noise=0.25, random_state=0)
X = X + 3.0  # off the origin, where distances are differences of larger numbers
FOUR = TWO + 2 * (X[:, 1] > 3.3)
RNG = np.random.default_rng(0)


def in_double(model: BudgetSVC, rows: Any) -> Any:
    return model._expansion.in_precision(np.float64).decision(rows)


def rows_at_the_boundary(model: BudgetSVC) -> Any:
    """Return rows between those of different signs, where rounding in double is small beside a value, and in single not."""
    signs = np.sign(in_double(model, X)[:, 0])
    low, high = (X[RNG.choice(np.flatnonzero(signs == side), 300)] for side in (-1, 1))
    for _ in range(26):
        middle = 0.5 * (low + high)
        below = (in_double(model, middle)[:, 0] < 0)[:, np.newaxis]
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear", "sigmoid"])
def test_labels_at_the_boundary_are_those_of_double_precision(
    kernel: str, y: Any, form: Any
) -> None:
    gamma = 0.02 if kernel == "sigmoid" else 0.5  # which is 1 everywhere, almost
    model = BudgetSVC(kernel=kernel, gamma=gamma, C=100.0, budget=40, precision="single", coef0=0.1)
    model.set_params(random_state=0, tol=0.1, fit_intercept=True).fit(X, y)
    rows = rows_at_the_boundary(model)
    values, single = in_double(model, rows), model._expansion.decision(rows)
    assert (np.sign(single) != np.sign(values)).any()  # or else this would show nothing
    model.set_params(decision_function_shape="ovo")
    found = model.decision_function(form(rows)).reshape(len(rows), -1)
    np.testing.assert_array_equal(np.sign(found), np.sign(values))
    if len(model.classes_) == 2:
        labels = model.classes_[(values[:, 0] > 0).astype(int)]
        np.testing.assert_array_equal(model.predict(form(rows)), labels)


def rounded(**parameters: Any) -> BudgetSVC:
    """Return a machine whose values in single precision are off by more than 1e-5."""
    model = BudgetSVC(gamma=0.5, C=1000.0, budget=40, precision="single", random_state=0)
    return model.set_params(tol=0.1, **parameters)


def test_for_labels_rows_far_from_the_boundary_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = rounded().fit(X, TWO)
    values = model._expansion.decision(X)
    far = abs(values[:, 0]) > 0.1
    assert far.mean() > 0.8
    found = sure_decision(model._expansion, X, near_zero)
    np.testing.assert_array_equal(found[far], values[far])
    monkeypatch.setattr(KernelExpansion, "wide", None)
    model.predict(X[far])  # nothing is evaluated anew


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear", "sigmoid"])
@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two", "four"])
def test_values_are_off_by_a_hundred_thousandth_at_most(kernel: str, y: Any, form: Any) -> None:
    model = rounded(kernel=kernel, decision_function_shape="ovo", coef0=0.1)
    model.set_params(gamma=0.02 if kernel == "sigmoid" else 0.5).fit(X, y)
    exact = in_double(model, X)
    if kernel in ("rbf", "poly"):
        assert abs(model._expansion.decision(X) - exact).max() > 1e-5  # or this would show nothing
    found = model.decision_function(form(X)).reshape(len(X), -1)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-5)


def test_all_that_is_returned_is_as_precise() -> None:
    logistic = rounded(loss="log_loss", C=1e4).fit(X, TWO)
    exact = scipy.special.expit(in_double(logistic, X)[:, 0])
    np.testing.assert_allclose(logistic.predict_proba(X)[:, 1], exact, rtol=0, atol=1e-12)
    pairs = rounded(loss="log_loss", C=1e4, multi_class="ovo").fit(X, FOUR)
    shares = pairs.predict_proba(X)
    pairs._expansion = pairs._expansion.in_precision(np.float64)
    np.testing.assert_allclose(shares, pairs.predict_proba(X), rtol=0, atol=1e-9)
    regression = BudgetSVR(C=1000.0, gamma=0.5, budget=40, precision="single", tol=0.1)
    regression.fit(X, np.column_stack([np.sin(3 * X[:, 0]), 100 * X[:, 1] ** 2]))
    scale, mean = regression.target_scale_, regression.target_mean_
    exact = in_double(regression, X) * scale + mean
    assert abs(regression._expansion.decision(X) * scale + mean - exact).max() > 1e-5
    np.testing.assert_allclose(regression.predict(X), exact, rtol=1e-9)
    detector = BudgetOneClassSVM(gamma=0.5, nu=0.1, precision="single", random_state=0).fit(X)
    exact = in_double(detector, X)[:, 0] * detector._scale
    np.testing.assert_allclose(detector.score_samples(X), exact, rtol=1e-5)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("break_ties", ["head_to_head", True, False])
@pytest.mark.parametrize("C", [1e-3, 1000.0])
def test_the_predicted_class_has_the_largest_value(
    multi_class: str, break_ties: Any, C: float
) -> None:
    model = rounded(multi_class=multi_class, break_ties=break_ties, C=C).fit(X, FOUR)
    low, high = X[RNG.choice(len(X), 2000)], X[RNG.choice(len(X), 2000)]
    before = model.predict(low)
    for _ in range(30):  # to where the class changes
        middle = 0.5 * (low + high)
        same = (model.predict(middle) == before)[:, np.newaxis]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    for rows in (low, high):
        largest = model.classes_[model.decision_function(rows).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(rows), largest)


@pytest.mark.parametrize("nu", [0.05, 0.3])
def test_outliers_have_negative_values(nu: float) -> None:
    model = BudgetOneClassSVM(gamma=5.0, nu=nu, precision="single", random_state=0).fit(X)
    inside, outside = X[RNG.choice(len(X), 500)], RNG.uniform(-2, 8, (500, 2))
    for _ in range(40):
        middle = 0.5 * (inside + outside)
        below = (model.decision_function(middle) < 0)[:, np.newaxis]
        inside, outside = np.where(below, inside, middle), np.where(below, middle, outside)
    for rows in (inside, outside):
        signs = np.where(model.decision_function(rows) >= 0, 1, -1)
        np.testing.assert_array_equal(model.predict(rows), signs)


def test_no_bit_depends_on_the_other_rows() -> None:
    model = BudgetSVC(gamma=0.5, C=100.0, budget=40, precision="single", random_state=0).fit(X, TWO)
    rows = np.concatenate([rows_at_the_boundary(model)[:20], X[:20]])[RNG.permutation(40)]
    alone = [model.decision_function(row[np.newaxis])[0] for row in rows]
    np.testing.assert_array_equal(model.decision_function(rows), alone)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_huge_coefficients_and_rows_are_no_warning(kernel: str) -> None:
    model = BudgetSVC(kernel=kernel, budget=20, precision="single", random_state=0).fit(X, TWO)
    huge = replace(model._expansion, coef=1e200 * model._expansion.coef)
    for rows in (X, 1e30 * X):
        assert sure_decision(huge, rows, near_zero).shape == (len(X), 1)
        assert precise_decision(huge, rows).shape == (len(X), 1)


def test_coefficients_beyond_reason_are_no_warning() -> None:
    """Broken files may have them."""
    model = BudgetSVC(gamma=0.5, budget=20, random_state=0).fit(X, TWO)._expansion
    huge = replace(model, points=model.points.astype(np.float32), coef=1e200 * model.coef)
    assert np.isfinite(precise_decision(huge, X[:2])).all()

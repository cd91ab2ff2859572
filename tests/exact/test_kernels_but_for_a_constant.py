"""Kernels that are positive definite for sums of zero alone, as minus a distance: a bias makes them as good as others."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import additive_chi2_kernel, rbf_kernel
from sklearn.svm import SVC, SVR

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._exact import blocks, exact
from budgetsvm._polish.basis import Basis
from budgetsvm.kernels import Callback, Sigmoid

X, Y = make_moons(200, noise=0.3, random_state=0)
X = X - X.min(axis=0)
K = -pairwise_distances(X)
TARGETS = np.sin(2 * X[:, 0])


def fitted(gram: Any, **options: Any) -> Any:
    return BudgetSVC(kernel="precomputed", tol=1e-5, random_state=0, **options).fit(gram, Y)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("constant", [0.0, 0.5, 4.0, 1000.0])
def test_minus_a_distance_is_what_svc_makes_of_it(constant: float, C: float) -> None:
    other = SVC(kernel="precomputed", C=C, tol=1e-7).fit(K, Y)
    model = fitted(K + constant, C=C)
    assert model.converged_
    assert model.certifies_ == "full problem"
    # A constant that is large beside the distances costs digits.
    found, wanted = model.decision_function(K + constant), other.decision_function(K)
    np.testing.assert_allclose(found, wanted, atol=0.02)


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 2.0])
def test_powers_of_a_distance_up_to_its_square(power: float) -> None:
    gram = -(pairwise_distances(X) ** power)
    other = SVC(kernel="precomputed", tol=1e-7).fit(gram, Y)
    model = fitted(gram)
    assert model.converged_
    np.testing.assert_allclose(
        model.decision_function(gram), other.decision_function(gram), atol=0.02
    )


def test_the_fourth_power_is_not_convex_and_is_not_solved_as_if_it_were() -> None:
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        model = fitted(-(pairwise_distances(X) ** 4))
    assert not model.converged_
    assert model.certifies_ == "span"


def test_classes_and_regression() -> None:
    labels = Y + (X[:, 0] > 2)
    model = BudgetSVC(kernel="precomputed", tol=1e-5).fit(K, labels)
    assert model.converged_
    assert model.score(K, labels) == SVC(kernel="precomputed").fit(K, labels).score(K, labels)
    regression = BudgetSVR(kernel="precomputed", C=10, epsilon=0.05, tol=1e-5).fit(K, TARGETS)
    scale, mean = regression.target_scale_, regression.target_mean_
    other = SVR(kernel="precomputed", C=10, epsilon=0.05, tol=1e-7)
    wanted = other.fit(K, (TARGETS - mean) / scale).predict(K) * scale + mean
    np.testing.assert_allclose(regression.predict(K), wanted, atol=5e-3)


@pytest.mark.parametrize("estimator", [BudgetSVC, BudgetSVR])
@pytest.mark.parametrize("budget", ["auto", 200, 30])
def test_functions_are_never_called_for_nothing(estimator: Any, budget: Any) -> None:
    def kernel(A: NDArray[Any], B: NDArray[Any]) -> Any:
        assert len(A)
        assert len(B)
        return additive_chi2_kernel(A, B)

    model = estimator(kernel=kernel, budget=budget, random_state=0)
    if budget == 30:
        with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
            model.fit(X, Y)
        assert not model.converged_
    else:
        model.fit(X, Y)
        assert model.converged_
    assert model.predict(X[:3]).shape == (3,)
    assert Callback(kernel).matrix(X[:0], X).shape == (0, len(X))
    assert Callback(kernel).matrix(X, X[:0]).shape == (len(X), 0)


def test_a_function_is_as_good_as_its_matrix() -> None:
    other = SVC(kernel=additive_chi2_kernel, tol=1e-7).fit(X, Y)
    model = BudgetSVC(kernel=additive_chi2_kernel, tol=1e-5).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=0.02)


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 30},
        {"budget": len(X) - 1},
        {"basis": "random", "budget": 50},
        {"loss": "squared_hinge"},
        {"loss": "logistic"},
        {"fit_intercept": False},
    ],
    ids=str,
)
def test_what_cannot_be_solved_is_said(options: dict[str, Any]) -> None:
    with pytest.warns(ConvergenceWarning, match="the model is a constant"):
        model = fitted(K, **options)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        assert not fitted(K + 0.5, **options).converged_


def test_of_a_kernel_that_is_one_nothing_is_said() -> None:
    gram = rbf_kernel(X, gamma=0.01)  # of a low rank: terms are left out, and nothing is lost
    for options in ({}, {"budget": 30}, {"loss": "logistic"}, {"fit_intercept": False}):
        assert BudgetSVC(kernel="precomputed", random_state=0, **options).fit(gram, Y).converged_
    assert BudgetSVC(kernel="precomputed").fit(0 * gram, Y).converged_  # nor of no kernel at all
    assert BudgetOneClassSVM(kernel="precomputed").fit(gram).converged_


def test_what_a_basis_has_lost() -> None:
    points = np.arange(len(X), dtype=np.float64)[:, np.newaxis]

    def lost(gram: Any, **options: Any) -> float:
        kernel = Callback(lambda A, B: gram[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))])
        return Basis.of(points, kernel, **options).lost

    assert lost(K, free=True) == 1
    assert lost(rbf_kernel(X)) < 1e-9
    assert lost(np.diag(np.append(np.ones(199), -0.3))) == pytest.approx(0.3)
    assert Basis.of(X, Sigmoid(0.1, -5.0)).lost == 1


def test_where_the_core_gives_up_what_it_has_is_better_than_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_ROUNDS_PER_SET", "_FEWEST_ROUNDS", "_ROUNDS_AT_ONCE"):
        monkeypatch.setattr(blocks, name, 1)
    monkeypatch.setattr(exact, "_CLOSER", 1e-12)
    with pytest.warns(ConvergenceWarning):
        model = fitted(K, C=1e3)
    assert not model.converged_
    assert model.score(K, Y) > 0.8

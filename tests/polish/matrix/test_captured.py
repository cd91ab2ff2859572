"""How much of the kernel lies in the span of terms, and what C stands for in it."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import moons
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, kernels, polish
from budgetsvm._common.limits import Limits
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.captured import captured_share
from budgetsvm._problem.rows import Rows

LIMITS = Limits(1e-2, 100, np.inf, 1e9, 1)


def share(X: Any, Z: Any, gamma: float, **constant: Any) -> float:
    basis = Basis.of(Z, kernels.Gaussian(gamma), **constant)
    return captured_share(Rows(X, np.float64, None), basis, LIMITS)


@pytest.mark.parametrize("constant", [{}, {"constant": True}, {"free": True}])
def test_the_share_is_that_of_the_projected_kernel(constant: Any) -> None:
    X = np.random.default_rng(0).standard_normal((200, 3))
    Z, gamma = X[:40], 0.4
    K = rbf_kernel(X, Z, gamma)
    projected = K @ np.linalg.solve(rbf_kernel(Z, Z, gamma), K.T)
    assert 0.2 < np.trace(projected) / 200 < 0.95
    assert share(X, Z, gamma, **constant) == pytest.approx(np.trace(projected) / 200, rel=1e-6)


def test_a_span_that_has_all_rows_has_all_of_the_kernel() -> None:
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert share(X, X, 1.0) == pytest.approx(1.0)
    assert share(X, X[:1], 1e6) == 0.1  # next to nothing: C has its limits


@pytest.mark.parametrize("machine", [BudgetSVC, BudgetSVR])
def test_C_of_the_span_is_larger_and_said(machine: Any) -> None:
    X, y = make_classification(600, 10, n_informative=6, random_state=0)
    model = machine(budget=40, random_state=0).fit(X, y)
    assert model.certifies_ == "span"
    assert 1.1 < model.C_ < 10
    assert machine(budget=600, random_state=0).fit(X, y).C_ == 1  # all of the kernel
    given = machine(budget=40, basis=model.support_vectors_, random_state=0).fit(X, y)
    assert given.C_ == 1  # who brings points means what they say


@pytest.mark.parametrize("machine", [BudgetSVC, BudgetSVR])
def test_a_number_is_taken_as_it_is(machine: Any) -> None:
    X, y = make_classification(600, 10, n_informative=6, random_state=0)
    assert machine(C=2, budget=40, random_state=0).fit(X, y).C_ == 2
    with pytest.raises(ValueError, match="C must be a number, 'scale' or 'tune', not 'auto'"):
        machine(C="auto").fit(X, y)


def test_the_model_is_optimal_for_that_C() -> None:
    X, y = make_classification(600, 10, n_informative=6, random_state=0)
    model = BudgetSVC(budget=40, tol=1e-4, random_state=0).fit(X, y)
    found = polish(X, y, model.support_vectors_, C=model.C_, tol=1e-4)
    assert model.objective_[0] == pytest.approx(found.primal, rel=1e-3)


def test_other_machines_have_no_such_C() -> None:
    X, _ = moons(300, 0)
    assert not hasattr(BudgetOneClassSVM(budget=30, random_state=0).fit(X), "C_")
    X, y = moons(300, 0)
    assert not hasattr(BudgetSVC(budget=30, polish=False, random_state=0).fit(X, y), "C_")


def test_where_the_span_has_little_scores_come_nearer_to_those_of_the_exact_machine() -> None:
    X, y = make_classification(
        4000, 20, n_informative=10, n_classes=10, n_clusters_per_class=1, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    exact = SVC(gamma=0.2).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    lost = []
    for seed in range(2):
        model = BudgetSVC(gamma=0.2, budget=200, random_state=seed).fit(X[:2000], y[:2000])
        plain = clone(model).set_params(C=1.0).fit(X[:2000], y[:2000])
        assert model.C_ > 3 * plain.C_
        lost.append([exact - one.score(X[2000:], y[2000:]) for one in (model, plain)])
    adapted, as_it_is = np.mean(lost, axis=0)
    assert as_it_is > 0.05
    assert adapted < 0.8 * as_it_is

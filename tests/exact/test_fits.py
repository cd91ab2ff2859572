"""Fits that solve the full problem: what they certify, against scikit-learn, in all that must not matter."""

from itertools import count
from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_certificate, check_primal
from oracles.problems import blobs, moons, noisy_xor, weights
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, kernels
from budgetsvm._common.limits import Limits
from budgetsvm._estimators.fitting import two_phases
from budgetsvm._exact import exact
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.polish import Polishing
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets, SingleTarget
from budgetsvm.losses import Hinge
from budgetsvm.monitoring import Trace

FULL, SPAN = "full problem", "span"


@pytest.fixture(autouse=True)
def _small_budgets_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_FEW_TERMS", 1)


def primal(K: Any, y: Any, beta: Any, C: Any) -> float:
    """P of Σ β_j k(x_j, ·), by the definition."""
    f = K @ beta
    return float(0.5 * beta @ f + np.sum(C * np.maximum(0, 1 - y * f)))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("gamma", [1e-4, 0.5, 1e3])
def test_the_certificate_is_about_the_full_problem(C: float, gamma: float) -> None:
    X, y = noisy_xor(300, 0)
    model = BudgetSVC(C=C, gamma=gamma, budget=300, random_state=0).fit(X, y)
    assert model.converged_
    check_certificate(model)
    check_primal(model, X, y)
    # scikit-learn's machine without its bias is a model like others: none is better than D.
    other = SVC(C=C, gamma=gamma, tol=1e-6).fit(X, y)
    beta = np.zeros(300)
    beta[other.support_] = other.dual_coef_[0]
    assert primal(rbf_kernel(X, gamma=gamma), y, beta, C) >= model.objective_[1] * (1 - 1e-6)


def test_it_is_the_machine_of_scikit_learn() -> None:
    """A bias that costs nothing, and one that is a feature, are the same where classes mirror each other."""
    X, _ = blobs(200, 3, 0)
    X, y = np.vstack([X, -X]), np.repeat([1.0, -1.0], 200)
    model = BudgetSVC(C=5, gamma=0.3, budget=400, tol=1e-5, random_state=0).fit(X, y)
    other = SVC(C=5, gamma=0.3, tol=1e-6).fit(X, y)
    assert model.certifies_ == FULL
    assert len(model.support_vectors_) <= len(other.support_) + 5
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(X) - other.intercept_, atol=0.02
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_every_loss(loss: str, fit_intercept: bool, precision: Any) -> None:
    X, y = moons(200, 1)
    model = BudgetSVC(
        C=3, gamma=1, loss=loss, fit_intercept=fit_intercept, precision=precision, budget=200
    ).fit(X, y, sample_weight=weights(200, 0))
    assert model.certifies_ == FULL
    assert model.converged_
    check_certificate(model)
    check_primal(model, X, y, weights(200, 0))
    span = BudgetSVC(
        C=3, gamma=1, loss=loss, fit_intercept=fit_intercept, budget=200, basis=X, tol=1e-4
    ).fit(X, y, sample_weight=weights(200, 0))
    assert span.certifies_ == SPAN
    assert model.objective_[1] <= span.objective_[0] * (1 + 1e-6)
    assert span.objective_[1] <= model.objective_[0] * (1 + 1e-6)


def test_regression_and_several_targets() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((250, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(250)
    one = BudgetSVR(C=10, gamma=1, budget=250, tol=1e-4).fit(X, y)
    other = SVR(C=10, gamma=1, epsilon=0.1).fit(X, y)
    assert one.certifies_ == FULL
    assert one.score(X, y) == pytest.approx(other.score(X, y), abs=0.01)
    many = BudgetSVR(C=10, gamma=1, budget=250).fit(X, np.column_stack([y, X[:, 1]]))
    assert many.certifies_ == FULL
    check_certificate(many)
    check_primal(many, X, np.column_stack([y, X[:, 1]]))


@pytest.mark.slow
def test_many_classes() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    model = BudgetSVC(C=10, budget=500, random_state=0).fit(X, y)
    assert model.certifies_ == FULL
    assert len(model.support_vectors_) <= 500
    check_certificate(model)
    check_primal(model, X, y)
    assert model.score(X, y) > 0.99


def test_fewer_terms_than_support_vectors_where_these_are_redundant() -> None:
    X, y = blobs(600, 3, 0, distance=1.0)
    whole = BudgetSVC(gamma=0.02, budget=600, random_state=0).fit(X, y)
    few = BudgetSVC(gamma=0.02, budget=150, random_state=0).fit(X, y)
    assert len(whole.support_vectors_) > 300
    assert few.certifies_ == FULL
    assert len(few.support_vectors_) == 150
    assert few.history_ == []
    check_certificate(few)
    check_primal(few, X, y)
    assert few.objective_[0] <= whole.objective_[0] * 1.02


def test_both_phases_where_they_are_not() -> None:
    X, y = noisy_xor(400, 0, flips=0.3)
    model = BudgetSVC(C=100, gamma=50, budget=120, random_state=0).fit(X, y)
    assert model.certifies_ == SPAN
    assert len(model.history_) > 0
    assert len(model.support_vectors_) <= 120


@pytest.mark.parametrize(
    "parameters",
    [
        {"budget": 70},
        {"basis": "random"},
        {"early_stopping": True},
        {"memory_limit": 1e5},
        {"kernel": "sigmoid", "maintenance": "remove"},
        {"loss": "logistic", "budget": 200},
    ],
    ids="-".join,
)
def test_it_is_left_alone_where_it_does_not_apply(parameters: dict[str, Any]) -> None:
    X, y = moons(300, 0)
    model = BudgetSVC(**{"budget": 300, "random_state": 0, **parameters}).fit(X, y)
    assert model.certifies_ == SPAN
    assert len(model.support_vectors_) <= model.budget


def test_a_function_that_is_no_kernel_is_left_alone_and_named() -> None:
    X, y = moons(300, 0)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        model = BudgetSVC(kernel=lambda X, Z: np.tanh(X @ Z.T), budget=300, random_state=0).fit(
            X, y
        )
    assert model.certifies_ == SPAN
    assert not model.converged_


def test_other_problems_go_their_own_way() -> None:
    X, y = moons(200, 0)
    assert BudgetOneClassSVM(budget=200, random_state=0).fit(X).certifies_ == SPAN
    labels = np.digitize(X[:, 0], [-0.5, 1.0])
    joint = BudgetSVC(multi_class="weston-watkins", budget=200, random_state=0).fit(X, labels)
    assert joint.certifies_ == SPAN
    bare = BudgetSVC(budget=200, polish=False, random_state=0).fit(X, y)
    assert not hasattr(bare, "certifies_")
    streamed = BudgetSVC(budget=200, random_state=0).partial_fit(X, y).polish_now()
    assert streamed.certifies_ == SPAN


@pytest.mark.parametrize("budget", [150, 700])
def test_threads_and_layouts_change_nothing(budget: int) -> None:
    X, y = blobs(600, 6, 0, distance=1.0)
    X[X < 0.2] = 0
    parameters = {"gamma": 0.3, "budget": budget, "random_state": 0, "kernel": "poly", "coef0": 1}
    parameters |= {"maintenance": "remove", "fit_intercept": False}
    one = BudgetSVC(**parameters, n_jobs=1).fit(X, y)
    assert one.certifies_ == FULL
    for other in (
        BudgetSVC(**parameters, n_jobs=3).fit(X, y),
        BudgetSVC(**parameters, n_jobs=2).fit(sparse.csr_array(X), y),
        BudgetSVC(**parameters, n_jobs=2).fit(np.asfortranarray(X), y),
    ):
        np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(one.support_vectors_, other.support_vectors_)
        assert one.objective_ == other.objective_


def test_duplicates_constant_features_and_one_row_of_a_class() -> None:
    X, y = moons(100, 0)
    X = np.column_stack([np.tile(X, (3, 1)), np.full(300, 7.0)])
    model = BudgetSVC(C=10, gamma=1, budget=300, random_state=0).fit(X, np.tile(y, 3))
    assert (model.certifies_, model.converged_) == (FULL, True)
    check_primal(model, X, np.tile(y, 3))
    labels = np.ones(40)
    labels[3] = -1
    lonely = BudgetSVC(C=10, gamma=1, budget=40, random_state=0).fit(X[:40], labels)
    assert (lonely.certifies_, lonely.converged_) == (FULL, True)


def test_a_warm_start_goes_on_from_alpha_and_finds_other_terms() -> None:
    X, y = moons(400, 0)
    model = BudgetSVC(C=1, gamma=1, budget=400, warm_start=True, random_state=0).fit(X, y)
    sizes = [len(model.support_vectors_)]
    for C in (10.0, 0.1):
        model.set_params(C=C).fit(X, y)
        fresh = BudgetSVC(C=C, gamma=1, budget=400, random_state=0).fit(X, y)
        assert model.certifies_ == FULL
        assert model.objective_[1] <= fresh.objective_[0] * (1 + 1e-6)
        assert fresh.objective_[1] <= model.objective_[0] * (1 + 1e-6)
        sizes.append(len(model.support_vectors_))
    assert sizes[2] > sizes[0] > sizes[1]  # a smaller C has more support vectors


def test_a_warm_start_after_an_exact_fit_may_need_both_phases() -> None:
    X, y = noisy_xor(400, 0, flips=0.3)
    model = BudgetSVC(C=1e-3, gamma=50, budget=120, warm_start=True, random_state=0)
    for C in (1e-3, 100.0, 100.0, 1e-3):
        model.set_params(C=C).fit(X, y)
        assert model.converged_
        assert len(model.support_vectors_) <= 120
    check_certificate(model)


@pytest.mark.parametrize("limit", [1e-9, 0.02])
@pytest.mark.parametrize("budget", [300, 1000])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_time_limit_leaves_a_model(limit: float, budget: int) -> None:
    X, y = noisy_xor(1000, 0, flips=0.3)
    model = BudgetSVC(C=1e4, gamma=5, budget=budget, time_limit=limit, random_state=0).fit(X, y)
    assert len(model.support_vectors_) <= budget
    assert model.certifies_ in (FULL, SPAN)
    check_certificate(model)
    assert np.isfinite(model.decision_function(X)).all()


def test_a_monitor_sees_the_ascent() -> None:
    X, y = noisy_xor(600, 0)
    model = BudgetSVC(C=100, gamma=2, budget=600, monitor=Trace(), random_state=0).fit(X, y)
    trace = model.monitor_
    assert set(trace["phase"]) == {"polish"}
    dual = np.asarray(trace["bound"], dtype=float)
    assert len(dual) > 3
    assert (np.diff(dual) >= -1e-4 * abs(dual[:-1])).all()  # the last is in float64
    bare = BudgetSVC(C=100, gamma=2, budget=600, random_state=0).fit(X, y)
    np.testing.assert_array_equal(bare.dual_coef_, model.dual_coef_)


def test_few_terms_are_not_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    X, y = blobs(600, 3, 0, distance=1.0)
    assert BudgetSVC(gamma=0.02, budget=150, random_state=0).fit(X, y).certifies_ == SPAN
    assert BudgetSVC(gamma=0.02, budget=450, random_state=0).fit(X, y).certifies_ == FULL


def test_a_kernel_of_low_rank_goes_the_way_of_its_few_terms() -> None:
    X, y = blobs(600, 3, 0, distance=1.0)
    model = BudgetSVC(C=1e4, kernel="linear", maintenance="remove", budget=600).fit(X, y)
    assert model.certifies_ == SPAN
    assert len(model.support_vectors_) <= 3


@pytest.mark.parametrize("budget", [600, 450])
def test_free_memory_changes_nothing(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What there is no room for is computed again, to the same bits."""
    X, y = blobs(600, 3, 0, distance=1.0)
    parameters = {"gamma": 0.02, "budget": budget, "random_state": 0}
    one = BudgetSVC(**parameters).fit(X, y)
    assert one.certifies_ == FULL
    monkeypatch.setattr(two_phases, "default_limit", lambda: 1e5)
    other = BudgetSVC(**parameters).fit(X, y)
    assert one.objective_ == other.objective_
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_the_time_may_be_up_at_any_moment(warm: bool, outputs: int) -> None:
    """The n-th look at the clock is the last one, for every n: there is a model, or none."""
    X, y = blobs(90, 3, 0, distance=1.0)
    box = np.ones(90)
    targets: Any = SingleTarget.of_labels(y, box)
    if outputs > 1:
        targets = ClassTargets(box, Hinge(), np.arange(90) % outputs, outputs)
    problem, kernel = Problem(Rows(X, np.float64, None), targets), kernels.Gaussian(0.3)
    nothing = KernelExpansion(kernel, X[:0], np.zeros((outputs, 0)), np.zeros(outputs), None)
    alpha, found = np.full(90, 0.5) if warm else None, []
    for last in range(40):
        looks = count()
        limits = Limits(1e-3, 500, last, 1e9, 1, clock=lambda looks=looks: float(next(looks)))
        how = Polishing(limits, np.random.default_rng(0), intercept=False, may_widen=False)
        outcome = exact.solve_exactly(nothing, problem, how, 90, alpha)
        found.append(outcome is not None)
        if outcome is not None:
            assert outcome.polished.coef.shape == (outputs, len(outcome.model.points))
    assert found[-1]

"""What somebody found who set out to break the estimators; each stands for its class."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_certificate, check_primal
from scipy import sparse
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from tools.doubles.clock import let_time_pass_by_looking

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, polish
from budgetsvm.monitoring import Trace

X, y = make_moons(400, noise=0.2, random_state=0)


def broken(kind: str) -> Any:
    matrix = sparse.csr_matrix((400, 2))
    matrix.data, matrix.indptr = X.ravel().copy(), np.arange(0, 801, 2, dtype=np.int32)
    matrix.indices = np.tile([0, 1], 400).astype(np.int32)
    match kind:
        case "beyond":
            matrix.indices[1::2] = 7
        case "far beyond":
            matrix.indices[1] = 2_000_000_000
        case "negative":
            matrix.indices[5] = -3
        case "falling":
            matrix.indptr[7] = 600
        case "too long":
            matrix.indptr[-1] = 900
    return matrix


@pytest.mark.parametrize("kind", ["beyond", "far beyond", "negative", "falling", "too long"])
def test_sparse_rows_that_point_outside_of_themselves(kind: str) -> None:
    bad = broken(kind)
    model = BudgetSVC(budget=20, gamma=1.0).fit(X, y)
    features = BudgetFeatures(20, gamma=1.0).fit(X, y)
    for call in (
        lambda: model.predict(bad),
        lambda: model.decision_function(bad),
        lambda: model.fit(bad, y),
        lambda: model.partial_fit(bad, y),
        lambda: features.transform(bad),
        lambda: BudgetOneClassSVM(budget=20, gamma=1.0).fit(X).score_samples(bad),
        lambda: BudgetSVR(budget=20, gamma=1.0).fit(X, y).predict(bad),
        lambda: polish(X, y, bad, gamma=1.0),
        lambda: BudgetSVC(gamma=1.0, budget=20, monitor=Trace(X_test=bad, y_test=y)).fit(X, y),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - ours, or one of scipy that came first
            call()


@pytest.mark.parametrize("size", [1e7, 1e8, 1e9])
def test_a_few_heavy_rows(size: float) -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-3, 3, (2000, 2))
    targets = np.sin(rows[:, 0]) * rows[:, 1] + 0.1 * rng.standard_normal(2000)
    weights = np.where(np.arange(2000) % 100 == 0, size, 1.0)
    model = BudgetSVR(gamma=0.5, C=10, budget=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, targets, sample_weight=weights)
    check_certificate(model)
    check_primal(model, rows, targets, weights)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_kernel_that_is_nearly_constant(loss: str, C: float) -> None:
    rows, labels = make_blobs(600, centers=4, cluster_std=2, random_state=1)
    options: dict[str, Any] = {"C": C, "gamma": 1e-8, "budget": 200, "loss": loss}
    auto, double = (
        BudgetSVC(**options, precision=p, random_state=0).fit(rows, labels).score(rows, labels)
        for p in ("auto", "double")
    )
    assert auto > double - 0.02


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize(("C", "gamma"), [(1e9, 1e-8), (1.0, 1e-8), (1e-6, 1.0), (1e4, 1.0)])
def test_the_dual_objective_does_not_exceed_the_primal_one(
    loss: str, C: float, gamma: float
) -> None:
    model = BudgetSVC(C=C, gamma=gamma, loss=loss, budget=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(precision="double").fit(X, y)
    P, D = model.objective_
    assert not model.converged_ or D <= P


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_smooth_losses_do_not_give_up_while_they_get_on(loss: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-3, 3, (1000, 2))
    labels = np.sin(rows[:, 0]) * rows[:, 1] + 0.1 * rng.standard_normal(1000) > 0
    weights = np.where(np.arange(1000) % 100 == 0, 1e5, 1.0)
    model = BudgetSVC(C=10, gamma=0.5, loss=loss, budget=60, random_state=0)
    assert model.fit(rows, labels, sample_weight=weights).converged_


@pytest.mark.parametrize("basis", ["random", "array"])
def test_a_time_limit_that_is_too_short_for_a_given_basis(
    basis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, labels = make_classification(20000, 10, n_informative=8, random_state=0)
    given: Any = basis if basis == "random" else rows[:3000]
    model = BudgetSVC(gamma=0.05, budget=3000, basis=given, time_limit=0.5, random_state=0)
    let_time_pass_by_looking(monkeypatch, seconds=0.002)
    with pytest.warns(ConvergenceWarning):
        model.fit(rows, labels)
    assert 0 < len(model.support_vectors_) < 3000
    assert model.score(rows, labels) > 0.7


def test_a_time_limit_between_two_solutions_of_a_detector() -> None:
    rows = np.random.default_rng(0).uniform(-3, 3, (1500, 2))
    model = BudgetOneClassSVM(nu=0.02, gamma=10, budget=1500, random_state=0, time_limit=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows)
    assert len(model.support_vectors_) > 0
    assert np.mean(model.predict(rows) < 0) == pytest.approx(0.02, abs=0.02)

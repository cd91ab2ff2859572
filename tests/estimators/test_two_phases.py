"""Both phases together: certificates, bases, weights, and what must not matter."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from oracles.problems import blobs, moons, noisy_xor, sparse_rows
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from tools.machines import CERTIFICATE, make, objective
from tools.trainers import new_trainer

from budgetsvm import kernels
from budgetsvm._estimators.user_input import generator
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA

# ---- what a fit promises ----


@pytest.mark.parametrize("basis", ["learned", "random", "kmeans"])
@pytest.mark.parametrize("budget", [1, 10, 60])
def test_certificate_of_the_estimator(basis: str, budget: int) -> None:
    X, y = noisy_xor(1000, 0)
    model = make(budget=budget, basis=basis).fit(X, y)
    P, D = model.objective_
    assert model.converged_
    assert 0 <= D <= P
    assert model.duality_gap_ == pytest.approx((P - D) / P, abs=1e-12)
    assert model.duality_gap_ <= 1e-2
    assert objective(model, X, y) == pytest.approx(P, rel=1e-3)
    assert 1 <= len(model.support_vectors_) <= budget
    assert model.dual_coef_.shape == (1, len(model.support_vectors_))
    squared = rbf_kernel(X, model.support_vectors_, 1.0) @ model.dual_coef_[0]
    squared += model.intercept_
    np.testing.assert_allclose(model.decision_function(X), squared, rtol=0, atol=2e-3)


def test_a_polish_never_makes_the_objective_worse() -> None:
    X, y = noisy_xor(1500, 1)
    for maintenance, solver in itertools.product(
        ("merge", "multimerge", "project", "remove"), ("bsca", "bsgd")
    ):
        options = {"maintenance": maintenance, "solver": solver, "epochs": 1, "tol": 1e-3}
        plain = make(polish=False, **options).fit(X, y)
        polished = make(**options).fit(X, y)
        assert objective(polished, X, y) <= objective(plain, X, y, C=polished.C_) * (1 + 1e-3)


def test_every_budget_is_kept() -> None:
    X, y = moons(150, 2)
    for budget in (1, 2, 3, 7, 64, 65, 149, 150, 151):
        for basis in ("learned", "random"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = make(budget=budget, basis=basis, max_passes=5).fit(X, y)
            assert 1 <= len(model.support_vectors_) <= budget


def test_fractions_of_an_epoch() -> None:
    X, y = moons(1000, 3)
    for epochs, visits in ((0.25, [250]), (1, [1000]), (2.5, [1000, 1000, 500])):
        model = make(epochs=epochs).fit(X, y)
        assert [record["visits"] for record in model.history_] == visits
        assert model.n_iter_ == len(visits)


# ---- without a polish ----


@pytest.mark.parametrize("epochs", [1, 5])
def test_polish_false_is_the_plain_solver(epochs: int) -> None:
    """Bit by bit what the trainer of phase 1 gives."""
    X, y = moons(700, 4)
    X = X.astype(np.float32).astype(np.float64)
    model = make(polish=False, epochs=epochs, random_state=7, fit_intercept=False).fit(X, y)
    assert not any(hasattr(model, name) for name in CERTIFICATE)
    centre = model._expansion.centre
    settings = Settings(kernels.Gaussian(1.0), BSCA(), Merge(), 30)
    problem = Problem(Rows(X, np.float32, centre), SingleTarget.of_labels(y, np.full(700, 10.0)))
    trainer = new_trainer(OutputTrainer, settings, problem, generator(7))
    trainer.run(Plan(epochs * 700))
    terms = trainer.terms
    np.testing.assert_array_equal(model.dual_coef_[0], terms.coef[: terms.size])
    np.testing.assert_array_equal(model._expansion.points, terms.points())
    assert len(model.history_) == epochs
    for mine, other in zip(model.history_, trainer.history, strict=True):
        assert {**mine, "seconds": 0} == {**other, "seconds": 0}


def test_without_a_polish_auto_is_five_epochs() -> None:
    X, y = moons(300, 5)
    auto, five = make(polish=False).fit(X, y), make(polish=False, epochs=5).fit(X, y)
    np.testing.assert_array_equal(auto.dual_coef_, five.dual_coef_)
    assert auto.n_iter_ == 5


def test_without_a_budget_there_is_no_polish() -> None:
    X, y = moons(300, 6)
    a = make(budget=None, epochs=3).fit(X, y)
    b = make(budget=None, epochs=3, polish=False).fit(X, y)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    assert not any(hasattr(a, name) for name in CERTIFICATE)


def test_no_certificate_is_left_from_an_earlier_fit() -> None:
    X, y = moons(300, 7)
    model = make().fit(X, y)
    assert all(hasattr(model, name) for name in CERTIFICATE)
    for options in ({"polish": False}, {"budget": None, "epochs": 1}):
        other = clone(model).fit(X, y).set_params(**options).fit(X, y)
        assert not any(hasattr(other, name) for name in CERTIFICATE)


# ---- bases ----


def test_a_given_basis() -> None:
    X, y = moons(600, 8)
    Z = X[:20]
    for points in (Z, Z.tolist(), Z.astype(np.float32), np.asfortranarray(Z)):
        model = make(basis=points).fit(X, y)
        assert all(np.isclose(Z, z, atol=1e-5).all(axis=1).any() for z in model.support_vectors_)
        assert model.converged_
    from_sparse = make(basis=Z, tol=1e-4).fit(sparse.csr_array(X), y)
    dense = make(basis=Z, tol=1e-4).fit(X, y)
    assert from_sparse.objective_[0] == pytest.approx(dense.objective_[0], rel=1e-3)


def test_random_and_kmeans_terms() -> None:
    X, y = moons(600, 9)
    model = make(basis="random", budget=15, gamma=20.0).fit(X, y)
    assert all(np.isclose(X, z, atol=1e-5).all(axis=1).any() for z in model.support_vectors_)
    centres = make(basis="kmeans", budget=15, gamma=20.0).fit(X, y).support_vectors_
    spread = np.sqrt(((X[:, np.newaxis] - centres) ** 2).sum(axis=2).min(axis=1)).mean()
    chosen = model.support_vectors_
    random = np.sqrt(((X[:, np.newaxis] - chosen) ** 2).sum(axis=2).min(axis=1)).mean()
    assert spread < random


def test_clones_and_parameters_with_an_array() -> None:
    X, y = moons(200, 10)
    model = make(basis=X[:10])
    copied = clone(model)
    np.testing.assert_array_equal(copied.basis, X[:10])
    np.testing.assert_array_equal(
        copied.fit(X, y).decision_function(X), model.fit(X, y).decision_function(X)
    )
    assert "BudgetSVC" in repr(model)


@pytest.mark.parametrize("budget", [5, 10, 20])
def test_learned_terms_beat_random_ones(budget: int) -> None:
    """A chequerboard: few terms suffice where they are in the right places."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, (3000, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)

    def mean(basis: str) -> float:
        fits = [
            make(gamma=3.0, budget=budget, basis=basis, random_state=seed, tol=1e-2).fit(X, y)
            for seed in range(3)
        ]
        return float(np.mean([model.objective_[0] for model in fits]))

    assert mean("learned") < mean("random")


def test_with_all_rows_as_terms_it_is_the_exact_svm() -> None:
    """SVC has a bias; on points mirrored at the origin, with the opposite label, it is zero."""
    X, y = blobs(100, 2, 5, distance=1.5)
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    exact = SVC(C=1.5, gamma=0.7, tol=1e-8).fit(X, y)
    assert abs(exact.intercept_[0]) < 1e-5
    model = make(C=1.5, gamma=0.7, budget=200, tol=1e-6, precision="double").fit(X, y)
    f = exact.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), f, rtol=0, atol=5e-3)
    alpha_y = np.zeros(200)
    alpha_y[exact.support_] = exact.dual_coef_[0]
    best = abs(alpha_y).sum() - 0.5 * alpha_y @ rbf_kernel(X, gamma=0.7) @ alpha_y
    assert model.objective_[0] == pytest.approx(best, rel=1e-5)


# ---- weights ----


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_weights_count_rows(form: str) -> None:
    """Weight 2 is the row twice, weight 0 is no row: the same objective, to the tolerance."""
    X, y = noisy_xor(900, 12)
    options: dict[str, Any] = {"basis": X[:25], "tol": 1e-4, "precision": "double"}
    counts = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), counts.astype(int))
    data, repeated = (
        (sparse.csr_array(X), sparse.csr_array(X[rows]))
        if form == "csr"
        else (
            X,
            X[rows],
        )
    )
    weighted = make(**options).fit(data, y, sample_weight=counts)
    twice = make(**options).fit(repeated, y[rows])
    assert weighted.objective_[0] == pytest.approx(twice.objective_[0], rel=2e-4)
    assert weighted.objective_[1] == pytest.approx(twice.objective_[1], rel=2e-4)
    np.testing.assert_allclose(
        weighted.decision_function(X), twice.decision_function(X), rtol=0, atol=0.05
    )
    assert objective(weighted, X, y, counts) == pytest.approx(weighted.objective_[0], rel=1e-6)


def test_class_weights_are_weights() -> None:
    X, y = noisy_xor(600, 13)
    options: dict[str, Any] = {"basis": X[:25], "tol": 1e-4}
    a = make(class_weight={-1: 1.0, 1: 3.0}, **options).fit(X, y)
    b = make(**options).fit(X, y, sample_weight=np.where(y > 0, 3.0, 1.0))
    assert a.objective_ == b.objective_


# ---- what must not matter ----


def test_layout_and_type_do_not_matter() -> None:
    X, y = noisy_xor(1500, 32)
    X = X.astype(np.float32)
    Z = X[:30]
    model = make(basis=Z, tol=1e-4, precision="double").fit(X, y)
    for variant in (X.astype(np.float64), np.asfortranarray(X), sparse.csr_array(X), X[::-1][::-1]):
        other = make(basis=Z, tol=1e-4, precision="double").fit(variant, y)
        assert other.objective_[0] == pytest.approx(model.objective_[0], rel=1e-4)
    single = make(basis=Z, tol=1e-4, precision="single").fit(X, y)
    assert single.objective_[0] == pytest.approx(model.objective_[0], rel=1e-3)


def test_a_shift_does_not_matter() -> None:
    X, y = noisy_xor(1500, 33)
    Z = X[:30]
    here = make(basis=Z, tol=1e-4).fit(X, y)
    there = make(basis=Z + 1e4, tol=1e-4).fit(X + 1e4, y)
    assert there.objective_[0] == pytest.approx(here.objective_[0], rel=1e-3)


def test_sparse_rows_of_many_features() -> None:
    X = sparse_rows(2000, 300, 34, density=0.02)
    y = np.where(X[:, [0, 1, 2, 3, 4]].sum(axis=1) > 0, "a", "b")
    for basis in ("learned", "random"):
        model = make(gamma=0.1, basis=basis, budget=50).fit(X, y)
        assert model.converged_
        assert objective(model, X.toarray(), y) == pytest.approx(model.objective_[0], rel=1e-3)

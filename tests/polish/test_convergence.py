"""Tolerances are reached, nothing fails where they are not, and the user is told."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles.problems import moons, noisy_xor
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC, polish
from budgetsvm._estimators.fitting.convergence import warn_not_converged
from budgetsvm._polish.result import Evidence, Polished


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("gamma", [1e-8, 1e-3, 0.3])
@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_ill_conditioned_problems_do_not_fail(C: float, gamma: float, precision: Any) -> None:
    """Smooth kernels and large C: the Hessian has a condition of 10¹⁵ and more."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(3000) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = polish(
            X, y, X[:60], C=C, gamma=gamma, precision=precision, max_passes=40, random_state=0
        )
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.alpha).all()
    assert 0 <= result.dual <= result.primal <= C * 3000


@pytest.mark.parametrize("kernel", ["poly", "sigmoid", "linear", "laplacian"])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_other_kernels_do_not_fail(kernel: str, C: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 4))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(3000) > 0
    options: dict[str, Any] = {"kernel": kernel, "gamma": 10.0, "coef0": 0.5, "max_passes": 40}
    for precision in ("single", "double"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = polish(X, y, X[:60], C=C, precision=precision, maintenance="remove", **options)
        assert np.isfinite(result.coef).all()
        assert 0 <= result.dual <= result.primal * (1 + 1e-12)


@pytest.mark.parametrize("tol", [1e-3, 1e-4])
def test_tolerances_are_reached_in_single_precision_and_many_rows(tol: float) -> None:
    X, y = noisy_xor(20_000, 8)
    result = polish(X, y, X[:50], C=10.0, gamma=1.0, tol=tol, random_state=0)
    assert result.gap <= tol


def test_too_few_passes_and_too_little_time() -> None:
    X, y = moons(500, 9, noise=0.3)
    for limit in ({"max_passes": 1}, {"time_limit": 1e-9}):
        model = BudgetSVC(C=10, gamma=1.0, budget=30, random_state=0, tol=1e-6, **limit)
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X, y)
        message = str(caught[0].message)
        for word in ("gap", "tol=1e-06", "max_passes", "time_limit"):
            assert word in message
        assert caught[0].filename == __file__  # it points at the user's line
        assert not model.converged_
        assert model.duality_gap_ > 1e-6
        P, D = model.objective_
        assert D <= P
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) > 0.5
        model.set_params(tol=0.9, max_passes=500, time_limit=None).fit(X, y)
        assert model.converged_


@pytest.mark.parametrize("C", [1e3, 1e4])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_a_loss_without_kinks_is_never_given_up(loss: Any, C: float) -> None:
    """Short steps, and P that falls by little for many of them: nobody else takes over."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.eye(8)[rng.integers(0, 8, 1500)], rng.random((1500, 5))])
    y = X[:, -1] + 0.3 * rng.standard_normal(1500) > 0
    result = polish(
        X, y, X[:600], C=C, gamma=10.0, loss=loss, precision="double", random_state=0, n_jobs=1
    )
    assert result.converged
    assert result.passes < 300


def test_the_warning_says_what_the_gap_is_measured_by() -> None:
    """A gap within tol of P is not above tol; beside what a model saves it may be too large."""
    nothing = np.zeros((1, 0))
    found = Polished(nothing, nothing, np.zeros(1), None, 100.0, 99.5, 5e-3, False, 7)
    for evidence, words in (
        (None, ("within tol=0.01", "more than tol")),
        (Evidence(np.arange(1), nothing, 10.0, 0.0), ("within tol=0.01", "0.05 of it")),
    ):
        with pytest.warns(ConvergenceWarning) as caught:
            warn_not_converged(replace(found, evidence=evidence), 1e-2, single=False)
        message = str(caught[0].message)
        assert "above tol" not in message
        assert all(word in message for word in words)

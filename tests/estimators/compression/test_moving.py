"""Points of smaller models move to where these come nearest to the larger one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC, compress
from budgetsvm._estimators.compression import moving
from budgetsvm._estimators.compression.moving import moved
from budgetsvm._estimators.compression.terms import Smaller
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Gaussian

RNG = np.random.default_rng(0)


def sums(n_outputs: int = 1, gamma: float = 0.5) -> KernelExpansion:
    points, coef = RNG.standard_normal((60, 4)), RNG.standard_normal((n_outputs, 60))
    return KernelExpansion(
        Gaussian(gamma), points / np.sqrt(gamma), coef, np.zeros(n_outputs), None
    )


def distance(model: KernelExpansion, points: Any) -> float:
    smaller = Smaller(model, 1)
    return smaller.refitted(points)[2] / smaller.squared_norm


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("at_once", [1 << 24, 70])  # kernel values: all, or of some terms
def test_slopes_are_those_of_the_gain(
    n_outputs: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "_VALUES", at_once)
    model = sums(n_outputs, gamma=1.7)
    gain = moving._Gain(model, model.points[:6], 1, False)
    places = gain.places(model.points[:6] + 0.1)
    wrong = check_grad(lambda x: gain.negative(x)[0], lambda x: gain.negative(x)[1], places)
    assert wrong < 1e-5 * np.linalg.norm(gain.negative(places)[1])


@pytest.mark.parametrize("gamma", [1e-6, 0.5, 1e6])
def test_they_come_nearer_whatever_the_unit_of_length(gamma: float) -> None:
    model = sums(2, gamma)
    begin = model.points[:12]
    assert distance(model, moved(model, begin, 1)) < 0.9 * distance(model, begin)


def test_two_terms_become_the_one_between_them() -> None:
    points = np.array([[0.3, 0.0], [-0.3, 0.0]])
    model = KernelExpansion(Gaussian(0.5), points, np.ones((1, 2)), np.zeros(1), None)
    assert_allclose(moved(model, points[:1], 1), [[0.0, 0.0]], atol=1e-2)


def test_nothing_to_gain_is_no_error() -> None:
    model = replace(sums(), coef=np.zeros((1, 60)))
    assert_array_equal(moved(model, model.points[:5], 1), model.points[:5])
    twice = sums()
    assert distance(twice, moved(twice, twice.points[[0, 0, 1]], 1)) <= distance(
        twice, twice.points[[0, 0, 1]]
    )


def test_too_much_work_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "_WORK", 1.0)
    model = sums()
    assert_array_equal(moved(model, model.points[:5], 1), model.points[:5])


@pytest.mark.slow
def test_sparse_terms_keep_their_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sparse.random_array((400, 9000), density=0.001, rng=0, format="csr")
    y = np.asarray(X[:, :4500].sum(axis=1) > X[:, 4500:].sum(axis=1)).ravel()
    big = BudgetSVC(C=10, gamma=0.5, budget=200, random_state=0).fit(X, y)
    assert big._expansion.sparse_points
    small = compress(big, 40).estimator._expansion
    monkeypatch.setattr(moving, "_ITERATIONS", 0)
    start = compress(big, 40).estimator._expansion
    assert small.points.nnz <= start.points.nnz
    assert abs(small.points - start.points).max() > 0.01


def test_what_is_gained_without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """A narrow kernel: the terms of the larger model have much of the function each, and a few of them little of it.

    The values at these terms decide which points and coefficients are taken. The distance of the functions, which counts also
    where there are no terms, may well stay what it was: it is 21 % less to 3 % more on these data, by the larger model's last digits.
    """
    for seed in range(4):
        X, y = make_moons(3000, noise=0.3, random_state=seed)
        big = BudgetSVC(C=1, gamma=20, budget=3000, random_state=0).fit(X[:1500], y[:1500])
        found = compress(big, 60)
        assert np.mean(found.estimator.predict(X[1500:]) == big.predict(X[1500:])) > 0.99
        with monkeypatch.context() as nothing_moves:
            nothing_moves.setattr(moving, "_ITERATIONS", 0)
            assert found.difference < 0.85 * compress(big, 60).difference


def test_rows_unlike_those_to_come_do_little_harm() -> None:
    """All have the same values of half of the features, and say nothing about others."""
    X = RNG.standard_normal((600, 6))
    big = BudgetSVC(C=100, gamma=0.3, budget=600, random_state=0).fit(X, X.prod(axis=1) > 0)
    rows = X * [1, 1, 1, 0, 0, 0]
    blind, misled = compress(big, 60), compress(big, 60, rows)
    assert misled.difference < 0.9 * np.sqrt(
        np.mean((big.decision_function(rows) - blind.estimator.decision_function(rows)) ** 2)
    )
    assert misled.distance <= 1.5 * blind.distance

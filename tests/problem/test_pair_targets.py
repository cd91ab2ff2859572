"""Pairs of classes: who knows of which output, what it costs, how pairs vote; and dual points that a bias allows for."""

import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from budgetsvm._problem.pair_targets import (
    PairTargets,
    differences,
    nearest_classes,
    pairs_of,
    votes,
)
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredHinge

LOSSES = [Hinge(), SquaredHinge(), Logistic()]
RNG = np.random.default_rng(0)


def targets_of(loss: Loss, n: int = 40, n_classes: int = 4) -> PairTargets:
    labels = RNG.integers(n_classes, size=n).astype(np.int32)
    return PairTargets(RNG.uniform(0.5, 2, n), loss, labels, n_classes)


@pytest.mark.parametrize("loss", LOSSES)
def test_costs_are_those_of_all_pairs(loss: Loss) -> None:
    targets = targets_of(loss)
    values = RNG.standard_normal((40, targets.count))
    expected = np.zeros(40)
    for c, (a, b) in enumerate(pairs_of(4)):
        rows, one = targets.rows_of(c), targets.of_output(c)
        np.testing.assert_array_equal(rows, np.flatnonzero(np.isin(targets.labels, (a, b))))
        np.testing.assert_array_equal(one.y > 0, targets.labels[rows] == a)
        expected[rows] += one.box * loss.value(one.slack(values[rows, c]))
    np.testing.assert_allclose(targets.costs(values), expected)
    chosen = np.array([3, 9, 20])
    np.testing.assert_allclose(
        targets.some(chosen, 2.0).costs(values[chosen]), 2 * expected[chosen]
    )
    assert sum(len(targets.of_output(c)) for c in range(targets.count)) == targets.total_rows


@pytest.mark.parametrize("n_classes", [3, 4, 9])
def test_votes_are_those_of_scikit_learn(n_classes: int) -> None:
    values = RNG.standard_normal((200, len(pairs_of(n_classes))))
    values[:20] = np.round(values[:20])  # zeros, and ties
    expected = _ovr_decision_function(values < 0, -values, n_classes)
    np.testing.assert_allclose(votes(values, n_classes), expected, atol=1e-12)
    assert np.isfinite(votes(np.full((1, values.shape[1]), np.inf), n_classes)).all()


def test_classes_and_pairs_of_them() -> None:
    of_classes = RNG.standard_normal((5, 7))
    of_classes -= of_classes.mean(axis=0)
    pairs = differences(of_classes, 5)
    np.testing.assert_allclose(pairs[0], of_classes[0] - of_classes[1])
    np.testing.assert_allclose(nearest_classes(pairs, 5), of_classes, atol=1e-12)
    others = RNG.standard_normal(pairs.shape)  # are no differences: the nearest ones are meant
    rest = others - differences(nearest_classes(others, 5), 5)
    np.testing.assert_allclose(nearest_classes(rest, 5), 0, atol=1e-12)


def test_a_class_without_rows() -> None:
    targets = PairTargets(np.ones(4), Hinge(), np.array([0, 0, 2, 2], np.int32), 3)
    assert [len(targets.of_output(c)) for c in range(3)] == [2, 4, 2]
    np.testing.assert_array_equal(targets.costs(np.zeros((4, 3))), 2)  # the pairs of each row


@pytest.mark.parametrize("loss", [*LOSSES, EpsilonInsensitive(0.1)])
def test_a_balanced_point_is_feasible(loss: Loss) -> None:
    n, regression = 50, loss.of_regression
    y = np.ones(n) if regression else np.where(RNG.uniform(size=n) < 0.8, 1.0, -1.0)
    box, target = RNG.uniform(0.5, 2, n), np.full(n, loss.target) + regression * RNG.normal(size=n)
    one = SingleTarget(box, loss, y, target)
    slack = one.slack(RNG.standard_normal(n))
    alpha = one.alpha(slack, 0.5)
    found = one.balanced(alpha, slack)
    assert abs(found @ y) <= 1e-12 * abs(found).sum()
    assert (found * alpha >= 0).all()
    assert (abs(found) <= abs(alpha)).all()
    assert abs(alpha - found).sum() == pytest.approx(abs(alpha @ y))  # no more than there is to be

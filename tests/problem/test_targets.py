"""Targets of classes and of regression: slacks, costs, gains and scores of every output."""

from typing import Any

import numpy as np
import pytest

from budgetsvm._problem.targets import ClassTargets, ManyTargets, SingleTarget
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge


def test_classes_of_targets() -> None:
    rng = np.random.default_rng(0)
    box, labels = rng.uniform(1, 2, 7), np.array([0, 2, 1, 1, 0, 2, 2], np.int32)
    classes = ClassTargets(box, Logistic(), labels, 3)
    assert (classes.count, len(classes)) == (3, 7)
    np.testing.assert_array_equal(classes.of_output(2).y, [-1, 1, -1, -1, -1, 1, 1])
    assert (classes.of_output(1).target == 0).all()
    values = ManyTargets(box, EpsilonInsensitive(0.5), rng.standard_normal((7, 2)))
    one = values.of_output(1)
    np.testing.assert_array_equal(one.target, values.values[:, 1])
    f, chosen = rng.standard_normal(7), np.array([5, 1, 2])
    for targets in (classes.of_output(0), one, SingleTarget.of_labels(np.sign(f), box)):
        slack = targets.slack(f)
        np.testing.assert_allclose(slack, targets.target - targets.y * f)
        some = targets.some(chosen, 3.0)
        np.testing.assert_allclose(some.slack(f[chosen]), slack[chosen])
        np.testing.assert_allclose(some.box, 3 * box[chosen])
        assert targets.cost(slack) == pytest.approx(box @ targets.loss.value(slack))
        alpha = targets.alpha(slack, 0.0)
        assert targets.cost(slack) == pytest.approx(
            targets.gain(alpha) - alpha @ (targets.y * f), abs=1e-12
        )  # Fenchel and Young, summed up
        assert targets.gap(slack, targets.loss.slope(slack, 0.0)) == pytest.approx(0, abs=1e-12)
        assert targets.gap(slack, targets.loss.slope(slack, 1.0)) >= (
            1e-3 if targets.loss.has_kinks else -1e-12
        )
        np.testing.assert_array_equal(targets.scaled(2.0).box, 2 * box)


def test_scores() -> None:
    box = np.ones(4)
    values = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5], [1.0, 0.9]])
    classes = ClassTargets(box, Hinge(), np.array([1, 0, 0, 0], np.int32), 2)
    assert classes.score(values) == 0.75
    assert SingleTarget.of_labels(np.array([1.0, -1, 1, 1]), box).score(values[:, :1]) == 0.5
    errors = np.array([[0.5, 0], [0, 0], [0.1, 0], [0, 1]])
    many = ManyTargets(box, EpsilonInsensitive(0.25), values + errors)
    assert many.score(values) == pytest.approx(-(0.25 + 0.75) / 8)


def test_far_targets_do_not_count_unless_a_model_reaches_them() -> None:
    target = np.array([0.0, 1.0, 1e6])
    targets = SingleTarget(np.ones(3), EpsilonInsensitive(0.1), np.ones(3), target)
    far = 1e6 - 20
    assert targets.scale(far + 100, 0.0) == pytest.approx(100)
    for primal in (0.999 * far, 1.0):  # more than that costs less than `far` alone would
        assert targets.scale(primal, 0.0) == primal


@pytest.mark.parametrize("n", [3, 200, 5000])
@pytest.mark.parametrize("excess", [0.001, 0.3, 0.9])
def test_a_balanced_point_gives_up_what_loses_least(n: int, excess: float) -> None:
    """Against sorting all rows: the first of the heavier side give way, until both sides weigh the same."""
    rng = np.random.default_rng(n)
    y, box = rng.choice([-1.0, 1.0], n), rng.uniform(0.5, 1.5, n)
    y[:2] = 1, -1
    f = rng.standard_normal(n).round(2)  # with ties
    targets = SingleTarget.of_labels(y, box)
    alpha = box * rng.uniform(0, 1, n)
    alpha[y < 0] *= (1 - excess) * alpha[y > 0].sum() / alpha[y < 0].sum()
    targets = SingleTarget.of_labels(y, np.maximum(box, alpha))
    slack, expected = targets.slack(f), alpha.copy()
    left = float((alpha * y).sum())
    for i in sorted(np.flatnonzero(y > 0), key=lambda i: slack[i]):
        less = min(left, expected[i])
        expected[i] -= less
        left -= less
    found = targets.balanced(alpha, slack)
    assert (found * y).sum() == pytest.approx(0, abs=1e-9 * n)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)])
@pytest.mark.parametrize("labels", ["both", "up", "down", "none"])
def test_the_cost_of_no_model(loss: Any, labels: str) -> None:
    """By its definition; rows of a label are put together where their targets are one number, and that is not to be seen."""
    rng = np.random.default_rng(3)
    n = 0 if labels == "none" else 30
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y = y if labels in ("both", "none") else np.full(n, 1.0 if labels == "up" else -1.0)
    box = rng.uniform(0.1, 2.0, n)
    one = SingleTarget.of_labels(y, box, loss)
    several = SingleTarget(box, loss, y, np.full(n, loss.target))
    constants = (0.0, 1.0, -1.0) if labels == "both" else (0.0,)
    expected = min(float(box @ loss.value(loss.target - y * c)) for c in constants)
    assert one.constants[0] == pytest.approx(expected, rel=1e-12)
    assert several.constants[0] == pytest.approx(expected, rel=1e-12)

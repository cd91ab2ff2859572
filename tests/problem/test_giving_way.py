"""Which rows give way: the same ones, whether a sample told how far to look or all rows were sorted."""

import numpy as np
import pytest

from budgetsvm._problem import giving_way
from budgetsvm._problem.giving_way import first_to_give_way
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.losses import Hinge, Loss, SquaredHinge

SHARES = [0.0, 1e-12, 1e-4, 0.01, 0.3, 1.0, 2.0]


def made(n: int, seed: int, ties: bool) -> tuple[np.ndarray, ...]:
    """α of both signs, many of which are zero, and slacks."""
    rng = np.random.default_rng(seed)
    alpha = rng.standard_normal(n) * (rng.random(n) < 0.7)
    slack = rng.standard_normal(n)
    side = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if ties:
        alpha, slack = np.sign(alpha), np.round(slack, 1)
    return alpha, slack, side


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("sample", [1, 16, 10_000])
def test_the_least_come_first_and_are_enough(
    monkeypatch: pytest.MonkeyPatch, share: float, sample: int, ties: bool
) -> None:
    monkeypatch.setattr(giving_way, "_SAMPLE", sample)
    alpha, slack, side = made(3000, 0, ties)
    heavy = np.flatnonzero(alpha * side > 0)
    everybody = heavy[np.argsort(np.sign(alpha[heavy]) * slack[heavy], kind="stable")]
    amount = share * float(abs(alpha[heavy]).sum())
    rows, sizes = first_to_give_way(alpha, slack, side, amount)
    np.testing.assert_array_equal(rows, everybody[: len(rows)])
    np.testing.assert_array_equal(sizes, abs(alpha[rows]))
    assert sizes.sum() >= amount or len(rows) == len(everybody)


@pytest.mark.parametrize("n", [0, 1, 2, 5000, 20_000])
def test_what_is_balanced_sums_up_to_zero_and_stays_in_its_box(n: int) -> None:
    rng = np.random.default_rng(n)
    y, box = np.where(rng.random(n) < 0.8, 1.0, -1.0), rng.random(n)
    targets = SingleTarget.of_labels(y, box)
    alpha, slack = box * rng.random(n), rng.standard_normal(n)
    balanced = targets.balanced(alpha, slack)
    assert abs(float(balanced @ y)) <= 1e-9 * max(1.0, float(box.sum()))
    assert (balanced >= 0).all()
    assert (balanced <= alpha).all()


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_what_is_no_number_is_left_as_it_is(loss: Loss) -> None:
    targets = SingleTarget.of_labels(np.array([1.0, -1.0, 1.0]), np.ones(3), loss)
    alpha = np.array([1.0, np.nan, 0.5])
    np.testing.assert_array_equal(targets.balanced(alpha, np.zeros(3)), alpha)


def test_far_fewer_are_sorted_than_there_are() -> None:
    alpha, slack, side = made(200_000, 1, ties=False)
    rows, _ = first_to_give_way(alpha, slack, side, 5.0)
    assert len(rows) < 2000

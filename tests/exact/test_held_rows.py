"""Rows of a kernel matrix that come and go: always the right ones, whatever is asked for and whatever fails."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._exact.values import held_rows
from budgetsvm._exact.values.groups import Groups
from budgetsvm._exact.values.held_rows import HeldRows


class _Matrix:
    """A symmetric matrix, and how often its rows were asked for."""

    def __init__(self, n: int, seed: int = 0) -> None:
        half = np.random.default_rng(seed).standard_normal((n, n))
        self.values, self.asked, self.fails = half + half.T, np.zeros(n, int), False

    def evaluate(self, rows: NDArray[np.int64], out: NDArray[Any]) -> None:
        if self.fails and len(rows):
            raise KeyboardInterrupt
        self.asked[rows] += 1
        out[...] = self.values[rows]

    def held(self, *, grows: bool = True) -> HeldRows:
        return HeldRows(len(self.values), np.dtype(np.float64), self.evaluate, grows=grows)

    def check(self, held: HeldRows, rows: NDArray[np.int64]) -> None:
        assert (held.places[rows] >= 0).all()
        there = np.flatnonzero(held.places >= 0)
        assert len(np.unique(held.places[there])) == len(there)
        np.testing.assert_array_equal(held.values[held.places[there]], self.values[there])


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_rows, "_ROOM", 1)
    monkeypatch.setattr(held_rows, "_FIXED_ROOM", 1)
    monkeypatch.setattr(held_rows, "_FEWEST", 20)


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_the_right_ones(seed: int) -> None:
    rng, matrix = np.random.default_rng(seed), _Matrix(60)
    held = matrix.held()
    for _ in range(200):
        rows = rng.choice(60, rng.integers(0, 21), replace=False)
        if rng.random() < 0.2:
            matrix.fails = True
            if (held.places[rows] < 0).any():
                with pytest.raises(KeyboardInterrupt):
                    held.hold(rows)
            matrix.fails = False
        held.hold(rows)
        matrix.check(held, rows)
    assert (matrix.asked > 1).any()
    held.hold_all()
    before = matrix.asked.copy()
    held.hold(rng.permutation(60))
    np.testing.assert_array_equal(matrix.asked, before)


@pytest.mark.usefixtures("little_room")
def test_who_was_asked_for_last_goes_last() -> None:
    matrix = _Matrix(60)
    held = matrix.held()
    held.hold(np.arange(10))
    held.hold(np.arange(10, 20))
    held.hold(np.arange(5))
    held.hold(np.arange(20, 35))
    np.testing.assert_array_equal(np.flatnonzero(held.places >= 0), [*range(5), *range(20, 35)])


@pytest.mark.usefixtures("little_room")
def test_there_is_more_room_for_rows_that_come_again() -> None:
    matrix = _Matrix(60)
    held = matrix.held()
    for _ in range(50):
        for start in range(0, 60, 20):
            held.hold(np.arange(start, start + 20))
    assert (held.places >= 0).all()
    assert matrix.asked.max() < 2 * held_rows._REPEATED


@pytest.mark.usefixtures("little_room")
def test_room_that_is_fixed_stays_so() -> None:
    rng, matrix = np.random.default_rng(0), _Matrix(60)
    held = matrix.held(grows=False)
    for _ in range(100):
        rows = rng.choice(60, 20, replace=False)
        held.hold(rows)
        matrix.check(held, rows)
    assert len(held.values) == np.count_nonzero(held.places >= 0) == 20


@pytest.mark.usefixtures("little_room")
def test_a_product_with_the_whole_matrix() -> None:
    matrix, beta = _Matrix(60), np.random.default_rng(1).standard_normal(60)
    beta[::3] = 0
    np.testing.assert_allclose(matrix.held().times(beta), matrix.values @ beta, rtol=1e-12)
    assert not matrix.held().times(np.zeros(60)).any()


@pytest.mark.parametrize("machine", [BudgetSVC, BudgetSVR])
def test_room_does_not_change_a_bit(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 5))
    y = np.sign(X[:, 0] * X[:, 1] + rng.standard_normal(900))
    models = []
    for room in (1, 1 << 24):
        monkeypatch.setattr(held_rows, "_ROOM", room)
        models.append(machine(budget=900, C=3, gamma=0.3, random_state=0).fit(X, y))
    few, many = models
    assert few.certifies_ == "full problem"
    np.testing.assert_array_equal(few.dual_coef_, many.dual_coef_)
    np.testing.assert_array_equal(few.intercept_, many.intercept_)


def test_kernel_values_go_with_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, and not when the garbage is collected: the next fit needs the memory."""
    made: list[weakref.ref[HeldRows]] = []
    make = Groups.rows_of_first

    def seen(groups: Groups, *given: Any, **named: Any) -> HeldRows:
        held = make(groups, *given, **named)
        made.append(weakref.ref(held))
        return held

    monkeypatch.setattr(Groups, "rows_of_first", seen)
    X = np.random.default_rng(0).standard_normal((200, 3))
    gc.collect()
    gc.disable()
    try:
        BudgetSVC(random_state=0).fit(X, X[:, 0] > 0)
        assert len(made) == 1
        assert made[0]() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pairs_of_many_rows_are_the_same_machine(
    n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their kernel values come as they are asked for, those of other pairs are all there: one machine, whatever is many."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 4))
    y = np.digitize(X[:, 0] * X[:, 1] + rng.standard_normal(900), [-2.0, 0.0, 0.5])  # uneven
    values = []
    for many in (0, 400, 10**6):
        monkeypatch.setattr("budgetsvm._exact.blocks._MANY_ROWS", many)
        machine = BudgetSVC(
            tol=1e-5, n_jobs=n_jobs, precision="double", decision_function_shape="ovo"
        )
        values.append(machine.fit(X, y).decision_function(X))
        assert machine.certifies_ == "full problem"
    for others in values[1:]:
        np.testing.assert_allclose(others, values[0], atol=2e-2)

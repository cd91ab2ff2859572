"""How long tasks will still take, told by a clock that we set."""

import itertools
from math import inf

import pytest

from budgetsvm._common.progress.forecast import Forecast


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_guesses_at_first() -> None:
    clock = Clock()
    forecast = Forecast(clock)
    forecast.expect({"a": 2.0, "b": 8.0})
    forecast.at("a")
    assert forecast.left() == pytest.approx(10.0)


def test_what_was_measured_changes_all_guesses() -> None:
    """A task that took three times as long as guessed says that the others will, too."""
    clock = Clock()
    forecast = Forecast(clock)
    forecast.expect({"a": 5.0, "b": 5.0})
    forecast.at("a")
    clock.now += 15.0
    forecast.at("b")
    assert 12.0 < forecast.left() < 15.0


def test_a_task_that_tells_its_share_is_believed() -> None:
    clock = Clock()
    forecast = Forecast(clock)
    forecast.expect({"a": 1.0})
    forecast.at("a")
    for share in (0.1, 0.2, 0.3, 0.4, 0.5):
        clock.now += 10.0
        forecast.at("a", share)
    assert forecast.left() == pytest.approx(50.0)


def test_the_later_half_counts() -> None:
    """What begins slowly and goes on fast is soon over."""
    clock = Clock()
    forecast = Forecast(clock)
    forecast.at("a")
    clock.now += 100.0
    forecast.at("a", 0.25)
    clock.now += 1.0
    forecast.at("a", 0.5)
    assert forecast.left() == pytest.approx(2.0)


def test_tasks_that_were_not_needed_are_left_out() -> None:
    forecast = Forecast(Clock())
    forecast.expect({"a": 1.0, "b": 50.0, "c": 2.0})
    forecast.at("a")
    forecast.at("c")
    assert forecast.left() < 3.0


def test_the_same_task_once_more() -> None:
    """A plan that names the present task means that it begins anew."""
    clock = Clock()
    forecast = Forecast(clock)
    forecast.expect({"a": 4.0})
    forecast.at("a")
    clock.now += 4.0
    forecast.at("a", 1.0)
    before = forecast.left()
    forecast.expect({"a": 4.0})
    forecast.at("a")
    assert before < 0.1
    assert forecast.left() == pytest.approx(4.0)


def test_never_nothing_and_always_less() -> None:
    """Between two reports time goes by, and what is left falls, but does not vanish."""
    clock = Clock()
    forecast = Forecast(clock)
    forecast.expect({"a": 3.0})
    forecast.at("a")
    left = [forecast.left()]
    for _ in range(20):
        clock.now += 0.5
        left.append(forecast.left())
    assert all(0 < after < before for before, after in itertools.pairwise(left))


def test_of_what_nobody_knows() -> None:
    """Without a guess it may take as long again as it took until now, and without any past for ever."""
    clock = Clock()
    forecast = Forecast(clock)
    forecast.at("a")
    clock.now += 30.0
    assert forecast.left() == inf
    forecast.at("b")
    clock.now += 20.0
    assert forecast.left() == pytest.approx(20.0)

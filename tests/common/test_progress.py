"""The progress bar of both phases, with a clock that we set; and as it is printed."""

import io
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from oracles.problems import noisy_xor
from sklearn.datasets import make_moons
from tools.machines import make

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._common.progress.bars import Progress
from budgetsvm.monitoring import _progress_bar


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def shares(left: Any, clock: Clock, seconds: int, step: float = 0.5) -> list[float]:
    bar = Progress("work", lambda: left(clock.now), clock=clock, alone=False)
    found = []
    for _ in range(int(seconds / step)):
        clock.now += step
        found.append(bar.look()[0])
    return found


def test_honest_forecasts_make_a_steady_bar() -> None:
    found = shares(lambda now: 60.0 - now, Clock(), 59)
    np.testing.assert_allclose(found, np.arange(1, 119) / 120, atol=0.01)


def test_bad_news_slow_the_bar_but_never_turn_it_back() -> None:
    """Ten seconds are left for ever; or they become a hundred."""
    for left in (lambda _: 10.0, lambda now: 10.0 - now if now < 8 else 100.0):
        found = np.array(shares(left, Clock(), 60))
        assert (np.diff(found) > 0)[found[1:] < 0.99].all()
        assert found[-1] <= 0.99


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts, percent, bar, times: in sixty columns."""
    clock, written = Clock(), Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    bar = Progress("training", lambda: 3 * 3600.0, clock=clock, alone=False)
    bar.say("16000 terms, 12.3% wrong")
    clock.now = 3600.0
    bar.close(done=False)
    lines = written.getvalue().rstrip("\n").split("\r")
    shown = r"training: 16000 terms, 12.3% wrong +2\d%\|.+\| 1:00:00<3:00:00"
    assert re.fullmatch(shown, lines[-1])
    assert all(len(line) <= 60 for line in lines)


def test_plain_lines(capsys: Any) -> None:
    clock = Clock()
    bar = Progress("polishing", lambda: 30.0, clock=clock, alone=False)
    bar.say("gap 0.3")
    clock.now = 10.0
    bar.close(done=False)
    bar = Progress("polishing", lambda: 30.0, clock=clock, alone=False)
    bar.close(done=True)
    bar = Progress("training", lambda: None, clock=clock, alone=False)
    bar.say("20 terms")
    clock.now = 75.0
    bar.close(done=True)
    first, second, third = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"polishing: gap 0.3  2\d% 00:10<00:30", first)
    assert second == "polishing: 100% 00:00<00:00"
    assert third == "training: 20 terms 01:05"


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that is closed, or none at all, does not end a fit."""
    closed = io.StringIO()
    closed.close()
    X, y = make_moons(100, random_state=0)
    for stream in (closed, None):
        monkeypatch.setattr(sys, "stderr", stream)
        BudgetSVC(budget=10, verbose=1).fit(X, y)


def test_it_draws_itself(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """A line comes though nobody reports anything; the thread ends with the bar."""
    monkeypatch.setattr("budgetsvm._common.progress.bars._PLAIN", 0.01)
    bar = Progress("work", lambda: 5.0)
    drawer = bar._drawer
    while "work" not in capsys.readouterr().err:
        assert drawer is not None
        assert drawer.is_alive()
    bar.close(done=True)
    assert not drawer.is_alive()


def test_progress_of_both_phases(capsys: Any) -> None:
    X, y = noisy_xor(2000, 28)
    make(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    make(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert re.match(r"training: 30 terms, \d+\.\d% wrong 100% ", first)
    assert re.match(r"polishing: gap [\de.-]+ 100% ", second)
    make(verbose=1, basis="random").fit(X, y)
    err = capsys.readouterr().err
    assert "training" not in err
    assert "polishing" in err


def test_what_else_is_fitted(capsys: Any) -> None:
    """No classes, no errors; a bar for the exact solution; one for all blocks of a stream."""
    X, y = make_moons(400, noise=0.2, random_state=0)
    BudgetSVR(budget=20, verbose=1).fit(X, X[:, 0])
    assert re.match(r"training: \d+ terms, loss [\d.e-]+ 100%", capsys.readouterr().err)
    BudgetOneClassSVM(budget=20, verbose=1).fit(X)
    assert "polishing: gap" in capsys.readouterr().err
    BudgetSVC(budget=400, verbose=1).fit(X, y)
    assert re.match(r"polishing: gap [\de.-]+ 100%", capsys.readouterr().err)
    X, y = make_moons(1200, noise=0.2, random_state=0)
    BudgetSVC(C=10, gamma=2, budget=600, verbose=1).fit(X, y)
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(r"solving exactly: 100%", line)
    X, y = X[:400], y[:400]
    blocks = [(X[:200], y[:200]), (X[200:], y[200:])]
    for stream in (blocks, iter(blocks)):
        BudgetSVC(budget=20, verbose=1).fit_stream(stream)
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 2
        assert "training: 20 terms" in lines[0]
        assert ("100%" in lines[0]) == isinstance(stream, list)
        assert "polishing: gap" in lines[1]


def test_a_fit_that_fails_is_not_done(capsys: Any) -> None:
    def blocks() -> Iterator[Any]:
        yield make_moons(100, random_state=0)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        BudgetSVC(budget=20, verbose=1).fit_stream(blocks())
    assert "100%" not in capsys.readouterr().err
    assert _progress_bar._current.get() is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_progress_with_any_tolerance(capsys: Any) -> None:
    X, y = noisy_xor(300, 29)
    for tol in (1e-12, 0.9, 1.0, 5.0):
        make(verbose=1, tol=tol, max_passes=20).fit(X, y)
        assert "gap" in capsys.readouterr().err

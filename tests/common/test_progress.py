"""The progress bar of both phases."""

from typing import Any

import pytest
from oracles.problems import noisy_xor
from sklearn.datasets import make_moons
from tools.machines import make

from budgetsvm import BudgetSVC


def test_progress_of_both_phases(capsys: Any) -> None:
    X, y = noisy_xor(2000, 28)
    make(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    make(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    for word in ("training", "polishing", "gap=", "size=30", "100%"):
        assert word in err
    assert err.index("training") < err.index("polishing")
    make(verbose=1, basis="random").fit(X, y)
    err = capsys.readouterr().err
    assert "training" not in err
    assert "polishing" in err


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_progress_with_any_tolerance(capsys: Any) -> None:
    X, y = noisy_xor(300, 29)
    for tol in (1e-12, 0.9, 1.0, 5.0):
        make(verbose=1, tol=tol, max_passes=20).fit(X, y)
        assert "gap=" in capsys.readouterr().err


def test_progress_bar(capsys: Any) -> None:
    X, y = make_moons(1500, noise=0.15, random_state=3)
    BudgetSVC(budget=20, random_state=0, verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    BudgetSVC(budget=20, polish=False, random_state=0, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "100%" in err
    assert "size=20" in err
    assert "error=" in err

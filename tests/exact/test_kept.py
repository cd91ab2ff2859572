"""One C after another: what is kept of the one before changes the work, and not the solution."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._estimators.tuning.cells.fold_path import FoldPath
from budgetsvm._estimators.tuning.cells.held_out import HeldOutRows
from budgetsvm._exact import blocks

X, LABELS = make_classification(200, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
KINDS = {
    "two classes": (BudgetSVC, LABELS > 0),
    "pairs": (BudgetSVC, LABELS),
    "regression": (BudgetSVR, np.sin(X[:, 0])),
    "two targets": (BudgetSVR, np.sin(X[:, :2])),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_C_is_solved_as_if_it_were_the_first(kind: str) -> None:
    machine, y = KINDS[kind]
    path = FoldPath(machine(gamma=0.1, random_state=0, tol=1e-3), X, y, None, 1.0)
    for C in (0.1, 1.0, 30.0, 0.5):
        found = path.solve(C, HeldOutRows(X[:5], 1))
        plain = machine(C, gamma=0.1, random_state=0, tol=1e-3).fit(X, y)
        values = (one.decision_function(X) if hasattr(one, "decision_function") else one.predict(X)
                  for one in (found, plain))  # fmt: skip
        one, other = values
        spread = np.abs(other).max()
        assert np.abs(one - other).max() < 0.03 * spread
        assert found.converged_


def test_kernel_values_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, original = [], blocks.Groups

    def counted(*args: Any) -> Any:
        made.append(original(*args))
        return made[-1]

    monkeypatch.setattr(blocks, "Groups", counted)
    path = FoldPath(BudgetSVC(gamma=0.1, random_state=0), X, LABELS, None, 1.0)
    for C in (0.1, 1.0, 10.0):
        path.solve(C, HeldOutRows(X[:5], 1))
    assert len(made) == 1
    assert len(made[0]._cross) == 3  # pairs of classes


@pytest.mark.parametrize("kind", KINDS)
def test_a_far_larger_C_takes_no_longer_than_by_itself(kind: str) -> None:
    machine, y = KINDS[kind]

    rounds: list[int] = []
    original = blocks._Output._make

    def counted(self: Any, *args: Any) -> Any:
        found = original(self, *args)
        rounds.append(found[1])
        return found

    def work(*Cs: float) -> int:
        path = FoldPath(machine(gamma=2.0, random_state=0), X, y, None, 1.0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks._Output, "_make", counted)
            for C in Cs:
                rounds.clear()
                path.solve(C, HeldOutRows(X[:5], 1))
        return sum(rounds)

    for C in (300.0, 1e4):
        assert work(46.0, C) <= 2 * work(C) + 20

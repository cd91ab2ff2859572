"""The full problem under a time limit: what is nearly done goes on, what is not gives way in time."""

from itertools import count, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from budgetsvm import kernels
from budgetsvm._common.limits import Limits, OutOfTime
from budgetsvm._exact import exact
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.polish import Outcome, Polishing
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ManyTargets, SingleTarget
from budgetsvm.losses import EpsilonInsensitive


def solve(
    deadline: float, doubtful: float = np.inf, budget: int = 899
) -> tuple[Outcome | None, int]:
    """Solve the full problem of 900 rows, more than there may be terms; time is looks at the clock."""
    X = np.random.default_rng(0).standard_normal((900, 6))
    y = np.sign(X[:, 0] * X[:, 1])
    problem = Problem(Rows(X, np.float64, None), SingleTarget.of_labels(y, np.full(900, 10.0)))
    nothing = KernelExpansion(kernels.Gaussian(0.3), X[:0], np.zeros((1, 0)), np.zeros(1), None)
    looks = count()
    limits: Any = Limits(
        1e-9, 500, deadline, 1e9, 1, clock=lambda: float(next(looks)), doubtful=doubtful
    )
    how = Polishing(limits, np.random.default_rng(0), intercept=False, may_widen=False)
    return exact.solve_exactly(nothing, problem, how, budget, None), next(looks)


@pytest.fixture(scope="module")
def needed() -> int:
    """The time that it takes."""
    found, looks = solve(np.inf, np.inf)
    assert found is not None
    assert found.polished.converged
    return looks


@pytest.mark.parametrize("share", [1.5, 2.0, 4.0])
def test_what_is_nearly_done_goes_on(share: float, needed: int) -> None:
    found, looks = solve(share * needed, 0.25 * share * needed)
    assert found is not None
    assert found.polished.converged
    assert looks > 0.25 * share * needed or share >= 4


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_what_will_not_be_done_gives_way(share: float, needed: int) -> None:
    found, looks = solve(share * needed, 0.25 * share * needed)
    assert found is None
    assert looks < 0.8 * share * needed


def test_more_time_is_not_worse_where_all_rows_may_be_terms(needed: int) -> None:
    """Whatever was reached when the time was up is kept, and not what another attempt had just begun."""
    costs = []
    for share in (0.2, 0.4, 0.6, 0.8, 1.0, 1.5):
        found, _ = solve(share * needed, budget=900)
        costs.append(np.inf if found is None else found.polished.primal)
    assert costs[-1] < 4500  # of no model: 9000
    assert all(later <= 1.01 * before for before, later in pairwise(costs))


def outcome(primal: float, *, converged: bool = False, factor: float = 1.0) -> Any:
    return SimpleNamespace(
        polished=SimpleNamespace(primal=primal, converged=converged), factor=factor
    )


def test_the_better_of_two_attempts() -> None:
    good, bad = outcome(1.0), outcome(2.0)
    solved, other = outcome(3.0, converged=True), outcome(0.5, factor=2.0)
    assert exact.better_outcome(good, bad) is exact.better_outcome(bad, good) is good
    assert exact.better_outcome(good, solved) is exact.better_outcome(solved, good) is solved
    assert exact.better_outcome(good, None) is good
    assert exact.better_outcome(good, other) is good


def test_outputs_keep_their_order_where_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads show what they have in any order; who comes first is still the first output."""

    def shown_backwards(*args: Any, **options: Any) -> None:
        show = args[4]
        for c in (2, 1, 0):
            show(c, SimpleNamespace(number=c, found=SimpleNamespace(gap=1.0), passes=1))
        raise OutOfTime

    monkeypatch.setattr(exact, "solve_blocks", shown_backwards)
    monkeypatch.setattr(exact.SolvedDuals, "joined", list)
    monkeypatch.setattr(exact, "outcome_of_blocks", lambda *args: [one.number for one in args[3]])
    X = np.random.default_rng(0).standard_normal((30, 2))
    targets = ManyTargets(np.ones(30), EpsilonInsensitive(0.1), X[:, [0, 1, 0]])
    problem = Problem(Rows(X, np.float64, None), targets)
    nothing = KernelExpansion(kernels.Gaussian(0.3), X[:0], np.zeros((3, 0)), np.zeros(3), None)
    limits = Limits(1e-2, 500, np.inf, 1e9, 2)
    how = Polishing(limits, np.random.default_rng(0), intercept=True, may_widen=False)
    assert exact._attempt_on_blocks(nothing, problem, how, None) == [0, 1, 2]

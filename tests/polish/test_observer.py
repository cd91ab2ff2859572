"""What an observer gets to see of phase 2."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from polish.spans import LITTLE, PLENTY, Seen, basis_of, several_outputs, solve_in_span
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC
from budgetsvm._common.limits import Limits
from budgetsvm._polish.outlook import OUTPUTS, STEPS, share_by_gap
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._observer import FitObserver


def limits(tol: float = 1e-3, memory: float = PLENTY) -> Limits:
    return Limits(tol, 500, np.inf, memory, 1)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_a_single_output_is_seen_with_its_model(memory: float) -> None:
    """The certificate at every moment, and at the last one the result."""
    many = several_outputs("logistic")
    problem, seen = Problem(many.rows, many.targets.of_output(1)), Seen()
    polished = solve_in_span(problem, basis_of(problem), limits(memory=memory), observer=seen)
    last = seen.moments[-1]
    assert (last.gap, last.passes) == (polished.gap, polished.passes)
    assert last.objective == (polished.primal, polished.dual)
    assert last.state is not None
    model, alpha = last.state()
    np.testing.assert_array_equal(model.coef, polished.coef)
    np.testing.assert_array_equal(model.bias, polished.bias)
    np.testing.assert_array_equal(model.points, polished.points)
    np.testing.assert_array_equal(alpha, polished.alpha)
    objectives: Any = [moment.objective for moment in seen.moments]
    assert (np.diff(np.array(objectives), axis=0) * [1, -1] <= 0).all()
    assert (np.diff([moment.passes for moment in seen.moments]) >= 0).all()


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_of_several_outputs_the_gap_is_seen(memory: float) -> None:
    problem, seen = several_outputs(), Seen()
    polished = solve_in_span(problem, basis_of(problem), limits(memory=memory), observer=seen)
    assert polished.converged
    assert len(seen.moments) >= problem.targets.count
    assert seen.moments[-1].gap <= 1e-3 * (1 + 1e-9)
    assert all(moment.objective is moment.state is None for moment in seen.moments)


@dataclass
class Work(FitObserver):
    """Writes down what is to come, and what is done."""

    plans: list[dict[str, float]] = field(default_factory=list)
    done: list[tuple[str, float]] = field(default_factory=list)

    def expect(self, tasks: Mapping[str, float]) -> None:
        self.plans.append(dict(tasks))

    def in_task(self, name: str, share: float = 0.0) -> None:
        self.done.append((name, share))

    def shares(self, task: str) -> list[float]:
        return [share for name, share in self.done if name == task]


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_single_output_tells_how_far_it_is(loss: str) -> None:
    """Each step brings the end nearer, as the forecast sees it, and the last one is near it."""
    many, work = several_outputs(loss), Work()
    problem = Problem(many.rows, many.targets.of_output(1))
    solve_in_span(problem, basis_of(problem), limits(), observer=work)
    shares = work.shares(STEPS)
    assert shares[0] == 0
    assert all(0 <= share <= 1 for share in shares)
    assert max(shares) > 0.8
    assert len(set(shares)) > 3


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_several_outputs_tell_how_far_all_of_them_are(memory: float) -> None:
    problem, work = several_outputs(), Work()
    solve_in_span(problem, basis_of(problem), limits(memory=memory), observer=work)
    shares = work.shares(OUTPUTS)
    assert max(shares) > 0.9
    assert shares == sorted(shares)
    assert not work.shares(STEPS)


def test_what_is_to_come_has_a_guess() -> None:
    """All tasks that are done were foreseen, in this order; guesses are finite and positive."""
    X, y = make_moons(3000, noise=0.2, random_state=0)
    work = Work()
    with patch("budgetsvm._estimators.fitting.two_phases.current_bar", lambda: work):
        BudgetSVC(C=10, gamma=2, budget=60, random_state=0, verbose=1).fit(X, y)
    foreseen = list(work.plans[0])
    done = list(dict.fromkeys(name for name, _ in work.done))
    assert [name for name in foreseen if name in done] == done
    assert all(0 <= guess < 10 for plan in work.plans for guess in plan.values())


@pytest.mark.parametrize("gap", [1e-4, 1e-2, 0.03, 0.5, 1.0, 7.0])
def test_shares_by_the_gap(gap: float) -> None:
    assert 0 <= share_by_gap(gap, 1e-2) <= 1
    assert (share_by_gap(gap, 1e-2) == 1) == (gap <= 1e-2)
    assert 0 <= share_by_gap(gap, 5.0) <= 1

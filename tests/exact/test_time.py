"""The full problem under a time limit: what is nearly done goes on, what is not gives way in time."""

from itertools import count
from typing import Any

import numpy as np
import pytest

from budgetsvm import kernels
from budgetsvm._common.limits import Limits
from budgetsvm._exact import exact
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.polish import Outcome, Polishing
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget


def solve(deadline: float, doubtful: float) -> tuple[Outcome | None, int]:
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
    return exact.solve_exactly(nothing, problem, how, 899, None), next(looks)


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

"""Runs of the software's BSCA on a small problem, looked at after every visit."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetsvm import BudgetSVC
from budgetsvm.maintenance import Merge
from budgetsvm.monitoring import Monitor, View
from budgetsvm.solvers import BSCA
from experiments.theory.small_problems import SmallProblem

Vector = NDArray[np.float64]

#: How two terms become one: as in the paper, and what the software does unless told otherwise.
MERGING = {"paper": Merge(search="golden", partners="same-sign"), "default": Merge()}


@dataclass(frozen=True)
class Setup:
    """How BSCA is run. Points are drawn uniformly, as the paper's analysis assumes."""

    budget: int | None
    merging: str = "paper"
    epochs: int = 10
    seed: int = 0


class Looks(Monitor):
    """Calls a function after every `every`-th visit."""

    aligned = False  # the very visit, not the end of a batch

    def __init__(self, look: Callable[[View], None], every: int) -> None:
        self._look, self._every, self._seen = look, every, 0

    def next_visit(self, visits: int) -> int:
        """Return after how many visits to look again."""
        return visits + self._every

    def observe(self, view: View) -> None:
        """Look, once at the same visit; the end of phase 1 is shown again."""
        if view.visits > self._seen:
            self._seen = view.visits
            self._look(view)


def watch(
    problem: SmallProblem, setup: Setup, look: Callable[[View], None], every: int = 1
) -> None:
    """Train without a polish, in double precision, so that identities hold to many digits."""
    BudgetSVC(
        C=problem.C,
        gamma=problem.gamma,
        budget=setup.budget,
        solver=BSCA(order="uniform"),
        maintenance=MERGING[setup.merging],
        epochs=setup.epochs,
        polish=False,
        fit_intercept=False,
        precision="double",
        random_state=setup.seed,
        n_jobs=1,
        monitor=Looks(look, every),
    ).fit(problem.X, problem.y)


class KernelValues:
    """Kernel values of a model that changes by a term or two per visit: only those are computed."""

    def __init__(self, problem: SmallProblem) -> None:
        self._problem = problem
        self._points = np.empty((0, problem.X.shape[1]))
        self._rows = np.empty((len(problem), 0))
        self._terms = np.empty((0, 0))

    def update(self, points: Vector) -> tuple[Vector, Vector]:
        """Return k(x_i, z_j) and k(z_j, z_l)."""
        old, size = len(self._points), len(points)
        common = min(old, size)
        changed = np.ones(size, bool)
        changed[:common] = (points[:common] != self._points[:common]).any(axis=1)
        rows, terms = np.empty((len(self._problem), size)), np.empty((size, size))
        rows[:, :common] = self._rows[:, :common]
        terms[:common, :common] = self._terms[:common, :common]
        new = np.flatnonzero(changed)
        rows[:, new] = self._problem.kernel(self._problem.X, points[new])
        terms[:, new] = self._problem.kernel(points, points[new])
        terms[new] = terms[:, new].T
        self._points, self._rows, self._terms = points, rows, terms
        return rows, terms

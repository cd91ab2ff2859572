"""Solvers of phase 1: how a model on a budget is trained.

>>> from budgetsvm import BudgetSVC, solvers
>>> BudgetSVC(solver=solvers.BSCA(order="uniform"))
BudgetSVC(solver=BSCA(order='uniform'))
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.checks import check_choice

__all__ = ["BSCA", "BSGD", "Solver"]

# What maintenance may destroy before smaller steps are better: of what a visit inserts, which is about 1
# at most, and of a step (docs/theory.md).
_PER_VISIT, _PER_STEP = 0.15, 0.2


class Upkeep(NamedTuple):
    """What it cost to keep a model within its budget, once that was full."""

    visits: int
    steps: int  #: that room was made for
    degradation: float  #: sum of the ‖Δw‖² that this caused
    lost: float  #: sum of the shares of the steps that it amounts to


@dataclass(frozen=True)
class Solver(ABC):
    """A stochastic solver that visits training points one after the other. Use a subclass.

    Parameters
    ----------
    order : {"permutation", "uniform"}, default="permutation"
        A fresh random permutation of the training points per epoch, or independent uniform draws as in
        the paper.
    """

    order: Literal["permutation", "uniform"] = "permutation"
    name: ClassVar[str]

    def check(self) -> None:
        """Raise a ValueError if an option makes no sense."""
        check_choice("order", self.order, ("permutation", "uniform"))

    def visiting_order(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the points to visit in one epoch."""
        if self.order == "permutation":
            return rng.permutation(n)
        return rng.integers(n, size=n)

    def magnification(self, t: int) -> float:  # noqa: ARG002
        """Return how many times too large the core keeps all coefficients, after t visits."""
        return 1

    def clock(self, t: int, n: float) -> tuple[()] | tuple[int, float]:  # noqa: ARG002
        """Return what the core has to know of the visits so far, and of the number of rows."""
        return ()

    @abstractmethod
    def is_overwhelmed(self, upkeep: Upkeep) -> bool:
        """Return whether maintenance destroys so much that smaller steps would be better."""


@dataclass(frozen=True)
class BSCA(Solver):
    """Budgeted stochastic coordinate ascent on the dual problem (Algorithm 1 of the paper).

    Without a budget this is stochastic coordinate ascent, and converges to the exact SVM.
    """

    name: ClassVar[str] = "bsca"

    def is_overwhelmed(self, upkeep: Upkeep) -> bool:
        """Return whether much of what the visits insert is destroyed."""
        return upkeep.degradation > _PER_VISIT * upkeep.visits


@dataclass(frozen=True)
class BSGD(Solver):
    """Budgeted stochastic gradient descent on the primal problem (eq. 4 of the paper).

    Without a budget this is kernel Pegasos. After t visits the steps are as 1 / t, and so is all that was
    there before: the core keeps t times the coefficients, which then need not be touched.
    """

    name: ClassVar[str] = "bsgd"

    def magnification(self, t: int) -> float:
        """Return how many times too large the core keeps all coefficients, after t visits."""
        return t

    def clock(self, t: int, n: float) -> tuple[int, float]:
        """Return t and n, which the learning rate depends on."""
        return t, n

    def is_overwhelmed(self, upkeep: Upkeep) -> bool:
        """Return whether much of every step is destroyed: a degradation of its own says little, as steps shrink.

        A tenth of a step at most is lost where the budget suffices, and a third or more where a smaller C helps.
        """
        return upkeep.lost > _PER_STEP * upkeep.steps


#: Names that estimators take.
BY_NAME = {"bsca": BSCA(), "bsgd": BSGD()}


def make_solver(solver: object) -> Solver:
    """Turn an estimator's parameter into a checked Solver."""
    if isinstance(solver, str):
        check_choice("solver", solver, tuple(BY_NAME))
        solver = BY_NAME[solver]
    if not isinstance(solver, Solver):
        message = f"solver must be 'bsca', 'bsgd' or an object of budgetsvm.solvers, not {solver!r}"
        raise TypeError(message)
    solver.check()
    return solver

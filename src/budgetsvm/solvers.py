"""Solvers of phase 1: how a model on a budget is trained.

>>> from budgetsvm import BudgetSVC, solvers
>>> BudgetSVC(solver=solvers.BSCA(order="uniform"))
BudgetSVC(solver=BSCA(order='uniform'))
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.checks import check_choice

__all__ = ["BSCA", "BSGD", "Solver"]


@dataclass(frozen=True)
class Solver:
    """A stochastic solver that visits training points one after the other. Use a subclass.

    Parameters
    ----------
    order : {"permutation", "uniform"}, default="permutation"
        A fresh random permutation of the training points per epoch, or independent uniform draws as in
        the paper.
    """

    order: Literal["permutation", "uniform"] = "permutation"

    def check(self) -> None:
        """Raise a ValueError if an option makes no sense."""
        check_choice("order", self.order, ("permutation", "uniform"))

    def visiting_order(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the points to visit in one epoch."""
        if self.order == "permutation":
            return rng.permutation(n)
        return rng.integers(n, size=n)


@dataclass(frozen=True)
class BSCA(Solver):
    """Budgeted stochastic coordinate ascent on the dual problem (Algorithm 1 of the paper).

    Without a budget this is stochastic coordinate ascent, and converges to the exact SVM.
    """


@dataclass(frozen=True)
class BSGD(Solver):
    """Budgeted stochastic gradient descent on the primal problem (eq. 4 of the paper).

    Without a budget this is kernel Pegasos.
    """


_BY_NAME = {"bsca": BSCA(), "bsgd": BSGD()}


def make_solver(solver: object) -> Solver:
    """Turn an estimator's parameter into a checked Solver."""
    if isinstance(solver, str):
        check_choice("solver", solver, tuple(_BY_NAME))
        solver = _BY_NAME[solver]
    if not isinstance(solver, Solver):
        message = f"solver must be 'bsca', 'bsgd' or an object of budgetsvm.solvers, not {solver!r}"
        raise TypeError(message)
    solver.check()
    return solver

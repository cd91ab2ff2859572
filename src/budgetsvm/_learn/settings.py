"""How terms are learned, and for how long."""

from dataclasses import dataclass
from math import inf

from budgetsvm.kernels import Kernel
from budgetsvm.maintenance import Maintenance
from budgetsvm.solvers import Solver


@dataclass(frozen=True)
class Settings:
    """How to learn: the checked options of an estimator."""

    kernel: Kernel
    solver: Solver
    maintenance: Maintenance
    budget: int | None
    intercept: bool = False  #: whether the model has a bias
    n_threads: int = 1


@dataclass(frozen=True)
class Plan:
    """How long phase 1 lasts."""

    visits: int  #: at most
    adapt: bool = False  #: whether a trial decides on how to go on; see `OutputTrainer.learn_basis`
    done: int = 0  #: visits of earlier calls, for the step size of BSGD
    until: float = inf  #: a value of the clock at which to stop
    #: Visits after which an epoch that has learned little is the last one; None: all are made in any case.
    enough: int | None = None

    @property
    def tries(self) -> bool:
        """Whether there is a trial: longer training makes good terms where a shorter one had better be cautious."""
        return self.adapt and self.enough is None

"""How terms are learned."""

from dataclasses import dataclass

from budgetsvm.kernels import Kernel
from budgetsvm.maintenance import Maintenance
from budgetsvm.solvers import Solver


@dataclass(frozen=True)
class Settings:
    """How to train: the checked options of an estimator."""

    kernel: Kernel
    solver: Solver
    maintenance: Maintenance
    budget: int | None

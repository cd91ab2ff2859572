"""How terms are learned, and for how long."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from budgetsvm._problem.targets import Outputs
from budgetsvm.kernels import Kernel
from budgetsvm.maintenance import Maintenance
from budgetsvm.monitoring._observer import Phase
from budgetsvm.solvers import Solver

_PLAIN_EPOCHS = 5
_FEWEST_VISITS_PER_TERM, _MOST_VISITS = 20, 1_000_000
_TRIAL_VISITS_PER_TERM = 40


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

    visits: int
    adapt: bool = False  #: whether a trial decides on how to go on; see `OutputTrainer.learn_basis`
    done: int = 0  #: visits of earlier calls, for the step size of BSGD
    until: float = inf  #: a value of the clock at which to stop

    def trial(self, budget: int | None) -> int:
        """Return how many of the visits make up the trial."""
        return min(self.visits, _TRIAL_VISITS_PER_TERM * budget) if budget else self.visits

    def most_epochs(self, outputs: Outputs, budget: int | None) -> int:
        """Return how many epochs this takes at most."""
        n, several = len(outputs), outputs.count > 1
        trial = self.trial(budget) if self.adapt and not several else self.visits
        epochs = -(-trial // n) - (-(self.visits - trial) // n)
        return epochs * outputs.count if budget is None else epochs

    def phase(self, outputs: Outputs, budget: int | None) -> Phase:
        """Return what observers are told at the beginning."""
        each = outputs.count if budget is None else 1
        return Phase("learn", self.visits * each, self.most_epochs(outputs, budget))


def visits_of_epochs(epochs: float | Literal["auto"], n: int, budget: int, *, polish: bool) -> int:
    """Return how many visits phase 1 makes.

    Before a polish, two epochs: more make better terms, but slowly (docs/theory.md has the figures).
    A few visits per term are needed in any case, and a million are enough for any number of rows.
    """
    if epochs != "auto":
        return max(1, round(epochs * n))
    if not polish:
        return _PLAIN_EPOCHS * n
    fewest = _FEWEST_VISITS_PER_TERM * budget
    return min(max(2 * n, fewest), max(_MOST_VISITS, fewest))

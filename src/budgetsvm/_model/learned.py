"""What phase 1 leads to, and how it got there."""

from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from budgetsvm._model.expansion import KernelExpansion


class Counts(NamedTuple):
    """What some visits came to, as the core counts it."""

    steps: float = 0.0  #: visits that changed the model
    violations: float = 0.0  #: visits with a loss
    mistakes: float = 0.0  #: visits with the wrong sign, before the step
    merges: float = 0.0  #: runs of budget maintenance
    degradation: float = 0.0  #: sum of the ‖Δw‖² that maintenance caused
    loss: float = 0.0  #: sum of the losses at the visits, before the step
    lost: float = 0.0  #: sum over the runs of maintenance, of the share of a step that they cost

    def plus(self, other: "Counts") -> "Counts":
        """Return the counts of these visits and others."""
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


class EpochRecord(TypedDict):
    """What happened in one epoch."""

    visits: int  #: training points looked at
    steps: int  #: visits that changed the model
    violations: int  #: visits with a loss, e.g. with a margin below 1
    mistakes: int  #: visits with the wrong sign, before the step: the error so far
    merges: int  #: runs of budget maintenance
    degradation: float  #: sum of the ‖Δw‖² that maintenance caused
    loss: float  #: mean loss at the visits, before the step
    size: int  #: terms at the end
    seconds: float


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, and the visits and epochs that led to it."""

    model: KernelExpansion
    visits: int
    epochs: int
    history: list[EpochRecord]

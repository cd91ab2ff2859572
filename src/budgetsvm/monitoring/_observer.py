"""One interface for all who follow a fit: progress bars, early stopping, monitors, scikit-learn's callbacks.

First what they get to see, then the interface, then many as one.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from sys import maxsize
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypedDict

from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Phase:
    """A phase that begins."""

    #: "exact" is a try to do without both others; whoever follows the fit of a model sees nothing of it
    name: Literal["learn", "exact", "polish"]
    visits: int = 0  #: that are to be made, in phase 1
    most_epochs: int | None = None  #: that these take
    has_classes: bool = False  #: that a model can be wrong about
    solved: bool = False  #: all has been done before


@dataclass(frozen=True, eq=False)
class LearnMoment:
    """Phase 1 at one moment; what takes a copy of the model is a function, as few want to see it."""

    visits: int  #: since the moment before
    counts: Counts  #: what these came to
    size: int  #: terms of the model
    learned: (
        Callable[[], Learned] | None
    )  #: the state, as if training ended now; None: no model yet
    alpha: Callable[[], NDArray[Any]] | None  #: the dual variables


@dataclass(frozen=True, eq=False)
class PolishMoment:
    """Phase 2 at one moment."""

    gap: float  #: the relative duality gap; of several outputs, their geometric mean
    passes: int  #: over all rows
    objective: tuple[float, float] | None = None  #: P and D; None: not known of all outputs
    #: the model and the dual variables, where P and D are known
    state: Callable[[], tuple[KernelExpansion, NDArray[Any] | None]] | None = None
    last: bool = (
        False  #: this is the model that is kept; its bias may have changed where P does not mind
    )


class FitObserver:
    """Follows a fit. Every method may do nothing."""

    paused: float = 0.0  #: seconds that it took and that shall not count

    def begin_phase(self, phase: Phase) -> None:
        """Hear that a phase begins."""

    def end_phase(self, phase: Phase) -> None:
        """Hear that a phase has done its work."""

    def leave_phase(self) -> None:
        """Hear that a phase is over, if by an exception, too."""

    def visits_until_look(self, batch: int) -> int:  # noqa: ARG002
        """Return after how many visits it wants to look at phase 1; `batch` are visited at once."""
        return maxsize

    def begin_epoch(self, moment: LearnMoment) -> None:
        """Hear that an epoch of phase 1 begins."""

    def after_visits(self, moment: LearnMoment) -> None:
        """Look at phase 1 after some visits."""

    def end_epoch(self, moment: LearnMoment) -> bool:  # noqa: ARG002
        """Look at phase 1 after an epoch; returns whether it is to be the last."""
        return False

    def end_learning(self, moment: LearnMoment) -> None:
        """Look at what phase 1 led to."""

    def in_polish(self, moment: PolishMoment) -> None:
        """Look at phase 2, whenever it has got on."""

    def expect(self, tasks: Mapping[str, float]) -> None:
        """Hear what is to come in this phase after the present task, with a guess of the seconds each takes."""

    def in_task(self, name: str, share: float = 0.0) -> None:
        """Hear which task is being done, and which share of it is; maybe in another thread."""


class Observers(FitObserver):
    """Several observers, as one."""

    def __init__(self, *members: FitObserver) -> None:
        self._members = members

    def joined_by(self, other: FitObserver) -> "Observers":
        """Return these observers, and before them another one."""
        return Observers(other, *self._members)

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """Tell all about a phase; all that happens in this context is part of it."""
        try:
            for member in self._members:
                member.begin_phase(phase)
            yield
            for member in self._members:
                member.end_phase(phase)
        finally:
            for member in self._members:
                member.leave_phase()

    def clock(self) -> float:
        """Return a perf_counter that stands still while an observer looks whose time shall not count."""
        return perf_counter() - sum(member.paused for member in self._members)

    def visits_until_look(self, batch: int) -> int:
        """Return after how many visits the first of them wants to look."""
        return min((m.visits_until_look(batch) for m in self._members), default=maxsize)

    def begin_epoch(self, moment: LearnMoment) -> None:
        """Tell all."""
        for member in self._members:
            member.begin_epoch(moment)

    def after_visits(self, moment: LearnMoment) -> None:
        """Tell all."""
        for member in self._members:
            member.after_visits(moment)

    def end_epoch(self, moment: LearnMoment) -> bool:
        """Tell all; returns whether one of them wants this epoch to be the last."""
        wants = [member.end_epoch(moment) for member in self._members]
        return any(wants)

    def end_learning(self, moment: LearnMoment) -> None:
        """Tell all."""
        for member in self._members:
            member.end_learning(moment)

    def in_polish(self, moment: PolishMoment) -> None:
        """Tell all."""
        for member in self._members:
            member.in_polish(moment)

    def expect(self, tasks: Mapping[str, float]) -> None:
        """Tell all."""
        for member in self._members:
            member.expect(tasks)

    def in_task(self, name: str, share: float = 0.0) -> None:
        """Tell all."""
        for member in self._members:
            member.in_task(name, share)


class WorkOnly(FitObserver):
    """Lets another one hear of the work that is done, and see nothing of what it leads to."""

    def __init__(self, other: FitObserver) -> None:
        self.expect, self.in_task = other.expect, other.in_task  # type: ignore[method-assign]


#: For a fit that nobody follows.
NOBODY = Observers()

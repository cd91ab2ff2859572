"""Progress bars of both phases: how the model is doing, percent, time passed and time left."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from time import perf_counter
from typing import Any

from budgetsvm._common.progress.bars import Progress
from budgetsvm._common.progress.forecast import Forecast
from budgetsvm.monitoring._observer import Counts, FitObserver, LearnMoment, Phase, PolishMoment

_LABELS = {"learn": "training", "exact": "solving exactly", "polish": "polishing"}
_VISITS = "visits"  # the task of phase 1


class ProgressBar(FitObserver):
    """Shows how far a fit is: by visits in phase 1, by what the tasks of phase 2 say of themselves."""

    def __init__(self, *, clock: Callable[[], float] = perf_counter, alone: bool = True) -> None:
        """Draw by itself if `alone`."""
        self._clock, self._alone = clock, alone
        self._forecast = Forecast(clock)
        self.bar: Progress | None = None
        self._phase = Phase("learn")
        self._visits, self._counts = 0, Counts()  # in this epoch
        self._all_visits = 0

    def begin_phase(self, phase: Phase) -> None:
        """Show a new bar."""
        self._phase, self._all_visits = phase, 0
        if phase.solved:
            return
        self._forecast = Forecast(self._clock)
        if phase.name == "learn":
            self._forecast.at(_VISITS)
        label = _LABELS[phase.name]
        self.bar = Progress(label, self._left, clock=self._clock, alone=self._alone)

    def end_phase(self, phase: Phase) -> None:  # noqa: ARG002
        """Let the bar say that all is done."""
        self._close(done=True)

    def leave_phase(self) -> None:
        """Close the bar where something went wrong."""
        self._close(done=False)

    def begin_epoch(self, moment: LearnMoment) -> None:  # noqa: ARG002
        """Count errors anew."""
        self._visits, self._counts = 0, Counts()

    def after_visits(self, moment: LearnMoment) -> None:
        """Advance, and show the size of the model and its errors in this epoch."""
        if self.bar is None:
            return
        self._visits += moment.visits
        self._all_visits += moment.visits
        self._counts = self._counts.plus(moment.counts)
        if self._phase.has_classes:
            quality = f"{100 * self._counts.mistakes / self._visits:.1f}% wrong"
        else:
            quality = f"loss {self._counts.loss / self._visits:.3g}"
        self.bar.say(f"{moment.size} terms, {quality}")
        if self._phase.visits:
            self._forecast.at(_VISITS, self._all_visits / self._phase.visits)

    def expect(self, tasks: Mapping[str, float]) -> None:
        """Take down what is to come."""
        self._forecast.expect(tasks)

    def in_task(self, name: str, share: float = 0.0) -> None:
        """Advance."""
        self._forecast.at(name, share)

    def in_polish(self, moment: PolishMoment) -> None:
        """Show the gap."""
        if self.bar is not None:
            self.bar.say(f"gap {moment.gap:.2g}")

    def _left(self) -> float | None:
        """Return the seconds to come."""
        return self._forecast.left()

    def _close(self, *, done: bool) -> None:
        if self.bar is not None:
            self.bar.close(done=done)
        self.bar = None


class StreamBar(ProgressBar):
    """One bar for all blocks of a stream; of how many, nobody may know."""

    def __init__(self, n_blocks: int | None, **named: Any) -> None:
        super().__init__(**named)
        self._n_blocks, self._blocks = n_blocks, 0
        super().begin_phase(Phase("learn"))

    def begin_phase(self, phase: Phase) -> None:
        """Go on with the bar: this is but a block."""
        self._phase = replace(phase, visits=0)

    def end_phase(self, phase: Phase) -> None:  # noqa: ARG002
        """Count the block."""
        self._blocks += 1
        if self._n_blocks:
            self._forecast.at(_VISITS, self._blocks / self._n_blocks)

    def leave_phase(self) -> None:
        """Go on with the bar."""

    def close(self, *, done: bool) -> None:
        """End the bar."""
        self._close(done=done)

    def _left(self) -> float | None:
        return self._forecast.left() if self._n_blocks else None


# Not an attribute of the machine: it is a matter of one call.
_current: ContextVar[ProgressBar | None] = ContextVar("_current", default=None)


def current_bar() -> ProgressBar:
    """Return the bar of this call, as of a stream that is being read, or a new one."""
    return _current.get() or ProgressBar()


@contextmanager
def shown_on(bar: ProgressBar) -> Iterator[None]:
    """Show fits on a bar of one's own."""
    token = _current.set(bar)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def one_bar(blocks: Iterable[Any]) -> Iterator[None]:
    """Show what is learned of all these blocks on one bar."""
    bar = StreamBar(len(blocks) if isinstance(blocks, Sized) else None)
    done = False
    try:
        with shown_on(bar):
            yield
        done = True
    finally:
        bar.close(done=done)

"""Progress bars of both phases: percent, time left, and how the model is doing."""

import math

from budgetsvm._common.progress import Progress
from budgetsvm.monitoring._observer import Counts, FitObserver, LearnMoment, Phase, PolishMoment

_PERCENT = 100


class ProgressBar(FitObserver):
    """Shows how far a fit is: visits in phase 1, powers of ten of the duality gap in phase 2."""

    def __init__(self, tol: float) -> None:
        self._tol = min(tol, 0.5)
        self._bar: Progress | None = None
        self._visits, self._counts = 0, Counts()  # in this epoch
        self._percent = 0

    def begin_phase(self, phase: Phase) -> None:
        """Show a new bar."""
        learning, self._percent = phase.name == "learn", 0
        label, total = ("training", phase.visits) if learning else ("polishing", _PERCENT)
        self._bar = Progress(label, total)

    def leave_phase(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None

    def begin_epoch(self, moment: LearnMoment) -> None:  # noqa: ARG002
        """Count errors anew."""
        self._visits, self._counts = 0, Counts()

    def after_visits(self, moment: LearnMoment) -> None:
        """Advance, and show the size of the model and its errors in this epoch."""
        if self._bar is None:
            return
        self._visits += moment.visits
        self._counts = self._counts.plus(moment.counts)
        error = 100 * self._counts.mistakes / self._visits
        self._bar.advance(moment.visits, size=str(moment.size), error=f"{error:.2f}%")

    def in_polish(self, moment: PolishMoment) -> None:
        """Advance as far as the gap has come down, from 1 to tol."""
        if self._bar is None:
            return
        share = math.log(min(max(moment.gap, self._tol), 1.0)) / math.log(self._tol)
        percent = max(int(_PERCENT * share), self._percent)
        self._bar.advance(percent - self._percent, gap=f"{moment.gap:.2g}")
        self._percent = percent

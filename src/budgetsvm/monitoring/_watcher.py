"""Shows a fit to a monitor at the right moments, and keeps the time that this takes apart."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.monitoring._interface import Monitor, View

#: Gives the model and α as they are now; a function, because they are copied only for a look.
State: TypeAlias = Callable[[], tuple[KernelExpansion, NDArray[Any] | None]]


class Watcher:
    """Counts what phase 1 does, and lets a monitor look."""

    def __init__(
        self,
        monitor: Monitor,
        machine: Callable[[KernelExpansion], Any],
        started: float,
    ) -> None:
        self._monitor = monitor
        self._machine = machine
        self._started = started
        self._paused = 0.0
        self._counts = np.zeros(6)
        self._visits = 0
        self._seen = -1  # visits of the last look in phase 1
        self._objective = (np.nan, np.nan)  # P and its lower bound at the last look in the polish
        self._next = monitor.next_visit(0)

    def clock(self) -> float:
        """Return a perf_counter that stands still while the monitor looks."""
        return perf_counter() - self._paused

    @contextmanager
    def _pause(self) -> Iterator[float]:
        """Time that does not count; gives the seconds of the fit so far."""
        start = perf_counter()
        try:
            yield start - self._paused - self._started
        finally:
            self._paused += perf_counter() - start

    def until_next(self, batch: int) -> int:
        """Return how many visits to make before the next look."""
        visits = max(1, self._next - self._visits)
        return -(-visits // batch) * batch if self._monitor.aligned else visits

    def after_visits(self, visits: int, counts: NDArray[np.float64], state: State) -> None:
        """Count; `state` gives the model and α, if it is time to look."""
        self._visits += visits
        self._counts += counts
        if self._visits >= self._next:
            self.look(state)

    def look(self, state: State) -> None:
        """Let the monitor look at phase 1, unless it just did."""
        if self._seen == self._visits:
            return
        with self._pause() as seconds:
            self._observe("learn", (0, seconds), *state())
            self._seen = self._visits
            self._next = self._monitor.next_visit(self._visits)

    def look_at_polish(self, objective: tuple[float, float], passes: int, state: State) -> None:
        """Let the monitor look at phase 2, if its model has changed; at first there is none."""
        if passes == 0 or objective == self._objective:
            return
        self._objective = objective
        with self._pause() as seconds:
            self._observe("polish", (passes, seconds), *state())

    def _observe(
        self,
        phase: Literal["learn", "polish"],
        passed: tuple[int, float],
        model: KernelExpansion,
        alpha: NDArray[Any] | None,
    ) -> None:
        steps, violations, _, merges, degradation, _ = self._counts
        view = View(
            phase=phase,
            visits=self._visits,
            passes=passed[0],
            seconds=passed[1],
            steps=int(steps),
            violations=int(violations),
            merges=int(merges),
            degradation=float(degradation),
            bound=self._objective[1],
            alpha=alpha,
            model=model,
            _machine=self._machine,
        )
        self._monitor.observe(view)

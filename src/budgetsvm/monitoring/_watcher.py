"""Shows a fit to a monitor at the right moments, and keeps the time that this takes apart."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.threads import count_threads
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._interface import Monitor, TrainingData, View
from budgetsvm.monitoring._observer import Counts, FitObserver, LearnMoment, PolishMoment


@contextmanager
def watched_fit(machine: Any, problem: Problem, started: float) -> Iterator[FitObserver]:
    """Give a machine its ``monitor_``, and what lets that follow a fit while this lasts."""
    monitor = machine.monitor_ = copy(machine.monitor)
    threads = count_threads(machine.n_jobs)
    monitor.begin(TrainingData(problem.rows, problem.targets, machine._has_bias, threads))
    ending = _Ending(machine, problem)
    try:
        yield Watcher(monitor, ending, started)
    finally:
        # Views that are kept shall not see what later fits make of the machine.
        ending.machine = copy(machine)
        monitor.end()


class _Ending:
    """Ends a fit as of now: returns a copy of its machine with another model."""

    def __init__(self, machine: Any, problem: Problem) -> None:
        self.machine = machine
        self._problem = problem

    def __call__(self, model: KernelExpansion) -> Any:
        other, box = copy(self.machine), self._problem.targets.box
        other.__dict__.update(
            self.machine._ended({"_expansion": model}, self._problem.rows.X, box / box.mean())
        )
        return other


class Watcher(FitObserver):
    """Counts what phase 1 does, and lets a monitor look."""

    def __init__(self, monitor: Monitor, ending: _Ending, started: float) -> None:
        self._monitor = monitor
        self._ending = ending
        self._started = started
        self._counts = Counts()
        self._visits = 0
        self._seen = -1  # visits of the last look in phase 1
        self._objective = (np.nan, np.nan)  # P and its lower bound at the last look in the polish
        self._bias = np.empty(0)  # of the model then
        self._next = monitor.next_visit(0)

    def visits_until_look(self, batch: int) -> int:
        """Return how many visits to make before the next look."""
        visits = max(1, self._next - self._visits)
        return -(-visits // batch) * batch if self._monitor.aligned else visits

    def after_visits(self, moment: LearnMoment) -> None:
        """Count, and let the monitor look if it is time to."""
        if moment.learned is None:
            return
        self._visits += moment.visits
        self._counts = self._counts.plus(moment.counts)
        if self._visits >= self._next:
            self.end_learning(moment)

    def end_learning(self, moment: LearnMoment) -> None:
        """Let the monitor look at phase 1, unless it just did."""
        if self._seen == self._visits or moment.learned is None:
            return
        with self._pause() as seconds:
            alpha = None if moment.alpha is None else moment.alpha()
            self._show("learn", (0, seconds), moment.learned().model, alpha)
            self._seen = self._visits
            self._next = self._monitor.next_visit(self._visits)

    def in_polish(self, moment: PolishMoment) -> None:
        """Let the monitor look at phase 2, if its model has changed; at first there is none."""
        if moment.state is None or moment.objective is None:
            return
        known = moment.objective == self._objective
        if moment.passes == 0 or (known and not moment.last):
            return
        self._objective = moment.objective
        with self._pause() as seconds:
            model, alpha = moment.state()
            if not (known and np.array_equal(model.bias, self._bias)):
                self._show("polish", (moment.passes, seconds), model, alpha)
            self._bias = model.bias

    @contextmanager
    def _pause(self) -> Iterator[float]:
        """Time that does not count; gives the seconds of the fit so far."""
        start = perf_counter()
        try:
            yield start - self.paused - self._started
        finally:
            self.paused += perf_counter() - start

    def _show(
        self,
        phase: Literal["learn", "polish"],
        passed: tuple[int, float],
        model: KernelExpansion,
        alpha: NDArray[Any] | None,
    ) -> None:
        counts = self._counts
        view = View(
            phase=phase,
            visits=self._visits,
            passes=passed[0],
            seconds=passed[1],
            steps=int(counts.steps),
            violations=int(counts.violations),
            merges=int(counts.merges),
            degradation=float(counts.degradation),
            bound=self._objective[1],
            alpha=alpha,
            model=model,
            _machine=self._ending,
            objective=self._objective[0],
        )
        self._monitor.observe(view)

"""A fit that the monitor of a machine, if it has one, gets to see."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from budgetsvm._common.threads import count_threads
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._interface import TrainingData
from budgetsvm.monitoring._watcher import Watcher


@contextmanager
def watched_fit(machine: Any, problem: Problem, started: float) -> Iterator[None]:
    """Give a machine its ``monitor_``, and a watcher while this lasts."""
    machine.__dict__.pop("monitor_", None)
    if machine.monitor is None:
        yield
        return
    monitor = machine.monitor_ = copy(machine.monitor)
    threads = count_threads(machine.n_jobs)
    monitor.begin(TrainingData(problem.rows, problem.outputs, machine.fit_intercept, threads))
    ending = _Ending(machine, problem)
    try:
        machine._watcher = Watcher(monitor, ending, started)
        yield
    finally:
        machine.__dict__.pop("_watcher", None)
        # Views that are kept shall not see what later fits make of the machine.
        ending.machine = copy(machine)
        monitor.end()


class _Ending:
    """Ends a fit as of now: returns a copy of its machine with another model."""

    def __init__(self, machine: Any, problem: Problem) -> None:
        self.machine = machine
        self._problem = problem

    def __call__(self, model: KernelExpansion) -> Any:
        other = copy(self.machine)
        other.__dict__.pop("_watcher", None)
        other._expansion = model
        box = self._problem.outputs.box
        other.__dict__.update(self.machine._derived(model, self._problem.rows.X, box / box.mean()))
        return other

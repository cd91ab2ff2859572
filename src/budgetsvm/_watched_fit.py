"""A fit that the monitor of a machine, if it has one, gets to see."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any

from budgetsvm._expansion import KernelExpansion
from budgetsvm._monitor import TrainingData
from budgetsvm._threads import count_threads
from budgetsvm._training import Problem
from budgetsvm._watching import Watcher


@contextmanager
def watched_fit(machine: Any, problem: Problem, started: float) -> Iterator[None]:
    """Give a machine its ``monitor_``, and a watcher while this lasts."""
    machine.__dict__.pop("monitor_", None)
    if machine.monitor is None:
        yield
        return
    machine.monitor_ = copy(machine.monitor)
    threads = count_threads(machine.n_jobs)
    machine.monitor_.begin(
        TrainingData(problem.rows, problem.outputs, machine.fit_intercept, threads)
    )
    machine._watcher = Watcher(machine.monitor_, partial(_as_if_done, machine, problem), started)
    try:
        yield
    finally:
        del machine._watcher


def _as_if_done(machine: Any, problem: Problem, model: KernelExpansion) -> Any:
    """Return a copy of a machine with another model."""
    other = copy(machine)
    other.__dict__.pop("_watcher", None)
    other._expansion = model
    weights = problem.outputs.box / problem.outputs.box.mean()
    other.__dict__.update(machine._derived(model, problem.rows.X, weights))
    return other

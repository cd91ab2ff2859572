"""Measuring time, and recording under which circumstances.

Other work on the machine only ever makes a run slower, so the minimum of several runs estimates the
time on an idle machine. What is compared runs alternately, so that a slow minute meets all alike.
"""

import os
import platform
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import joblib
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.report.record import status
from budgetsvm import _core

# Does some work and returns the seconds that count.
Action: TypeAlias = Callable[[], float]

_PACKAGES = ("budgetsvm", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Timings:
    """The seconds of all runs of one action."""

    seconds: list[float]

    @property
    def best(self) -> float:
        """The fastest run."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The median run; far above the best one, the machine was busy."""
        return float(np.median(self.seconds))


def clock(work: Callable[[], object]) -> float:
    """Return the seconds that a piece of work takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def alternate(actions: Mapping[str, Action], repeat: int, label: str = "") -> dict[str, Timings]:
    """Run all actions in turn, `repeat` times."""
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(repeat):
        for name, action in actions.items():
            status(f"{label}: {name}, run {turn + 1} of {repeat}")
            seconds[name].append(action())
    status("")
    return {name: Timings(values) for name, values in seconds.items()}


@contextmanager
def limited_threads(n_threads: int) -> Iterator[None]:
    """Pin BLAS and OpenMP to a number of threads."""
    with threadpool_limits(n_threads):
        yield


def clock_with_threads(work: Callable[[], object], n_threads: int) -> float:
    """Return the seconds of a piece of work for which BLAS and OpenMP may use so many threads."""
    with limited_threads(n_threads):
        return clock(work)


def available_cores() -> int:
    """Return how many cores this process may use."""
    return int(joblib.cpu_count())


def load_average() -> float | None:
    """Return the number of busy processes over the last minute, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def circumstances() -> dict[str, Any]:
    """Return what a reader must know to compare times: date, machine, versions, threads."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "instruction level": _core.level(),
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
        "revision": _revision(),
        "thread pools": [_describe(pool) for pool in threadpool_info()],
        "load average": load_average(),
    }


def _describe(pool: Mapping[str, Any]) -> str:
    parts = (pool["internal_api"], pool["version"], pool.get("architecture"))
    name = " ".join(str(part) for part in parts if part)
    return f"{name} (threads: {pool['num_threads']})"


def _cpu_name() -> str:
    try:
        if platform.system() == "Darwin":
            return _output("sysctl", "-n", "machdep.cpu.brand_string")
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        return next(names, platform.machine())
    except OSError:
        return platform.processor()


def _revision() -> str | None:
    """Return the commit of the source tree, marked if files differ from it."""
    try:
        return _output("git", "describe", "--always", "--dirty", "--tags") or None
    except OSError:
        return None


def _output(*command: str) -> str:
    here = Path(__file__).parent
    return subprocess.run(
        command, cwd=here, capture_output=True, text=True, check=False
    ).stdout.strip()

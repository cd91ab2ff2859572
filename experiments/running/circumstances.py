"""Under which circumstances jobs ran: machine, versions, times, load. No names of hosts, no paths."""

import json
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from benchmarks.measuring.timing import circumstances, load_average

_LOAD_EVERY = 10.0  # seconds
_LEFT_OUT = ("thread pools", "load average")  # those of this process say nothing of the workers


class Circumstances:
    """Of one run, from now on."""

    def __init__(self, workers: int) -> None:
        self._machine = {k: v for k, v in circumstances().items() if k not in _LEFT_OUT}
        self._workers = workers
        self._start = datetime.now(UTC)
        self._loads: list[float] = []
        self._last = -_LOAD_EVERY

    def look(self) -> None:
        """Note the load from time to time; call it often."""
        if monotonic() - self._last >= _LOAD_EVERY:
            self._last = monotonic()
            load = load_average()
            self._loads += [] if load is None else [load]

    def as_dict(self) -> dict[str, Any]:
        """Return all that is to be kept."""
        loads = self._loads
        return {
            "start": self._start.isoformat(timespec="seconds"),
            "end": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": self._machine,
            "workers": self._workers,
            "load": {"least": min(loads), "median": float(np.median(loads)), "most": max(loads)}
            if loads
            else None,
        }


def earlier_runs(path: Path) -> list[dict[str, Any]]:
    """Read the runs that a file tells of; none, if it cannot be read."""
    try:
        runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return runs

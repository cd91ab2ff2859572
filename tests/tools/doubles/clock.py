"""A clock that the load of the machine does not concern."""

import sys
from itertools import count
from time import perf_counter

import pytest


def let_time_pass_by_looking(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let every look of the package at its clock take so many seconds, and nothing else any."""
    looks = count()

    def clock() -> float:
        return next(looks) * seconds

    for name, module in list(sys.modules.items()):
        if name.startswith("budgetsvm.") and getattr(module, "perf_counter", None) is perf_counter:
            monkeypatch.setattr(module, "perf_counter", clock)

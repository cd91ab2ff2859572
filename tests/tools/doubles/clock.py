"""A clock that no other work on the machine makes faster."""

import pkgutil
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import count
from time import perf_counter

import pytest

import budgetsvm


def let_time_pass_by_looking(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let every look of the package at its clock take so many seconds, and nothing else any."""
    _import_all()  # modules that a fit imports on its way would have the real clock
    looks = count()

    def clock() -> float:
        return next(looks) * seconds

    for name, module in list(sys.modules.items()):
        if name.startswith("budgetsvm.") and getattr(module, "perf_counter", None) is perf_counter:
            monkeypatch.setattr(module, "perf_counter", clock)


@cache
def _import_all() -> None:
    for found in pkgutil.walk_packages(budgetsvm.__path__, "budgetsvm."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):  # extras that are not installed
                import_module(found.name)

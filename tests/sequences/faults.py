"""Exceptions in the middle of a call, wherever one may come from."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

import budgetsvm
from budgetsvm import _core
from budgetsvm.monitoring import Monitor

_PACKAGE = str(Path(budgetsvm.__file__).parent)
_NEVER = 10**12


class Injected(BaseException):
    """What is thrown, unless it is a KeyboardInterrupt; nobody can mistake it for something else."""


@dataclass(frozen=True)
class Fault:
    """An exception at the `count`-th event in a call.

    Events: calls of the compiled core, lines of the package's Python code, observations of a monitor,
    calls of a Python kernel, blocks of a stream.
    """

    where: Literal["core", "line", "monitor", "kernel", "blocks"]
    count: int
    interrupt: bool = True

    def harmless(self) -> "Fault":
        """Return the same that never comes; the monitor is there nevertheless."""
        return replace(self, count=_NEVER)


class Fuse:
    """Counts events, and throws when the time has come."""

    def __init__(self, fault: Fault | None) -> None:
        self.fault = fault
        self.left = _NEVER if fault is None else fault.count
        self.error: BaseException | None = None

    @property
    def fired(self) -> bool:
        """Whether the exception was thrown."""
        return self.error is not None

    def burn(self, where: str) -> None:
        """Count an event; throws once."""
        if self.fired or self.fault is None or self.fault.where != where:
            return
        self.left -= 1
        if self.left <= 0:
            self.error = KeyboardInterrupt() if self.fault.interrupt else Injected()
            raise self.error


_fuse = Fuse(None)  # of the call that is under way


@contextmanager
def armed(fault: Fault | None, model: Any) -> Iterator[Fuse]:
    """Let a call run into a fault; all is as before in the end."""
    global _fuse  # noqa: PLW0603 - kernels and monitors are copied and pickled: they cannot hold it
    before, _fuse = _fuse, Fuse(fault)
    try:
        if fault is None:
            yield _fuse
        else:
            with _PLACES.get(fault.where, _nowhere)(model, fault):
                yield _fuse
    finally:
        _fuse = before


@contextmanager
def _nowhere(model: Any, fault: Fault) -> Iterator[None]:
    yield


@contextmanager
def _in_the_core(model: Any, fault: Fault) -> Iterator[None]:
    """Stand between Python and the core's functions."""
    if fault.count >= _NEVER:
        yield
        return
    originals = {name: value for name, value in vars(_core).items() if callable(value)}

    def counted(function: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            _fuse.burn("core")
            return function(*arguments, **named)

        return call

    try:
        for name, function in originals.items():
            setattr(_core, name, counted(function))
        yield
    finally:
        for name, function in originals.items():
            setattr(_core, name, function)


@contextmanager
def _at_a_line(model: Any, fault: Fault) -> Iterator[None]:
    """Count the package's lines as the interpreter gets to them, as Ctrl-C would come."""
    if fault.count >= _NEVER:
        yield
        return
    over = False

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal over
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            return None
        if event == "exception" and isinstance(argument[1], ValueError | TypeError):
            over = True  # the call fails by itself: one failure is enough
        if event == "line" and not over:
            _fuse.burn("line")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def _in_a_monitor(model: Any, fault: Fault) -> Iterator[None]:
    before, model.monitor = model.monitor, FaultyMonitor()
    try:
        yield
    finally:
        model.monitor = before


_PLACES = {"core": _in_the_core, "line": _at_a_line, "monitor": _in_a_monitor}


class FaultyMonitor(Monitor):
    """Looks often, and may throw when it does."""

    def next_visit(self, visits: int) -> int:
        """Return when to look next."""
        return visits + 16

    def observe(self, view: Any) -> None:  # noqa: ARG002 - it need not look closely
        """Look at a fit."""
        _fuse.burn("monitor")


@dataclass(frozen=True)
class PythonKernel:
    """A Gaussian kernel as a Python function, which may throw."""

    gamma: float = 0.5

    def __call__(self, X: Any, Z: Any) -> Any:
        """Return the matrix of kernel values."""
        _fuse.burn("kernel")
        squares = ((X[:, np.newaxis] - Z) ** 2).sum(axis=2)
        return np.exp(-self.gamma * squares)


def faulty_blocks(blocks: Any) -> Iterator[Any]:
    """Yield blocks, unless one throws."""
    for block in blocks:
        _fuse.burn("blocks")
        yield block

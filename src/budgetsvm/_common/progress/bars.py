"""Progress bars: how the work is doing, percent, time passed and time left."""

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import exp, inf
from time import perf_counter
from typing import Any

_COLUMNS = 60  # that a line has at most
_REDRAW, _PLAIN = 0.25, 5.0  # seconds between two lines: in a terminal, and where lines stay
_MOST = 0.99  # is shown before the end
_SHOW_AFTER = 1.0  # seconds


def _is_terminal() -> bool:
    with suppress(ValueError):  # it may be closed
        return sys.stderr is not None and sys.stderr.isatty()
    return False


class Progress:
    """A bar that moves by itself: `left` says how many seconds there are to come, None: nobody knows.

    In a terminal one line is drawn again and again, elsewhere a plain one is written every few seconds. The share that is
    shown grows by what the passing time is of the time left, so that it never falls, whatever turns out.
    """

    def __init__(
        self,
        label: str,
        left: Callable[[], float | None],
        *,
        clock: Callable[[], float] = perf_counter,
        alone: bool = True,
    ) -> None:
        """Begin; `alone`, a thread of its own draws the bar."""
        self._label, self._left, self._clock = label, left, clock
        self._facts, self._share = "", 0.0
        self._start = self._last = clock()
        self._bar = _terminal_bar() if _is_terminal() else None
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._drawer: threading.Thread | None = None
        if alone and sys.stderr is not None:
            self._drawer = threading.Thread(target=self._draw_on, daemon=True)
            self._drawer.start()

    def say(self, facts: str) -> None:
        """Change what stands before the bar."""
        self._facts = facts

    def look(self) -> tuple[float, float | None]:
        """Return the share that is done, and the seconds that are left."""
        with self._lock:
            now, left = self._clock(), self._left()
            if left is not None:
                passed, self._last = now - self._last, now
                self._share = min(_MOST, 1 - (1 - self._share) * exp(-passed / (left + passed / 2)))
            return self._share, left

    def close(self, *, done: bool) -> None:
        """Draw the last line, which says that all is done if it is."""
        self._done.set()
        if self._drawer is not None:
            self._drawer.join()
        share, left = self.look()
        if done and left is not None:
            share, left = 1.0, 0.0
        self._show(share, left)
        if self._bar is not None:
            self._bar.close()

    def line(self, share: float, left: float | None) -> tuple[str, str]:
        """Return what stands before the bar, and behind it."""
        facts = f": {self._facts}" if self._facts else ":"
        passed = _clock_time(self._clock() - self._start)
        if left is None:
            return f"{self._label}{facts}", passed
        return f"{self._label}{facts} {int(100 * share):3}%", f"{passed}<{_clock_time(left)}"

    def _draw_on(self) -> None:
        interval = _PLAIN if self._bar is None else _REDRAW
        while not self._done.wait(interval):
            self._show(*self.look())

    def _show(self, share: float, left: float | None) -> None:
        before, behind = self.line(share, left)
        if self._bar is not None:
            bar = "" if left is None else "|{bar}|"
            self._bar.bar_format = f"{before}{bar} {behind}"
            self._bar.n = 100 * share
            self._bar.refresh()
        elif sys.stderr is not None:
            with suppress(OSError, ValueError):  # closed: that is no reason to end a fit
                sys.stderr.write(f"{before} {behind}\n")
                sys.stderr.flush()


def _terminal_bar() -> Any:
    from tqdm import tqdm

    size = shutil.get_terminal_size()
    columns = min(_COLUMNS, size.columns)
    return tqdm(total=100, file=sys.stderr, ncols=columns, nrows=size.lines, bar_format=" ")


def _clock_time(seconds: float) -> str:
    if seconds == inf:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def byte_bar(label: str, total: int | None, done: int = 0) -> Any:
    """Return a bar that counts bytes, and shows itself only if the work takes a while."""
    from tqdm import tqdm

    return tqdm(
        total=total,
        initial=done,
        desc=label,
        file=sys.stderr,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        delay=_SHOW_AFTER,
        mininterval=0.1 if _is_terminal() else 10.0,
        disable=sys.stderr is None,
    )


@contextmanager
def progress(
    label: str, left: Callable[[], float | None], *, shown: bool
) -> Iterator[Progress | None]:
    """Show a bar while something is done, if that is wanted; it ends at what was reached if something goes wrong."""
    bar, done = Progress(label, left) if shown else None, False
    try:
        yield bar
        done = True
    finally:
        if bar is not None:
            bar.close(done=done)

"""Progress bars: percent, time left, and how the model is doing."""

import math
import sys
from types import TracebackType
from typing import Any, Self

_FORMAT = "{desc}: {percentage:3.0f}%|{bar:24}| {elapsed}<{remaining}{postfix}"
_SHOW_AFTER = 1.0  # seconds


class Progress:
    """Counts units of work. Shows nothing unless `shown`."""

    def __init__(self, label: str, total: int, *, shown: bool) -> None:
        self._bar: Any = None
        if shown:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total,
                desc=label,
                file=sys.stderr,
                mininterval=0.1 if sys.stderr.isatty() else 10,  # do not flood a log file
                bar_format=_FORMAT,
            )

    def advance(self, units: int, **facts: str) -> None:
        """Report work done, and what is to stand behind the bar."""
        if self._bar is not None:
            self._bar.set_postfix(facts, refresh=False)
            self._bar.update(units)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


class PolishProgress(Progress):
    """Progress of the duality gap, from 1 down to tol, in powers of ten."""

    def __init__(self, tol: float, *, shown: bool) -> None:
        super().__init__("polishing", 100, shown=shown)
        self._done = 0
        self._tol = min(tol, 0.5)

    def report(self, gap: float) -> None:
        """Report the gap."""
        share = math.log(min(max(gap, self._tol), 1.0)) / math.log(self._tol)
        done = int(100 * share)
        self.advance(max(0, done - self._done), gap=f"{gap:.2g}")
        self._done = max(done, self._done)


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
        mininterval=0.1 if sys.stderr.isatty() else 10,  # do not flood a log file
    )

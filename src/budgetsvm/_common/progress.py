"""Progress bars: percent, time left, and how the model is doing."""

import sys
from typing import Any

_FORMAT = "{desc}: {percentage:3.0f}%|{bar:24}| {elapsed}<{remaining}{postfix}"
_SHOW_AFTER = 1.0  # seconds


def _interval() -> float:
    """Return the seconds between two looks at a bar: a log file is not to be flooded."""
    return 0.1 if sys.stderr is not None and sys.stderr.isatty() else 10.0


class Progress:
    """Counts units of work on a bar."""

    def __init__(self, label: str, total: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(
            total=total,
            desc=label,
            file=sys.stderr,
            mininterval=_interval(),
            disable=sys.stderr is None,
            bar_format=_FORMAT,
        )

    def advance(self, units: int, **facts: str) -> None:
        """Report work done, and what is to stand behind the bar."""
        self._bar.set_postfix(facts, refresh=False)
        self._bar.update(units)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()


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
        mininterval=_interval(),
        disable=sys.stderr is None,
    )

"""A progress bar for training: percent, time left, size of the model, error so far."""

import sys
from types import TracebackType
from typing import Any, Self


class Progress:
    """Counts visits of training points. Shows nothing unless `shown`."""

    def __init__(self, total: int, *, shown: bool, label: str = "training") -> None:
        self._bar: Any = None
        if shown:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total,
                desc=label,
                unit="visits",
                unit_scale=True,
                file=sys.stderr,
                mininterval=0.1 if sys.stderr.isatty() else 10,  # do not flood a log file
                bar_format="{desc}: {percentage:3.0f}%|{bar:24}| {elapsed}<{remaining}{postfix}",
            )

    def advance(self, visits: int, **facts: str) -> None:
        """Report visits done, and what is to stand behind the bar."""
        if self._bar is not None:
            self._bar.set_postfix(facts, refresh=False)
            self._bar.update(visits)

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

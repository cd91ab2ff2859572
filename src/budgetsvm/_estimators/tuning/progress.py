"""How far a search is: a bar with the time left."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

from budgetsvm._common.progress.bars import Progress, progress
from budgetsvm._common.progress.forecast import Forecast

_SECONDS_PER_ROW = 3e-5  # of all C of a line with some hundred terms: a guess, until the clock has something to say


class SearchProgress:
    """What a search tells of itself; nobody sees it unless there is a bar."""

    def __init__(self, ends: float) -> None:
        self.forecast, self._ends = Forecast(), ends
        self.bar: Progress | None = None

    def expect(self, tasks: Mapping[str, float]) -> None:
        """Hear what is to come, with the rows of each task."""
        self.forecast.expect({name: _SECONDS_PER_ROW * rows for name, rows in tasks.items()})

    def left(self) -> float:
        """Return the seconds that are to come, which a limit may cut short."""
        return max(min(self.forecast.left(), self._ends - perf_counter()), 1e-3)

    def at(self, name: str, share: float = 0.0) -> None:
        """Hear what is being done, and how far it is."""
        self.forecast.at(name, share)
        if self.bar is not None:
            self.bar.say(name)


@contextmanager
def search_progress(verbose: int, ends: float) -> Iterator[SearchProgress]:
    """Show a bar if that is wanted; `ends` is a value of the clock."""
    told = SearchProgress(ends)
    with progress("search", told.left, shown=verbose > 0) as told.bar:
        yield told

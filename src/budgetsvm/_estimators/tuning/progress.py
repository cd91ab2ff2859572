"""How far a search is: a bar with the time left."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from budgetsvm._common.progress.bars import Progress, progress
from budgetsvm._common.progress.forecast import Forecast


class SearchProgress:
    """What a search tells of itself; nobody sees it unless there is a bar."""

    def __init__(self) -> None:
        self.forecast = Forecast()
        self.bar: Progress | None = None

    def expect(self, tasks: Mapping[str, float]) -> None:
        """Hear what is to come, and how much work each task is beside the others."""
        self.forecast.expect(tasks)

    def at(self, name: str, share: float = 0.0) -> None:
        """Hear what is being done, and how far it is."""
        self.forecast.at(name, share)
        if self.bar is not None:
            self.bar.say(name)


@contextmanager
def search_progress(verbose: int) -> Iterator[SearchProgress]:
    """Show a bar if that is wanted."""
    told = SearchProgress()
    with progress("search", told.forecast.left, shown=verbose > 0) as told.bar:
        yield told

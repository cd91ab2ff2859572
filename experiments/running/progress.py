"""A progress bar over jobs of very different length."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from experiments.running.jobs import Job

_NEWS_EVERY = 60.0  # seconds, where there is no terminal for a bar
_MIN_COST = 1e-3


class Progress:
    """How far we are, and the time left: by the costs of jobs, and by what such jobs really took."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self._say = say
        self._clock = clock
        self._seconds: dict[Any, float] = defaultdict(float)  # by function; None: all
        self._costs: dict[Any, float] = defaultdict(float)
        self._waiting: dict[str, Job] = {}
        self._started: dict[str, float] = {}
        self._workers = 1
        self._n_jobs = 0
        self._spent = 0.0
        self._bar: Any = None
        self._last_news = 0.0

    def add(self, job: Job, seconds: float, *, counts: bool = True) -> None:
        """Note what a job took. The time of one that failed says nothing about others."""
        if counts:
            for group in (job.function, None):
                self._seconds[group] += seconds
                self._costs[group] += max(job.cost, _MIN_COST)
        if self._waiting.pop(job.name, None):
            self._spent += seconds
        self._started.pop(job.name, None)

    def expected(self, job: Job) -> float:
        """Return the seconds that a job may take.

        Its cost is a guess, which counts as much as one such job. The more jobs are done, the more they count: first
        those of the same function, then the others.
        """
        cost, rate = max(job.cost, _MIN_COST), 1.0
        for group in (None, job.function):
            rate = (self._seconds[group] + cost * rate) / (self._costs[group] + cost)
        return rate * cost

    def left(self) -> float:
        """Return the seconds that may be left for all jobs."""
        times = [self._left_of(job) for job in self._waiting.values()]
        return max(sum(times) / self._workers, *times) if times else 0.0

    def _left_of(self, job: Job) -> float:
        started = self._started.get(job.name)
        passed = 0.0 if started is None else self._clock() - started
        return max(self.expected(job) - passed, 0.0)

    @contextmanager
    def watching(self, jobs: Sequence[Job], workers: int) -> Iterator[None]:
        """Show a bar while jobs are done: on a terminal, otherwise there is a line every minute."""
        self._waiting = {job.name: job for job in jobs}
        self._n_jobs, self._workers, self._last_news = len(jobs), workers, self._clock()
        if jobs and sys.stderr.isatty():
            from tqdm import tqdm

            form = "{percentage:3.0f}% |{bar:20}| {desc}"
            self._bar = tqdm(total=1.0, bar_format=form, leave=False, dynamic_ncols=True)
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.close()

    def show(self, running: Sequence[Job]) -> None:
        """Show what is done, what is under way, and the time left."""
        now = self._clock()
        for job in running:
            self._started.setdefault(job.name, now)
        if self._bar is None:
            if now - self._last_news >= _NEWS_EVERY:
                self._last_news = now
                self._say(self.line(running))
            return
        left = self.left() * self._workers
        passed = self._spent + sum(now - start for start in self._started.values())
        self._bar.n = passed / (passed + left) if passed + left else 0.0
        self._bar.set_description_str(self.line(running))

    def line(self, running: Sequence[Job]) -> str:
        """Say it in words."""
        names = ", ".join(job.name for job in running)
        done = self._n_jobs - len(self._waiting)
        return f"{done}/{self._n_jobs} jobs, {time_text(self.left())} left; now {names}"


def time_text(seconds: float) -> str:
    """Write seconds as people say them."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

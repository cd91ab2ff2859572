"""How long some tasks will still take: by guesses at first, and by the clock as soon as it has something to say."""

from collections.abc import Callable, Mapping
from math import exp, inf
from threading import RLock
from time import perf_counter

_TRUST = 0.1  # of all guesses: what they count for beside what was measured
_TELLING = 0.15  # share of a task from which on it tells by itself how long it takes


class Forecast:
    """Follows tasks that come one after the other; any thread may call it."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._lock = RLock()
        self._ahead: dict[str, float] = {}  # seconds, as they were guessed
        self._name = ""
        self._guess = 0.0  # of the task that is being done
        self._since = clock()
        self._seen = [(self._since, 0.0)]  # when which share of it was done
        self._known = 0.0, 0.0  # of the tasks before: seconds, and guessed seconds

    def expect(self, tasks: Mapping[str, float]) -> None:
        """Hear what comes after the present task, in this order, each with a guess of its seconds."""
        with self._lock:
            self._ahead = dict(tasks)

    def at(self, name: str, share: float = 0.0) -> None:
        """Hear which task is being done, and how far it is; what stood before it in the plan was not needed."""
        with self._lock:
            if name != self._name or name in self._ahead:
                self._begin(name)
            now, (_, before) = self._clock(), self._seen[-1]
            if share > before:
                self._seen.append((now, min(share, 1.0)))

    def left(self) -> float:
        """Return the seconds that are to come: never none, and infinitely many where nothing is known yet."""
        with self._lock:
            return max(self._left_of_this() + self._pace() * sum(self._ahead.values()), 1e-3)

    def _begin(self, name: str) -> None:
        now, (seconds, guesses) = self._clock(), self._known
        if self._name:
            self._known = seconds + now - self._since, guesses + self._guess
        names = list(self._ahead)
        first = names.index(name) if name in names else -1
        self._guess = self._ahead.get(name, 0.0)
        self._ahead = {other: self._ahead[other] for other in names[first + 1 :]}
        self._name, self._since, self._seen = name, now, [(now, 0.0)]

    def _pace(self) -> float:
        """Return how many times as long as guessed things take."""
        (seconds, guesses), (last, share) = self._known, self._seen[-1]
        seconds, guesses = seconds + last - self._since, guesses + share * self._guess
        trust = _TRUST * (guesses + sum(self._ahead.values()))
        return (seconds + trust) / (guesses + trust) if guesses + trust > 0 else 1.0

    def _left_of_this(self) -> float:
        (last, share), now = self._seen[-1], self._clock()
        if share == 0 and self._guess == 0:
            known = self._known[0] > 0 or self._ahead
            return now - self._since if known else inf  # as long again as until now
        weight = min(1.0, share / _TELLING)
        guessed = _run_down(self._pace() * self._guess * (1 - share), now - last)
        if weight == 0:
            return guessed
        # By how fast the later half of it went: what came first may have been slower or faster.
        then, before = next(p for p in reversed(self._seen) if p[1] <= share / 2)
        seen = _run_down((1 - share) * (last - then) / (share - before), now - last)
        return weight * seen + (1 - weight) * guessed


def _run_down(left: float, since: float) -> float:
    """Return what is left after a while: as the clock says at first, but never nothing before the end."""
    return left * exp(-since / left) if left > 0 else 0.0

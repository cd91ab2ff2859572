"""When a computation has to stop, and what it may use."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from sys import maxsize
from time import perf_counter

from budgetsvm._common.threads import abandoned

_BASIS_SHARE = 0.02  # of the time left, for the first factorisation of many
_MULTIPLICATIONS = 1e10  # a second, of factorisations in one thread: a guess


class OutOfTime(Exception):
    """Raised in the middle of a computation whose time is up; whoever has something to show catches it."""


@dataclass(frozen=True)
class Limits:
    """When to stop, and what may be used."""

    tol: float
    max_passes: int
    deadline: float  #: a value of the clock
    memory: float  #: bytes for kernel values; how the problem is solved depends on it
    n_threads: int
    clock: Callable[[], float] = perf_counter
    room: float = inf  #: bytes that the machine has; what exceeds it is computed again and again
    #: From when on to go on only where the end is in sight; a value of the clock.
    doubtful: float = inf

    def reached(self, gap: float, passes: int) -> bool:
        """Whether a problem is solved, or has to be left as it is."""
        return gap <= self.tol or passes >= self.max_passes or self.late() or abandoned()

    def late(self) -> bool:
        """Whether the time is up."""
        return self.clock() >= self.deadline

    def most_terms(self) -> int:
        """Return how many terms there is time for, roughly."""
        left = max(0.0, self.deadline - self.clock())
        if left == inf:
            return maxsize
        return max(10, int((_BASIS_SHARE * left * _MULTIPLICATIONS) ** (1 / 3)))

    def tick(self, multiplications: float = 0.0) -> None:
        """Raise OutOfTime if the time is up, or will be after so many multiplications in one go."""
        if self.clock() + multiplications / _MULTIPLICATIONS >= self.deadline:
            raise OutOfTime

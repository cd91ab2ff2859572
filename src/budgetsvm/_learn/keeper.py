"""What phase 1 leaves of itself now and then, so that a run that was broken off can go on.

Between two calls of the core all there is of it are arrays, a few counts and a generator of random numbers. Their
record is handed to a keeper, who has it written somewhere; and who has found one gives it back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.random_states import source_like
from budgetsvm._common.records import Fields, Record
from budgetsvm.monitoring._observer import Counts, EpochRecord


class Keeper:
    """Keeps the state of phase 1. This one keeps nothing, and has found nothing."""

    @property
    def goes_on(self) -> bool:
        """Whether there is the state of a run that was broken off in phase 1."""
        return False

    def due(self) -> bool:
        """Whether it is time to keep a state."""
        return False

    def keep(self, state: Record) -> None:
        """Keep a state in the place of the one before."""

    def resume(self, read: Callable[[Fields], None]) -> None:
        """Let `read` take over the state that was found, if there is one; it complains about damage."""


@dataclass(frozen=True)
class PartKeeper(Keeper):
    """Keeps the state of a part of phase 1 beside what surrounds it."""

    whole: Keeper
    surround: Callable[[Record], Record]

    def due(self) -> bool:
        """Whether it is time to keep a state."""
        return self.whole.due()

    def keep(self, state: Record) -> None:
        """Keep the state of the part, and what surrounds it."""
        self.whole.keep(self.surround(state))


#: For a run that leaves nothing of itself.
NOTHING_KEPT = Keeper()


@dataclass(frozen=True)
class Position:
    """Where in its visits a trainer is: so far in an epoch."""

    left: int  #: visits that were to be made when the epoch began, by this run
    random: Mapping[str, Any] | None = (
        None  #: state of the bit generator then; None: it has not begun
    )
    visited: int = 0
    totals: Counts = field(default_factory=Counts)
    seconds: float = 0.0

    def record(self) -> Record:
        """Return what it is made of."""
        return {
            "left": self.left,
            "random": {"type": "Generator", "state": self.random},
            "visited": self.visited,
            "totals": np.array(self.totals),
            "seconds": self.seconds,
        }

    @classmethod
    def of_record(cls, fields: Fields, most: int, n_rows: int, rng: np.random.Generator) -> Self:
        """Make a position from its record; its generator must be like `rng`."""
        left = fields.count("left", least=1, most=most)
        source: Any = source_like(rng, fields.inside("random"))
        visited = fields.count("visited", least=1, most=min(left, n_rows))
        totals = fields.array("totals", (np.float64,), (len(Counts()),), finite=True)
        seconds = fields.number("seconds", at_least=0)
        fields.end()
        state = source.bit_generator.state
        return cls(int(left), state, int(visited), Counts(*totals.tolist()), float(seconds))


_INTEGERS = ("visits", "steps", "violations", "mistakes", "merges", "size")
_COLUMNS = tuple(EpochRecord.__annotations__)


def history_table(history: list[EpochRecord]) -> NDArray[np.float64]:
    """Return the records of epochs as rows of numbers."""
    rows = [list(one.values()) for one in history]
    return np.array(rows, np.float64).reshape(-1, len(_COLUMNS))


def read_history(fields: Fields, name: str) -> list[EpochRecord]:
    """Return the records of epochs."""
    table = fields.array(name, (np.float64,), (None, len(_COLUMNS)), finite=True)
    found: list[Any] = []
    for row in table.tolist():
        record = dict(zip(_COLUMNS, row, strict=True))
        found.append(record | {one: int(record[one]) for one in _INTEGERS})
    return found

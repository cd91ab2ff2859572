"""What can be asked of all partitions, and sums of what they say.

Sums are formed in the order of the partitions, in groups of a fixed size, here or on workers: no bit of them depends on
who forms them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GROUP = 16  # partitions, or sums of these, that are added up by one task
#: Bytes of all parts of a sum, up to which a task to add them up takes longer than to fetch them.
AT_CLIENT = 1 << 20


class Asker(ABC):
    """Asks every partition for something, and adds up what they say."""

    @abstractmethod
    def keep(
        self, what: str, function: Callable[..., Any], *columns: Iterable[Any], **common: Any
    ) -> list[Any]:
        """Begin with a function of every partition; returns futures, whose results stay where they are."""

    @abstractmethod
    def ask(
        self, what: str, function: Callable[..., Any], *columns: Iterable[Any], **common: Any
    ) -> list[Any]:
        """Return the values of a function of every partition."""

    @abstractmethod
    def total(
        self,
        what: str,
        shape: tuple[int, ...],
        function: Callable[..., Any],
        *columns: Iterable[Any],
        **common: Any,
    ) -> NDArray[np.float64]:
        """Return the sum of a function over all partitions, by a tree where it is large."""


def add_up(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sum, in the order of the parts."""
    total = np.array(parts[0])
    for part in parts[1:]:
        total += part
    return total


def sum_of(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sum of parts in the order in which a tree forms it."""
    while len(parts) > 1:
        parts = [add_up(group) for group in groups_of(parts)]
    return np.array(parts[0])


def groups_of(parts: Sequence[Any]) -> list[list[Any]]:
    """Return parts in groups of those that are added up first."""
    return [list(parts[i : i + _GROUP]) for i in range(0, len(parts), _GROUP)]

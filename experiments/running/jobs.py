"""Pieces of work whose results are kept as files, so that a run that was broken off can go on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Result: TypeAlias = dict[str, Any]  # that JSON can hold; NaN and infinity as None
#: Results by the names of their jobs.
Results: TypeAlias = Mapping[str, Result]


@dataclass(frozen=True)
class Job:
    """A function of a module, called in another process with one thread.

    A result is used again as long as name and arguments are the same.
    """

    name: str  #: also of the file, may have folders: "curves/IJCNN-bsca-500-0"
    function: Callable[..., Result]
    arguments: dict[str, Any]  #: that JSON can hold
    cost: float = 1.0  #: rough seconds, for the time left

"""What is reproduced: on which data, and how thoroughly."""

from dataclasses import dataclass

from experiments.problems import Spec


@dataclass(frozen=True)
class Scope:
    """What an experiment needs to know to list its jobs."""

    specs: tuple[Spec, ...]
    folder: str | None  #: of the data; None: they are made on the spot
    quick: bool
    seeds: int

"""A problem: rows, and what they ask of a model."""

from dataclasses import dataclass

from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import Targets


@dataclass
class Problem:
    """Rows, and what they ask of a model."""

    rows: Rows
    targets: Targets
    n_total: int = 0  #: rows that the model has seen, with earlier blocks of a stream; 0: these

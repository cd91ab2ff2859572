"""Differences with error bars: what two lists of seeds say about two solvers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import fmean, stdev

ERRORS = 2.0  #: standard errors: a difference that is not larger may be luck
RULE = f"{ERRORS:g} standard errors"


@dataclass(frozen=True)
class Difference:
    """A difference of means, and its standard error over the seeds."""

    mean: float
    error: float

    @property
    def above(self) -> bool:
        """Whether it is positive, and no luck."""
        return self.mean > ERRORS * self.error

    @property
    def below(self) -> bool:
        """Whether it is negative, and no luck."""
        return -self.mean > ERRORS * self.error

    def text(self, digits: int = 2) -> str:
        """Return it with its sign and its error."""
        return f"{self.mean:+.{digits}f} ± {self.error:.{digits}f}".replace("-", "−")


def difference(ours: Sequence[float], others: Sequence[float]) -> Difference:
    """Return what ours have more than the others, by their means."""
    return Difference(fmean(ours) - fmean(others), hypot(_error(ours), _error(others)))


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a mean; of one seed it is not known, and taken as nothing: there is nothing else."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def listed(differences: Mapping[str, Difference], digits: int = 2) -> str:
    """Return all of them, by name."""
    return ", ".join(f"{name} {value.text(digits)}" for name, value in differences.items())

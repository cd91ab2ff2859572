"""What is known of a data set: its files, how they are made ready, and what suits an SVM on it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Scaling: TypeAlias = Literal["none", "range", "standard", "bytes"]
#: Where the test rows come from: a file, a fifth of the rows at random, or the last tenth.
Split: TypeAlias = Literal["file", "fifth", "last tenth"]


@dataclass(frozen=True)
class DataFile:
    """A file of the LIBSVM data page, or one that is only found in folders."""

    name: str  #: without the suffix of a compression
    rows: int
    remote: str | None = None  #: where it is on the page
    sha256: tuple[str, ...] = ()  #: of the page's text, if known, and of copies with the same rows
    whole: tuple[str, int] | None = None  #: what it is a subset of, and the rows of that


@dataclass(frozen=True)
class Entry:
    """A data set: training rows, test rows, and how they are scaled if nothing else is asked for."""

    name: str
    n_features: int
    train: DataFile
    test: DataFile | None = None
    scaling: Scaling = "none"
    split: Split = "file"
    subset: "Entry | None" = None  #: taken if only this is at hand
    C: float | None = None  #: with this scaling and a Gaussian kernel; None if nobody has tried
    gamma: float | None = None
    epsilon: float | None = None  #: for regression, in standard deviations of the target

    @property
    def files(self) -> tuple[DataFile, ...]:
        """All files that are needed."""
        return (self.train,) if self.test is None else (self.train, self.test)

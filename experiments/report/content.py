"""What a report is made of. Experiments return it, `experiments.report.writing` writes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Cell: TypeAlias = str | int | float | None

#: What became of a claim of the paper.
Verdict: TypeAlias = Literal["held", "held in part", "did not hold", "not tested"]


@dataclass(frozen=True)
class Data:
    """Numbers, one line per observation: what goes into a CSV file."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Table:
    """A table of the report. `shown` has its cells as text, `data` the numbers behind them."""

    name: str  #: of the files
    title: str
    caption: str  #: what to look at, and what is not as in the paper
    shown: Data
    data: Data
    numbered: bool = True  #: the claims are not, so that Table 1 is that of the paper


@dataclass(frozen=True)
class Picture:
    """A figure of the report."""

    name: str  #: of the files
    title: str
    caption: str
    draw: Callable[[], Any]  #: returns a matplotlib Figure
    data: Data  #: what is drawn


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and what we saw."""

    statement: str
    where: str  #: in the paper, e.g. "section 5, Learning Performance"
    seen: str  #: our figures
    verdict: Verdict


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    title: str
    paragraphs: Sequence[str]  #: Markdown without headings: emphasis, `code`, links
    parts: Sequence[Table | Picture] = ()
    claims: Sequence[Claim] = field(default=())

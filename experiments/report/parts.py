"""The parts of a report made ready: numbered, checked, drawn."""

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from experiments.report.content import Cell, Data, Picture, Section, Table, Verdict
from experiments.report.figures import Drawing, EmptyPartError, draw
from experiments.report.forms.markup import to_plain

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_NAME = re.compile(r"[\w-]+", re.ASCII)
_NUMBER_LIKE = re.compile(r"[-+\u2212\u00b1\u2248<>\u2264\u2265~]?\s*\.?\d")
_NOTHING = ("", "-", "\N{EN DASH}", "\N{EM DASH}")


@dataclass(frozen=True)
class Ready:
    """A table or figure that can be written."""

    part: Table | Picture
    number: int | None  #: tables and figures are counted on their own; None: it has none
    drawing: Drawing | None = None  #: of a figure

    @property
    def kind(self) -> str:
        """What it is called."""
        return "Table" if self.drawing is None else "Figure"

    @property
    def label(self) -> str:
        """Its kind and number."""
        return self.kind if self.number is None else f"{self.kind} {self.number}"

    @property
    def heading(self) -> str:
        """Its title behind its number, if it has one."""
        return self.part.title if self.number is None else f"{self.label}. {self.part.title}"

    @property
    def anchor(self) -> str:
        """Its id in pages."""
        return f"{self.kind.lower()}-{self.part.name}"

    def save(self, folder: Path) -> None:
        """Write the numbers, and the figure."""
        write_csv(self.part.data, folder / "data" / f"{self.part.name}.csv")
        if self.drawing is not None:
            self.drawing.save(folder / "figures", self.part.name)


@dataclass(frozen=True)
class Chapter:
    """A section with its parts ready."""

    title: str
    anchor: str  #: its id in pages
    paragraphs: Sequence[str]
    parts: Sequence[Ready]


@dataclass(frozen=True)
class Report:
    """What is written."""

    title: str
    introduction: Sequence[str]  #: paragraphs
    sections: Sequence[Section]


def make_ready(sections: Sequence[Section]) -> list[list[Ready]]:
    """Check, count and draw the parts of each section. What is empty, or has the name of another, is an error."""
    names: set[str] = set()
    counts = {Table: 0, Picture: 0}
    found = []
    for section in sections:
        ready = []
        for part in section.parts:
            if not _NAME.fullmatch(part.name) or part.name in names:
                message = f"{part.name!r} is no name for files, or two parts have it"
                raise ValueError(message)
            names.add(part.name)
            _check(part)
            numbered = isinstance(part, Picture) or part.numbered
            counts[type(part)] += numbered
            drawing = draw(part) if isinstance(part, Picture) else None
            ready.append(Ready(part, counts[type(part)] if numbered else None, drawing))
        found.append(ready)
    return found


def _check(part: Table | Picture) -> None:
    kind = "table" if isinstance(part, Table) else "figure"
    if not part.title.strip() or not part.caption.strip():
        message = f"{kind} {part.name!r} lacks its title or its caption"
        raise EmptyPartError(message)
    if isinstance(part, Table):
        _check_data(part.shown, f"table {part.name!r}")
    _check_data(part.data, f"the CSV file of {kind} {part.name!r}")


def _check_data(data: Data, what: str) -> None:
    if not data.columns or all(_is_nothing(cell) for row in data.rows for cell in row):
        message = f"{what} is empty"
        raise EmptyPartError(message)
    for row in data.rows:
        if len(row) != len(data.columns):
            message = f"{what} has {len(data.columns)} columns, but the row {list(row)}"
            raise ValueError(message)


def _is_nothing(cell: Cell) -> bool:
    if isinstance(cell, str):
        return cell.strip() in _NOTHING
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def write_csv(data: Data, path: Path) -> None:
    """Write numbers in full precision, and nothing where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(data.columns)
        for row in data.rows:
            missing = (c is None or (isinstance(c, float) and math.isnan(c)) for c in row)
            writer.writerow("" if gone else c for gone, c in zip(missing, row, strict=True))


def cell_text(cell: Cell) -> str:
    """Write a cell that is shown; most are texts already."""
    if isinstance(cell, str):
        return cell
    if _is_nothing(cell):
        return "\N{EN DASH}"
    text = f"{cell:,.4g}" if isinstance(cell, float) else f"{cell:,}"
    return text.replace("-", "\N{MINUS SIGN}")


def number_columns(data: Data) -> list[bool]:
    """Tell which columns hold numbers, and are aligned at the right."""
    return [
        all(
            text.strip() in _NOTHING or _NUMBER_LIKE.match(text)
            for text in (to_plain(cell_text(row[place])) for row in data.rows)
        )
        for place in range(len(data.columns))
    ]

"""Tables that show themselves row by row, and are saved as JSON and Markdown."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]


def status(text: str) -> None:
    """Show what is going on in one line of a terminal; the next one replaces it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Column:
    """Where a column's values are found in a row, and how they are written."""

    title: str
    key: str
    spec: str = ""  #: as for format()
    width: int = 0  #: at least; rows come one by one, so it cannot be found from them
    left: bool = False

    def cell(self, row: Row) -> str:
        """Write a value."""
        value = row.get(self.key)
        return "–" if value is None else format(value, self.spec)

    def pad(self, text: str) -> str:
        """Align a text."""
        width = max(self.width, len(self.title))
        return text.ljust(width) if self.left else text.rjust(width)


@dataclass
class Table:
    """Rows of one measurement. They may hold more than the columns show; JSON keeps it all."""

    title: str
    columns: Sequence[Column]
    note: str = ""
    rows: list[Row] = field(default_factory=list)

    def show_head(self) -> None:
        """Print title, note and column titles."""
        head = "  ".join(column.pad(column.title) for column in self.columns)
        note = f"{self.note}\n" if self.note else ""
        print(f"\n{self.title}\n{note}\n{head}\n{'-' * len(head)}", flush=True)

    def add(self, row: Row) -> None:
        """Append a row and print it."""
        self.rows.append(row)
        status("")
        print("  ".join(column.pad(column.cell(row)) for column in self.columns), flush=True)

    def markdown(self) -> str:
        """Return the table in Markdown, aligned for readers of the source as well."""
        cells = [[column.title for column in self.columns]]
        cells += [[column.cell(row) for column in self.columns] for row in self.rows]
        widths = [max(3, *(len(line[i]) for line in cells)) for i in range(len(self.columns))]
        rule = [
            f":{'-' * (w - 1)}" if c.left else f"{'-' * (w - 1)}:"
            for c, w in zip(self.columns, widths, strict=True)
        ]
        lines = [self._markdown_line(line, widths) for line in [cells[0], rule, *cells[1:]]]
        note = [self.note, ""] if self.note else []
        return "\n".join([f"## {self.title}", "", *note, *lines, ""])

    def _markdown_line(self, texts: Sequence[str], widths: Sequence[int]) -> str:
        padded = (
            text.ljust(width) if column.left else text.rjust(width)
            for column, text, width in zip(self.columns, texts, widths, strict=True)
        )
        return f"| {' | '.join(padded)} |"


@dataclass
class Record:
    """All that one run of the benchmarks found out."""

    circumstances: dict[str, Any]
    options: dict[str, Any]
    missing: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def table(self, title: str, columns: Sequence[Column], note: str = "") -> Table:
        """Begin a table."""
        table = Table(title, columns, note)
        self.tables.append(table)
        table.show_head()
        return table

    def check(self, passed: bool, message: str) -> None:
        """Note a wrong answer. The run goes on: the other figures are worth having."""
        if not passed:
            self.failures.append(message)
            print(f"  WRONG: {message}", flush=True)

    def target(self, met: bool, message: str) -> str:
        """Return how a target is marked in its row; one that was missed is listed at the end, too."""
        if met:
            return "ok"
        self.misses.append(message)
        return "MISSED"

    def save(self, folder: Path) -> None:
        """Write results.json and results.md."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self._as_dict(), indent=1, ensure_ascii=False)
        (folder / "results.json").write_text(f"{text}\n", encoding="utf-8")
        (folder / "results.md").write_text(self._markdown(), encoding="utf-8")

    def _as_dict(self) -> dict[str, Any]:
        return {
            "circumstances": self.circumstances,
            "options": self.options,
            "missing": self.missing,
            "failures": self.failures,
            "misses": self.misses,
            "tables": [{"title": t.title, "note": t.note, "rows": t.rows} for t in self.tables],
        }

    def _markdown(self) -> str:
        parts = ["# Benchmark results", "", *bullets(self.circumstances), ""]
        lists = {
            "Missing": self.missing,
            "Wrong answers": self.failures,
            "Missed targets": self.misses,
        }
        for title, items in lists.items():
            if items:
                parts += [f"## {title}", "", *(f"- {item}" for item in items), ""]
        return "\n".join([*parts, *(table.markdown() for table in self.tables)])


def bullets(entries: Mapping[str, Any]) -> list[str]:
    """Write names and values as a list."""
    texts = (
        (name, "; ".join(value) if isinstance(value, list) else value)
        for name, value in entries.items()
    )
    return [f"- {name}: {text}" for name, text in texts]

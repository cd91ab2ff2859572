"""What the data sets are, and how they were made ready."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from experiments.problems import load
from experiments.report.content import Data, Table
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope


def jobs(scope: Scope) -> list[Job]:
    """Return a job per data set."""
    return [
        Job(_name(spec.name), describe, {"name": spec.name, "folder": scope.folder}, 2.0)
        for spec in scope.specs
    ]


def describe(name: str, folder: str | None) -> Result:
    """Count rows and features, and return the notes of whoever loaded them."""
    problem = load(name, folder)
    return {
        "rows": len(problem.y),
        "test_rows": len(problem.y_test),
        "features": problem.X.shape[1],
        "positive": float((problem.y > 0).mean()),
        "notes": {key: _text(value) for key, value in problem.notes.items()},
    }


def table(scope: Scope, results: Results) -> list[Table]:
    """Return a table of the data sets; none, if none could be loaded."""
    found = {spec: results[_name(spec.name)] for spec in scope.specs if _name(spec.name) in results}
    if not found:
        return []
    columns = ("data", "rows", "test rows", "features", "positive", "C", "γ", "notes")
    counts = [
        (spec.name, r["rows"], r["test_rows"], r["features"], r["positive"], spec.C, spec.gamma)
        for spec, r in found.items()
    ]
    notes = ["; ".join(f"{k}: {v}" for k, v in r["notes"].items()) for r in found.values()]
    shown = [
        (*row[:4], f"{100 * row[4]:.1f} %", f"{row[5]:g}", f"{row[6]:g}", note)
        for row, note in zip(counts, notes, strict=True)
    ]
    rows = [(*row, note) for row, note in zip(counts, notes, strict=True)]
    caption = "Rows and features as they were used, the share of positive labels, and how the rows came about."
    return [Table("data-sets", "Data sets", caption, Data(columns, shown), Data(columns, rows))]


def _name(data: str) -> str:
    return f"data-notes/{data}"


def _text(value: Any) -> str:
    """Write a note. Of paths only the last part: the others are the reader's own business."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(part) for part in value)
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return PurePath(text).name if PurePath(text).is_absolute() else text

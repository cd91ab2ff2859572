"""The table: one line for each data set, scores of all machines on the same rows."""

import os
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.measuring.timing import load_average
from benchmarks.report.record import Column, Record, status
from benchmarks.tuned.data import Table, tables
from benchmarks.tuned.machines import MACHINES, RELEVANT, TIME_LIMIT, TREES, TUNED, UNTUNED

_NEAR = 1.0  # point
_MOST_NEAR, _MOST_AHEAD = 6, 3  # data sets, of nine
_TIE = 0.2  # points below the defaults that are chance
_COLUMNS = (
    Column("data", "data", width=9, left=True),
    Column("rows", "rows", width=7),
    Column("features", "features"),
    *(Column(name, name, ".2f") for name in MACHINES),
    Column("C", "C", ".3g"),
    Column("gamma", "gamma", ".3g"),
    Column("terms", "terms", width=6),
    Column("s", "seconds", ".0f", width=4),
    Column("", "verdict", width=6, left=True),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    f'100 × accuracy, or R² of CADATA and ABALONE, on rows held out. tuned: C="tune", gamma="tune", budget="auto", time_limit={TIME_LIMIT:g}, on all rows; untuned: all '
    f"defaults, on all rows; both and SVC behind a StandardScaler. relevance: tuned behind a RelevanceScaler, {TIME_LIMIT:g} s for both. SVC: on 10,000 rows, C and gamma by three folds of 2,500 of "
    "them (5 × 5). XGBoost, LightGBM: their defaults, on all rows. C, gamma, terms: those of the tuned machine. s: the seconds that it took."
)


def run(record: Record) -> None:
    """Compare all machines on all data sets that are at hand."""

    def missing(text: str) -> None:
        record.missing.append(text)
        print(f"MISSING: {text}")

    shown, rows = record.table("Tuned", _COLUMNS, _NOTE), []
    for table in tables(Path(os.environ.get("BUDGETSVM_DATA", "")), missing):
        row = measure(table)
        lost = row[UNTUNED] - row[TUNED]
        words = f"{table.name}: tuned {row[TUNED]:.2f}, untuned {row[UNTUNED]:.2f}"
        row["verdict"] = record.target(lost <= _TIE, words)
        shown.add(row)
        rows.append(row)
    if len(rows) > 1:
        _summarise(record, rows)


def measure(table: Table) -> dict[str, Any]:
    """Return the scores of all machines."""
    row: dict[str, Any] = {
        "data": table.name,
        "rows": len(table.y),
        "features": table.X.shape[1],
        "load": load_average(),
    }
    for name, fit in MACHINES.items():
        status(f"{table.name}: {name}")
        begun = perf_counter()
        machine = fit(table)
        seconds = perf_counter() - begun
        row[name] = 100 * machine.score(table.X_test, table.y_test)
        if name == TUNED:
            own = machine[-1]
            row |= {"seconds": seconds, "terms": len(own.support_vectors_)}
            row |= {"C": own.C_, "gamma": own.kernel_.gamma}
    return row


def _summarise(record: Record, rows: list[dict[str, Any]]) -> None:
    """Say on how many data sets tuned machines are near the better boosted tree, or ahead of it."""
    whole = len(rows) / 9
    for name in (TUNED, RELEVANT):
        leads = [row[name] - max(row[tree] for tree in TREES) for row in rows]
        near, ahead = sum(lead >= -_NEAR for lead in leads), sum(lead > 0 for lead in leads)
        words = f"{name}: within {_NEAR:g} point of the better tree on {near} of {len(rows)}, ahead on {ahead}"
        if name == RELEVANT:
            record.target(near >= _MOST_NEAR * whole and ahead >= _MOST_AHEAD * whole, words)
        print(words)

"""How the cost of a fit grows with the rows, the budget and the features: seconds and memory."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.fresh import sizes
from benchmarks.fresh.call import call
from benchmarks.measuring.timing import load_average
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record, Row, Table, status

TITLE, EXPONENTS_TITLE = "Growth", "Growth: exponents"
PARTS = {"seconds": "whole fit", "phase_one": "phase 1", "rest": "the rest"}
_BASE = {"n": 30_000, "B": 500, "d": 20}
_SERIES = {
    "n": (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    "B": (50, 100, 200, 500, 1000, 2000),
    "d": (5, 20, 80, 320, 800),
}
_MANY_ROWS, _MOST_EXPONENT = 100_000, 1.05
_MEMORY_LIMIT, _MEMORY_ROWS = 64e6, (200_000, 600_000)
_MOST_BYTES_PER_ROW = 128  # sixteen numbers: dual variables, margins, labels, bounds and the like
_PATIENCE = 1800.0
_COLUMNS = (
    Column("series", "series", left=True),
    Column("n", "n", width=7),
    Column("B", "B", width=4),
    Column("d", "d", width=3),
    Column("s/fit", "seconds", ".3f", width=7),
    *(Column(PARTS[part], part, ".3f", width=7) for part in ("phase_one", "rest")),
    Column("runs", "runs"),
    Column("terms", "terms"),
    Column("accuracy", "score", ".2%"),
    Column("peak MB", "peak_mb", ".0f"),
    Column("load", "load", ".1f", width=4),
)
_EXPONENT_COLUMNS = (
    Column("series", "series", left=True),
    Column("from", "first", width=6),
    Column("to", "last", width=7),
    *(Column(title, f"{part}_exponent", ".2f") for part, title in PARTS.items()),
    Column("at most", "target"),
    Column("", "verdict", width=6, left=True),
)
_MEMORY_COLUMNS = (
    Column("n", "n", width=7),
    Column("B", "B", width=4),
    Column("s/fit", "seconds", ".2f", width=7),
    Column("data MB", "data_mb", ".0f"),
    Column("kernel MB", "kernel_mb", ".0f"),
    Column("peak MB", "peak_mb", ".0f"),
    Column("bytes per row more", "bytes_per_row", ".0f"),
    Column("at most", "target"),
    Column("", "verdict", width=6, left=True),
)
_NOTE = (
    "BudgetSVC with its defaults on synthetic data, the same problem for all n and d; threads: "
    "{threads}. Each size in a process of its own.\ns/fit: the fastest run, and its parts. accuracy: on "
    "new rows; 95 % is the best possible. peak MB: memory beyond the data."
)
_EXPONENT_NOTE = (
    "The cost grows as size to this power: least squares on the logarithms. The target is for many "
    "rows."
)
_MEMORY_NOTE = (
    f"With memory_limit = {_MEMORY_LIMIT / 1e6:.0f} MB, which all kernel values (kernel MB) would "
    "exceed. peak MB: memory beyond the data.\nIt should stay flat but for vectors with one number per "
    f"row: at most {_MOST_BYTES_PER_ROW} bytes for each row more."
)


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured: none is, as the data are made here."""
    return False


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Measure the seconds of all sizes, then the memory of two."""
    table = record.table(TITLE, _COLUMNS, _NOTE.format(threads=options.threads))
    series = {name: list(_measure(record, table, name, options)) for name in _SERIES}
    exponents = record.table(EXPONENTS_TITLE, _EXPONENT_COLUMNS, _EXPONENT_NOTE)
    for name, rows in series.items():
        exponents.add(_exponents(name, rows))
    many = _exponents("n", [row for row in series["n"] if row["n"] >= _MANY_ROWS])
    _judge_exponent(record, many)
    exponents.add(many)
    _measure_memory(record, options)


def _measure(record: Record, table: Table, name: str, options: Options) -> Iterator[Row]:
    """Measure one series: a parameter varies, the others stay."""
    for value in _SERIES[name]:
        size = {**_BASE, name: value}
        status(f"growth: {size}")
        found = call(
            sizes.measure,
            threads=options.threads,
            patience=_PATIENCE,
            repeat=options.repeat,
            **size,
        )
        row = {"series": name, **size, **found, "load": load_average()}
        table.add(row)
        record.check(row["score"] > 0.8, f"growth, {size}: accuracy {row['score']:.2%}")
        record.check(row["terms"] <= size["B"], f"growth, {size}: {row['terms']} terms")
        yield row


def _exponents(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    values = [row[name] for row in rows]
    found: dict[str, Any] = {"series": name, "first": values[0], "last": values[-1]}
    for part in PARTS:
        costs = [row[part] for row in rows]
        found[f"{part}_exponent"] = float(np.polyfit(np.log(values), np.log(costs), 1)[0])
    return found


def _judge_exponent(record: Record, row: dict[str, Any]) -> None:
    found = row["seconds_exponent"]
    row["target"] = _MOST_EXPONENT
    row["verdict"] = record.target(
        found <= _MOST_EXPONENT,
        f"a fit of n ≥ {_MANY_ROWS} rows costs n to the power of {found:.2f}, at most {_MOST_EXPONENT}",
    )


def _measure_memory(record: Record, options: Options) -> None:
    table = record.table("Growth: memory with a limit", _MEMORY_COLUMNS, _MEMORY_NOTE)
    before: Mapping[str, Any] = {}
    for n in _MEMORY_ROWS:
        size = {**_BASE, "n": n}
        status(f"growth: {size}, memory_limit={_MEMORY_LIMIT:g}")
        found = call(
            sizes.measure,
            threads=options.threads,
            patience=_PATIENCE,
            repeat=1,
            memory_limit=_MEMORY_LIMIT,
            **size,
        )
        row = {**size, **found, "kernel_mb": 4 * n * size["B"] / 1e6}
        if before and None not in (row["peak_mb"], before["peak_mb"]):
            _judge_memory(record, row, before)
        table.add(row)
        before = row


def _judge_memory(record: Record, row: dict[str, Any], before: Row) -> None:
    more = 1e6 * (row["peak_mb"] - before["peak_mb"])
    row["bytes_per_row"] = more / (row["n"] - before["n"])
    row["target"] = _MOST_BYTES_PER_ROW
    row["verdict"] = record.target(
        row["bytes_per_row"] <= _MOST_BYTES_PER_ROW,
        f"the memory limit is reached, and each row more takes {row['bytes_per_row']:.0f} bytes, "
        f"at most {_MOST_BYTES_PER_ROW}",
    )

"""A stream of two million rows, learned in one pass: memory, and accuracy against a batch fit."""

from typing import Any

import numpy as np

from benchmarks.fresh import stream_fits
from benchmarks.fresh.call import call
from benchmarks.measuring.timing import load_average
from benchmarks.options import Options
from benchmarks.report.record import Column, Record, status

_BUDGET = 500
_FEWER, _MORE = 500_000, 2_000_000
_SEEDS = 3  # of the shorter stream; the others run once
_MOST_LOST = 1.0
_MOST_GROWTH_MB = 8.0  # what allocators leave behind; the rows that are more would take 132 MB
_PATIENCE = 1800.0
_COLUMNS = (
    Column("learned", "kind", width=10, left=True),
    Column("rows", "n", width=7),
    Column("accuracy", "score", ".2%"),
    Column("lost", "lost", ".2f", width=5),
    Column("at most", "limit"),
    Column("", "verdict", width=6, left=True),
    Column("peak MB", "peak_mb", ".1f"),
    Column("growth MB", "growth_mb", ".1f"),
    Column("at most", "growth_limit"),
    Column("", "growth_verdict", width=6, left=True),
    Column("s/fit", "seconds", ".1f"),
    Column("seeds", "seeds"),
    Column("terms", "terms"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "BudgetSVC, B={budget}, on rows made while they are read; threads: {threads}. Every fit in a process of its own; the "
    "seconds include making the rows in a stream, but not in a batch.\nin a stream: fit_stream, one pass. in a batch: fit on rows held in "
    "memory, which its peak includes. lost: percentage points, against the batch; 95 % is the best possible.\n"
    "growth: of the peak, from the shorter stream to the longer."
)


def run(record: Record, options: Options) -> None:
    """Measure a batch, a shorter and a longer stream."""
    note = _NOTE.format(budget=_BUDGET, threads=options.threads)
    table = record.table("Stream", _COLUMNS, note)
    batch = _measure("in a batch", stream_fits.hold, _FEWER, 1, options)
    table.add(batch)
    seeds = min(_SEEDS, options.seeds)
    shorter = _measure("in a stream", stream_fits.learn, _FEWER, seeds, options)
    longer = _measure("in a stream", stream_fits.learn, _MORE, 1, options)
    for row in (shorter, longer):
        row["lost"], row["limit"] = 100 * (batch["score"] - row["score"]), _MOST_LOST
        row["verdict"] = record.target(
            row["lost"] <= _MOST_LOST,
            f"stream of {row['n']} rows: {row['lost']:.2f} points lost against a batch of {_FEWER}, at most "
            f"{_MOST_LOST}",
        )
        record.check(row["terms"] <= _BUDGET, f"stream of {row['n']} rows: {row['terms']} terms")
        record.check(row["visits"] == row["n"], f"{row['visits']} of {row['n']} rows were visited")
    judge_growth(record, shorter, longer)
    table.add(shorter)
    table.add(longer)


def judge_growth(record: Record, shorter: dict[str, Any], longer: dict[str, Any]) -> None:
    """Mark whether the peak stays what it is; unless nobody knows it."""
    if None in (shorter["peak_mb"], longer["peak_mb"]):
        return
    growth = longer["peak_mb"] - shorter["peak_mb"]
    longer["growth_mb"], longer["growth_limit"] = growth, _MOST_GROWTH_MB
    longer["growth_verdict"] = record.target(
        growth <= _MOST_GROWTH_MB,
        f"a stream of {longer['n']} rows takes {growth:.1f} MB more than one of {shorter['n']}, at most "
        f"{_MOST_GROWTH_MB}",
    )


def _measure(kind: str, function: Any, n: int, seeds: int, options: Options) -> dict[str, Any]:
    fits = []
    for seed in range(seeds):
        status(f"{n} rows {kind}, seed {seed + 1} of {seeds}")
        fits.append(
            call(
                function,
                threads=options.threads,
                patience=_PATIENCE,
                n=n,
                budget=_BUDGET,
                seed=seed,
            )
        )
    return {
        "kind": kind,
        "n": n,
        "score": float(np.mean([fit["score"] for fit in fits])),
        "peak_mb": fits[0][
            "peak_mb"
        ],  # of the same seed for all: it differs by some MB between seeds
        "visits": fits[0]["visits"],
        "seconds": min(fit["seconds"] for fit in fits),
        "seeds": seeds,
        "terms": max(fit["terms"] for fit in fits),
        "load": load_average(),
        "fits": fits,
    }

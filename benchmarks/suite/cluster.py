"""Training on a Dask cluster of this machine, against the ordinary fit; and rows that do not fit into memory."""

from collections.abc import Iterator
from typing import Any

from benchmarks.fresh import cluster_fits
from benchmarks.fresh.call import call
from benchmarks.measuring.timing import load_average
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record

TITLE, MEMORY = "Cluster: two workers", "Cluster: little memory"
_BUDGET, _PATIENCE = 500, 3600.0
# Two workers against one, against the ordinary fit with two threads; what P may be worse, and accuracy in points.
_FASTER, _SLOWER, _WORSE, _POINTS, _GAP = 1.4, 1.5, 1.01, 0.2, 1e-2
_LIMIT, _TIMES, _WORKERS = 512 << 20, 4, 2
# What is freed stays with the process (glibc). Where a virtual machine gives it back to its host within a second, to find it once more
# takes up to four seconds a gigabyte, which is most of a fit, and none of it ours.
_KEEPS_MEMORY = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON__MALLOC_TRIM_THRESHOLD_": str(1 << 40),
}
_COLUMNS = (
    Column("data", "data", width=8, left=True),
    Column("ordinary s", "ordinary", ".1f"),
    Column("1 worker s", "one", ".1f"),
    Column("2 workers s", "two", ".1f"),
    Column("faster than 1", "faster", ".2f"),
    Column("of ordinary", "slower", ".2f"),
    Column("", "verdict", width=6, left=True),
    Column("rounds", "rounds"),
    Column("MB sent", "sent", ".0f"),
    Column("received", "received", ".0f"),
    Column("P / P", "primal", ".4f"),
    Column("accuracy", "accuracy", ".2%"),
    Column("ordinary", "other_accuracy", ".2%"),
    Column("gap", "gap", ".4f"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    f"DaskBudgetSVC on worker processes of one thread each, with as many threads as there are where the client computes, and BudgetSVC with two threads, B = {_BUDGET}, the fastest of four fits; all "
    f"processes have imported what they need, and keep what memory they have had. P is to be at most {_WORSE} times as large, accuracy within {_POINTS} points, the gap at most {_GAP}; of "
    f"{cluster_fits.FLIGHTS}, whose rows are worth a cluster, two workers are to be {_FASTER} times as fast as one, and to take at most {_SLOWER} "
    "times as long as the ordinary fit."
)
_MEMORY_COLUMNS = (
    Column("workers", "workers"),
    Column("limit, MB", "limit", ".0f"),
    Column("rows", "rows"),
    Column("MB of rows", "size", ".0f"),
    Column("peak, MB", "peak", ".0f"),
    Column("", "verdict", width=6, left=True),
    Column("seconds", "seconds", ".0f"),
    Column("rounds", "rounds"),
    Column("gap", "gap", ".4f"),
    Column("accuracy", "accuracy", ".2%"),
)


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured."""
    return spec.name == "COVTYPE"


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Measure."""
    table = record.table(TITLE, _COLUMNS, _NOTE)
    for name in (*(problem.name for problem in problems), cluster_fits.FLIGHTS):
        table.add(_measure(record, name))
    memory = record.table(
        MEMORY, _MEMORY_COLUMNS, f"Rows of {_TIMES} times the limits of all workers."
    )
    memory.add(_little_memory(record))


def _measure(record: Record, name: str) -> dict[str, Any]:
    ordinary, one, two = (
        call(
            cluster_fits.fit,
            threads=threads,
            patience=_PATIENCE,
            variables=_KEEPS_MEMORY,
            name=name,
            budget=_BUDGET,
            workers=workers,
        )
        for workers, threads in ((0, 2), (1, 1), (2, 1))
    )
    row = {
        "data": name,
        "ordinary": ordinary["seconds"],
        "one": one["seconds"],
        "two": two["seconds"],
        "faster": one["seconds"] / two["seconds"],
        "slower": two["seconds"] / ordinary["seconds"],
        **{key: two[key] for key in ("rounds", "sent", "received", "accuracy", "gap")},
        "primal": two["primal"] / ordinary["primal"],
        "other_accuracy": ordinary["accuracy"],
        "load": load_average(),
    }
    record.check(one["primal"] == two["primal"], f"{name}: one and two workers find two models")
    points = 100 * abs(two["accuracy"] - ordinary["accuracy"])
    good = row["primal"] <= _WORSE and points <= _POINTS and two["gap"] <= _GAP
    fast = (row["faster"] >= _FASTER and row["slower"] <= _SLOWER) or name != cluster_fits.FLIGHTS
    text = (
        f"{name} on two workers: {row['faster']:.2f} times as fast as on one, {row['slower']:.2f} times as long as the "
        f"ordinary fit, P {row['primal']:.4f} times as large, {points:.2f} points apart"
    )
    row["verdict"] = record.target(good and fast, text)
    return row


def _little_memory(record: Record) -> dict[str, Any]:
    found = call(
        cluster_fits.fit_in_little_memory,
        threads=1,
        patience=_PATIENCE,
        workers=_WORKERS,
        limit=_LIMIT,
        times=_TIMES,
    )
    limit = _LIMIT / 1e6
    text = f"a worker took {found['peak']:.0f} MB, and its limit was {limit:.0f}"
    verdict = record.target(found["peak"] <= limit, text)
    size = _TIMES * _WORKERS * limit
    return {**found, "workers": _WORKERS, "limit": limit, "size": size, "verdict": verdict}

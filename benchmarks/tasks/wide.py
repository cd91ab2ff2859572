"""Wide sparse data, of 10⁵ and 10⁶ features: time, memory and the size of the file against exact SVC."""

from typing import Any

from benchmarks.fresh.call import call
from benchmarks.fresh.wide_fits import fit_wide
from benchmarks.measuring.timing import load_average
from benchmarks.options import Options
from benchmarks.report.record import Column, Record, status

_ROWS, _FEATURES = 1500, (100_000, 1_000_000)
_RUNS = 3
_MOST_TIME, _MOST_MEMORY, _MOST_FILE = 1.5, 3.0, 5.0  # times those of SVC; MB
_PATIENCE = 600.0
_COLUMNS = (
    Column("features", "n_features", width=8),
    Column("SVC CPU s", "svc_cpu", ".2f"),
    Column("CPU s", "cpu", ".2f", width=6),
    Column("ratio", "time_ratio", ".2f"),
    Column("at most", "time_limit"),
    Column("", "time_verdict", width=6, left=True),
    Column("SVC MB", "svc_mb", ".1f"),
    Column("peak MB", "peak_mb", ".1f"),
    Column("ratio", "memory_ratio", ".2f"),
    Column("at most", "memory_limit"),
    Column("", "memory_verdict", width=6, left=True),
    Column("file MB", "model_mb", ".2f"),
    Column("at most", "file_limit"),
    Column("", "file_verdict", width=6, left=True),
    Column("terms", "terms"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    f"{_ROWS} rows with 50 random entries each; BudgetSVC and SVC with their defaults, every fit in a process of its own: "
    f"the fastest of {_RUNS}. peak: by how much the fit exceeds what there was before. file: a pickle."
)


def run(record: Record, options: Options) -> None:
    """Compare fits of few rows with very many features."""
    table = record.table("Wide sparse data", _COLUMNS, _NOTE)
    for n_features in _FEATURES:
        row = {"n_features": n_features, **_measure(n_features, options), "load": load_average()}
        judge(record, row)
        table.add(row)


def judge(record: Record, row: dict[str, Any]) -> None:
    """Mark time, memory and file as within their limits, or not."""
    row["time_ratio"], row["time_limit"] = row["cpu"] / row["svc_cpu"], _MOST_TIME
    row["file_limit"] = _MOST_FILE
    case = f"{row['n_features']} features"
    row["time_verdict"] = record.target(
        row["time_ratio"] <= _MOST_TIME,
        f"{case}: {row['time_ratio']:.2f} times the time of SVC, at most {_MOST_TIME}",
    )
    row["file_verdict"] = record.target(
        row["model_mb"] <= _MOST_FILE, f"{case}: a file of {row['model_mb']:.1f} MB"
    )
    if None in (row["peak_mb"], row["svc_mb"]):
        return
    row["memory_ratio"], row["memory_limit"] = row["peak_mb"] / row["svc_mb"], _MOST_MEMORY
    row["memory_verdict"] = record.target(
        row["memory_ratio"] <= _MOST_MEMORY,
        f"{case}: {row['memory_ratio']:.2f} times the memory of SVC, at most {_MOST_MEMORY}",
    )


def _measure(n_features: int, options: Options) -> dict[str, Any]:
    fits: dict[str, list[dict[str, Any]]] = {"SVC": [], "BudgetSVC": []}
    for seed in range(_RUNS):
        for machine, found in fits.items():
            status(f"{n_features} features, {machine}, seed {seed + 1} of {_RUNS}")
            how: Any = {"machine": machine, "n": _ROWS, "n_features": n_features, "seed": seed}
            found.append(call(fit_wide, threads=options.threads, patience=_PATIENCE, **how))
    ours, svc = fits["BudgetSVC"], fits["SVC"]
    return {
        **min(ours, key=lambda fit: fit["cpu"]),
        "svc_cpu": min(fit["cpu"] for fit in svc),
        "svc_mb": svc[0]["peak_mb"],
        "fits": fits,
    }

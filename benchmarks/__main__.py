"""Run the benchmarks and save what they find: ``python -m benchmarks --help``."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from benchmarks.defaults import suite as defaults
from benchmarks.fresh.call import FreshProcessError
from benchmarks.large import suite as large
from benchmarks.measuring.timing import circumstances, limited_threads, load_average
from benchmarks.options import Options, parse
from benchmarks.problems.data_sets import SPECS, Problem, Spec, data_folder, load, missing_files
from benchmarks.report import picture
from benchmarks.report.record import Record, bullets, status
from benchmarks.suite import (
    accuracy,
    checkpoints,
    cluster,
    epoch,
    exact,
    files,
    growth,
    landmarks,
    libsvm_grid,
    peers,
    prediction,
    small,
    tasks,
    threads,
    tuning,
    two_phases,
)

# In the order in which they run.
BENCHMARKS = {
    "epoch": epoch,
    "accuracy": accuracy,
    "two-phases": two_phases,
    "landmarks": landmarks,
    "exact": exact,
    "grid": libsvm_grid,
    "tuning": tuning,
    "tasks": tasks,
    "files": files,
    "peers": peers,
    "growth": growth,
    "large": large,
    "threads": threads,
    "prediction": prediction,
    "small": small,
    "checkpoints": checkpoints,
    "cluster": cluster,
    "defaults": defaults,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen benchmarks. Returns 1 if an answer was wrong, or nothing could be run."""
    summaries = {name: (module.__doc__ or "").split("\n")[0] for name, module in BENCHMARKS.items()}
    options = parse(arguments, summaries)
    plan = {name: _chosen(name, options) for name in BENCHMARKS if name in options.only}
    folder = data_folder() if any(plan.values()) else Path()
    with limited_threads(options.threads):
        record = _begin(options, folder, [s for s in SPECS if any(s in p for p in plan.values())])
        try:
            for name, specs in plan.items():
                present = [spec for spec in specs if not missing_files(folder, spec)]
                _run(name, record, folder, present, options)
        except KeyboardInterrupt:
            print("\nstopped; what was measured is saved")
        finally:
            record.circumstances["load average at the end"] = load_average()
            record.save(options.out)
            picture.save(record, options.out)
    drawn = f", {picture.NAME}" if (options.out / picture.NAME).exists() else ""
    print(f"\nsaved in {options.out}: results.json, results.md{drawn}")
    for text in record.missing:
        print(f"MISSING: {text}")
    for text in record.misses:
        print(f"MISSED: {text}")
    for text in record.failures:
        print(f"WRONG: {text}")
    measured = any(table.rows for table in record.tables)
    return 1 if record.failures or not measured else 0


def _chosen(name: str, options: Options) -> list[Spec]:
    """Return the data sets that a benchmark is to measure."""
    if options.data is not None:
        return [spec for spec in SPECS if spec.name in options.data]
    return [spec for spec in SPECS if BENCHMARKS[name].takes(spec, options)]


def _begin(options: Options, folder: Path, specs: Sequence[Spec]) -> Record:
    """Say where and with what we run, and what is missing."""
    chosen = {name: value for name, value in asdict(options).items() if name != "out"}
    record = Record(circumstances(), chosen)
    print("\n".join(bullets(record.circumstances)))
    for spec in specs:
        if files := missing_files(folder, spec):
            record.missing.append(f"{spec.name} ({', '.join(files)})")
            print(f"MISSING: {record.missing[-1]}")
    return record


def _run(name: str, record: Record, folder: Path, specs: Sequence[Spec], options: Options) -> None:
    start = perf_counter()
    try:
        BENCHMARKS[name].run(record, _problems(folder, specs), options)
    except FreshProcessError as error:
        record.check(False, f"{name}: {error}")
    record.save(options.out)
    print(f"({name}: {perf_counter() - start:.0f} s)")


def _problems(folder: Path, specs: Sequence[Spec]) -> Iterator[Problem]:
    """Load one data set at a time: together they may not fit into memory."""
    for spec in specs:
        status(f"loading {spec.name}")
        yield load(folder, spec)


if __name__ == "__main__":
    sys.exit(main())

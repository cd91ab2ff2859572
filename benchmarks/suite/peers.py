"""Time and accuracy beside what else there is: exact, approximate and boosted."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.fresh import trial
from benchmarks.fresh.call import FreshProcessError, OutOfPatienceError, call
from benchmarks.measuring.timing import load_average
from benchmarks.models.rivals import EXACT, NYSTROEM, OURS, PART, PEERS, TREES
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record, Row, Table, status
from benchmarks.suite.exact import SPEEDUPS

TITLE = "Peers"
_PATIENCE = 1800.0  # seconds for one peer on one data set
_TIE = 0.1  # points of accuracy
_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column("peer", "peer", width=20, left=True),
    Column("accuracy", "score", ".2%"),
    Column("s/fit", "seconds", ".3f", width=7),
    Column("CPU s", "cpu", ".3f", width=7),
    Column("fits", "n_fits"),
    Column("rows", "rows", width=6),
    Column("terms", "terms", width=5),
    Column("model kB", "model_kb", ".0f"),
    Column("µs/row", "predict_us", ".2f", width=7),
    Column("peak MB", "peak_mb", ".0f"),
    Column("load", "load", ".1f", width=4),
    Column("", "comment", left=True),
)
_TARGET_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column(f"{OURS} against", "against", width=24, left=True),
    Column("in", "quantity", width=26, left=True),
    Column("found", "found", ".2f", width=6),
    Column("at least", "target"),
    Column("", "verdict", width=7, left=True),
)
_NOTE = (
    "Every peer with the defaults of its library, the C and gamma of the data set, the same number of "
    "threads ({threads}), in a process of its own.\naccuracy: test accuracy, mean of the fits, one seed "
    "each. s/fit: the fastest; after 10 s no more are made. CPU s: processor time.\nterms: "
    "support vectors, landmarks, random features or trees. model kB: pickled. µs/row: predict, for "
    "10,000 test rows at a time.\npeak MB: what a fit takes beyond the data. SVC has cache_size=1000. "
    f"{PART}: as many random rows as SVC can fit in the time of {OURS}."
)
_TARGET_NOTE = (
    f"Accuracies that differ by up to {_TIE} points count as equal. The time of a peer is its processor "
    "time, if that is less:\na slow peer runs only once, and is not to blame for other work on the "
    "machine."
)

# How BudgetSVC compares with a peer: a title, and a figure of which more is better.
_QUANTITIES: dict[str, tuple[str, Callable[[Row, Row], float]]] = {
    "fit": (
        "fit, times faster",
        lambda ours, peer: min(peer["seconds"], peer["cpu"]) / ours["seconds"],
    ),
    "accuracy": (
        "accuracy, points better",
        lambda ours, peer: 100 * (ours["score"] - peer["score"]),
    ),
    "prediction": (
        "prediction, times faster",
        lambda ours, peer: peer["predict_us"] / ours["predict_us"],
    ),
}


def takes(spec: Spec, options: Options) -> bool:
    """Whether a data set is measured if the command line names none: as the paper has it."""
    return not spec.variant and (options.full or not spec.big)


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Measure all peers on all data sets."""
    table = record.table(TITLE, _COLUMNS, _NOTE.format(threads=options.threads))
    found = [_measure_all(record, table, problem.usual_form(), options) for problem in problems]
    targets = record.table("Peers: targets", _TARGET_COLUMNS, _TARGET_NOTE)
    for peers in found:
        for row in _targets(peers):
            _judge(record, row)
            targets.add(row)


def _measure_all(
    record: Record, table: Table, problem: Problem, options: Options
) -> dict[str, Mapping[str, Any]]:
    """Return the rows of all peers by name."""
    rows: dict[str, Mapping[str, Any]] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "problem"
        trial.save(problem, path)
        for name in PEERS:
            status(f"{problem.name}: {name}")
            found = _measure(name, path, rows.get(OURS, {}).get("seconds"), options)
            rows[name] = {"data": problem.name, "peer": name, "load": load_average(), **found}
            table.add(rows[name])
            _check(record, rows[name], problem.majority, options.threads)
    return rows


def _measure(name: str, path: Path, our_seconds: float | None, options: Options) -> dict[str, Any]:
    arguments: dict[str, Any] = {"name": name, "path": str(path), "threads": options.threads}
    size = None
    try:
        if name == PART:
            if our_seconds is None:
                return {"comment": f"{OURS} has no time to compare with"}
            size = call(trial.rows_in_time, patience=_PATIENCE, seconds=our_seconds, **arguments)[
                "rows"
            ]
        row = call(trial.measure, patience=_PATIENCE, repeat=options.repeat, rows=size, **arguments)
    except OutOfPatienceError as error:
        return {"comment": str(error)}
    except FreshProcessError as error:
        return {"comment": str(error), "failed": True}
    if "missing" in row:
        return {"comment": f"cannot be imported: {row['missing']}"}
    peak = row["peak_bytes"]
    return {
        **row,
        "n_fits": len(row["fits"]),
        "model_kb": row["model_bytes"] / 1e3,
        "peak_mb": None if peak is None else peak / 1e6,
        "comment": "",
    }


def _check(record: Record, row: Mapping[str, Any], majority: float, threads: int) -> None:
    """Check that a peer could be measured, learned something, and kept to its threads."""
    case = f"{row['data']}, {row['peer']}"
    if row.get("failed"):
        record.check(False, f"{case}: {row['comment']}")
    elif row["comment"]:
        record.missing.append(f"{case}: {row['comment']}")
    else:
        least = majority if row["peer"] in (OURS, EXACT) else 0.0
        record.check(row["score"] > least, f"{case}: accuracy {row['score']:.2%}")
        used = row["cpu"] / row["seconds"]
        record.check(used <= 1.2 * threads + 0.1, f"{case}: {used:.1f} cores, not {threads}")


def _targets(peers: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return what should hold on a data set."""
    data = peers[OURS]["data"]
    wanted: list[tuple[str, str, float]] = [(NYSTROEM, "fit", 1), (NYSTROEM, "accuracy", -_TIE)]
    if data in SPEEDUPS:
        wanted.append((EXACT, "fit", SPEEDUPS[data]))
    if data == "IJCNN":
        wanted += [(EXACT, "prediction", 20), (TREES, "fit", 1), (TREES, "accuracy", 0)]
    for against, quantity, target in wanted:
        title, compare = _QUANTITIES[quantity]
        known = not (peers[OURS]["comment"] or peers[against]["comment"])
        found = compare(peers[OURS], peers[against]) if known else None
        row = {"data": data, "against": against, "quantity": title}
        yield {**row, "found": found, "target": target}


def _judge(record: Record, row: dict[str, Any]) -> None:
    case = f"{row['data']}, {OURS} against {row['against']}: {row['quantity']}"
    if row["found"] is None:
        row["verdict"] = record.target(False, f"{case}: not known")
    else:
        row["verdict"] = record.target(
            row["found"] >= row["target"], f"{case}: {row['found']:.2f}, at least {row['target']}"
        )

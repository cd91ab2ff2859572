"""The last section of the report: machine, versions, data, time."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from experiments.report.content import Data, Section, Table
from experiments.running.jobs import Job
from experiments.running.progress import time_text

_HOW = (
    "Jobs ran in processes with one thread each. Their results are kept as files, so that a run that was broken off goes "
    "on: they may come from several runs. Other work on the machine makes times longer; the load tells how much there was."
)


def closing(
    runs: Sequence[Mapping[str, Any]],
    plan: Mapping[str, Sequence[Job]],
    seconds: Mapping[str, float],
    tables: Sequence[Table],
) -> Section:
    """Return the section. `runs` is what run.json has, `plan` has the jobs of each experiment."""
    paragraphs = [_HOW]
    machine = [_machine(runs)] if runs else []
    return Section("Machine, data and time", paragraphs, (*machine, *tables, _time(plan, seconds)))


def _machine(runs: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        (f"{number}", what, value)
        for number, run in enumerate(runs, 1)
        for what, value in _entries(run).items()
    ]
    last = [(what, value) for number, what, value in rows if number == str(len(runs))]
    several = f" It was the last of {len(runs)} runs; the CSV file has all." if runs[1:] else ""
    revisions = list(dict.fromkeys(str(run["machine"].get("revision")) for run in runs))
    if revisions[1:]:
        several += f" **The runs used different revisions of the code:** {', '.join(revisions)}."
    return Table(
        "machine",
        "Machine and versions",
        f"Of the run that did the last jobs.{several}",
        Data(("what", "value"), last),
        Data(("run", "what", "value"), rows),
    )


def _entries(run: Mapping[str, Any]) -> dict[str, str]:
    start, end = (datetime.fromisoformat(run[key]) for key in ("start", "end"))
    load = run["load"]
    entries = {
        **run["machine"],
        "processes at a time": run["workers"],
        "start (UTC)": f"{start:%Y-%m-%d %H:%M}",
        "duration": time_text((end - start).total_seconds()),
        "jobs done": run["done"],
        "load average": load
        and f"{load['least']:g} to {load['most']:g}, median {load['median']:g}",
    }
    return {what: str(value) for what, value in entries.items() if value is not None}


def _time(plan: Mapping[str, Sequence[Job]], seconds: Mapping[str, float]) -> Table:
    """Return a table of what experiments took; a job that two need counts for both, but once in all."""
    groups = {name: {job.name for job in jobs} for name, jobs in plan.items()}
    groups["all"] = set().union(*groups.values())
    rows = [
        (name, len(names), sum(seconds.get(job, 0.0) for job in names))
        for name, names in groups.items()
    ]
    return Table(
        "time-taken",
        "Time taken",
        "Sum over jobs, whenever they ran.",
        Data(("experiment", "jobs", "time"), [(n, count, time_text(s)) for n, count, s in rows]),
        Data(("experiment", "jobs", "seconds"), [(n, count, round(s, 3)) for n, count, s in rows]),
    )

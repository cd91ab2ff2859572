"""Running jobs, and keeping their results as files, so that a run that was broken off can go on."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.running.circumstances import Circumstances, earlier_runs
from experiments.running.jobs import Job, Result
from experiments.running.progress import Progress
from experiments.running.workers import Done, do_jobs

_NAME = re.compile(r"[\w=+-][\w.=+-]*(/[\w=+-][\w.=+-]*)*", re.ASCII)
RUN_FILE = "run"  #: beside the results


@dataclass
class Run:
    """What became of some jobs, by name."""

    results: dict[str, Result] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  #: also of results used again
    failures: dict[str, str] = field(default_factory=dict)  #: tracebacks
    n_new: int = 0  #: the others were done before


class InterruptedRunError(Exception):
    """Ctrl-C; what was done until then is saved."""


def run_jobs(jobs: Iterable[Job], folder: Path, workers: int, say: Callable[[str], None]) -> Run:
    """Do the jobs that are not done, in so many processes.

    The result of a job lies in ``folder/<name>.json``; it is used again as long as name and arguments agree.
    """
    unique = distinct(jobs)
    run, progress = Run(), Progress(say)
    todo = [job for job in unique if not _reuse(job, folder, run, progress)]
    if run.results:
        say(f"{len(run.results)} of {len(unique)} jobs were done before")
    # Long ones first: otherwise the last one may keep one core busy, and all the others waiting.
    todo.sort(key=lambda job: -job.cost)
    record = _Record(folder, workers)

    def watch(running: Sequence[Job]) -> None:
        record.circumstances.look()
        progress.show(running)

    try:
        with progress.watching(todo, workers), closing(do_jobs(todo, workers, watch)) as finished:
            for done in finished:
                progress.add(done.job, done.seconds, counts=not done.failed)
                _keep(done, folder, run)
    except KeyboardInterrupt:
        message = (
            f"stopped: {len(run.results)} of {len(unique)} jobs are done; the same command goes on"
        )
        raise InterruptedRunError(message) from None
    finally:
        record.save(run)
    return run


class _Record:
    """The file that tells of all runs that added results to a folder."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._path = folder / f"{RUN_FILE}.json"
        self.circumstances = Circumstances(workers)

    def save(self, run: Run) -> None:
        """Add this run, unless it did nothing."""
        if not run.n_new and not run.failures:
            return
        counts = {"done": run.n_new, "failed": sorted(run.failures)}
        runs = [*earlier_runs(self._path), {**self.circumstances.as_dict(), **counts}]
        write_json(self._path, {"runs": runs})


def distinct(jobs: Iterable[Job]) -> Sequence[Job]:
    """Return every job once; two that differ must not have the same name."""
    found: dict[str, Job] = {}
    for job in jobs:
        if not _NAME.fullmatch(job.name) or job.name == RUN_FILE:
            message = f"{job.name!r} cannot be the name of a job and of a file"
            raise ValueError(message)
        first = found.setdefault(job.name, job)
        if first.function != job.function or first.arguments != job.arguments:
            message = f"two jobs have the name {job.name!r}: {first} and {job}"
            raise ValueError(message)
    return list(found.values())


def _reuse(job: Job, folder: Path, run: Run, progress: Progress) -> bool:
    """Take over the result of an earlier run, if there is one."""
    try:
        kept = json.loads(_path(job, folder).read_text(encoding="utf-8"))
        name, arguments, result, seconds = (
            kept[key] for key in ("name", "arguments", "result", "seconds")
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if name != job.name or arguments != _as_json(job.arguments):
        return False
    run.results[job.name], run.seconds[job.name] = result, seconds
    progress.add(job, seconds)
    return True


def _keep(done: Done, folder: Path, run: Run) -> None:
    job = done.job
    if done.failed:
        run.failures[job.name] = done.text
        return
    run.results[job.name], run.seconds[job.name] = json.loads(done.text), round(done.seconds, 3)
    run.n_new += 1
    kept = {
        "name": job.name,
        "arguments": job.arguments,
        "result": run.results[job.name],
        "seconds": run.seconds[job.name],
    }
    write_json(_path(job, folder), kept)


def write_json(path: Path, value: Any) -> None:
    """Write a file at once: who reads it finds all of it, or what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    draft.write_text(f"{json.dumps(value, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
    draft.replace(path)


def _path(job: Job, folder: Path) -> Path:
    return folder / f"{job.name}.json"


def _as_json(value: Any) -> Any:
    """Return a value as a file gives it back: tuples become lists."""
    return json.loads(json.dumps(value))

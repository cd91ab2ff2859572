"""Make the tables and figures of the paper anew: ``python -m experiments --help``."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace

from experiments.catalogue import EXPERIMENTS, THOROUGH, Experiment, summary
from experiments.options import parse
from experiments.report import data_notes
from experiments.report import writing as report
from experiments.report.closing import closing
from experiments.report.content import Section
from experiments.report.figures import EmptyPartError
from experiments.running.circumstances import earlier_runs
from experiments.running.jobs import Job
from experiments.running.runner import RUN_FILE, InterruptedRunError, Run, distinct, run_jobs
from experiments.scope import Scope

_TITLE = "Dual SVM training on a budget: the experiments made anew"
_PAPER = (
    "The tables and figures of [Dual SVM Training on a Budget](https://arxiv.org/abs/1806.10182) "
    "(Qaadan, Schüler & Glasmachers 2018), made anew with `budgetsvm`."
)
_QUICK = (
    "**This is a quick run** on a small problem that was made on the spot. It shows that all parts work; "
    "it says nothing about the claims of the paper, so that there are no verdicts."
)
_INTERRUPTED = 130  # as shells have it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen experiments and write the report. Returns 1 if something failed."""
    summaries = {name: summary(module) for name, module in EXPERIMENTS.items()}
    options = parse(arguments, summaries, THOROUGH)
    scope = options.scope()
    chosen = {name: module for name, module in EXPERIMENTS.items() if name in options.only}
    plan = {name: distinct(module.jobs(scope)) for name, module in chosen.items()}
    plan["data notes"] = data_notes.jobs(scope)
    folder = options.out / "jobs"
    try:
        jobs = [job for jobs in plan.values() for job in jobs]
        run = run_jobs(jobs, folder, options.workers, _say)
    except InterruptedRunError as error:
        _say(str(error))
        return _INTERRUPTED
    sections = [_section(name, module, scope, plan[name], run) for name, module in chosen.items()]
    runs = earlier_runs(folder / f"{RUN_FILE}.json")
    sections.append(closing(runs, plan, run.seconds, data_notes.table(scope, run.results)))
    introduction = [_PAPER, _QUICK] if options.quick else [_PAPER]
    if options.quick:  # rings say nothing about the paper
        sections = [replace(section, claims=()) for section in sections]
    try:
        files = report.write(report.Report(_TITLE, introduction, sections), options.out)
        _say(f"written: {', '.join(str(file) for file in files)}")
    except EmptyPartError as error:
        run.failures["report"] = f"{error}; the report was not written"
    _tell(run.failures)
    return 1 if run.failures else 0


def _section(name: str, module: Experiment, scope: Scope, jobs: Sequence[Job], run: Run) -> Section:
    """Return the section of an experiment, or a note that says why there is none."""
    if failed := [f"`{job.name}`" for job in jobs if job.name not in run.results]:
        return _note(name, module, f"These jobs failed: {', '.join(failed)}.")
    try:
        return module.section(scope, run.results)
    except Exception:  # noqa: BLE001  # the other sections are worth having
        run.failures[f"section {name}"] = traceback.format_exc()
        return _note(name, module, "Its jobs are done, but writing it failed.")


def _note(name: str, module: Experiment, why: str) -> Section:
    title = summary(module) or name
    return Section(title, [f"**This section is missing.** {why} The same command tries again."])


def _tell(failures: Mapping[str, str]) -> None:
    for name, text in failures.items():
        _say(f"\nFAILED: {name}\n{text.rstrip()}", error=True)
    if failures:
        _say(f"\n{len(failures)} failed: {', '.join(failures)}", error=True)


def _say(text: str, *, error: bool = False) -> None:
    print(text, file=sys.stderr if error else sys.stdout, flush=True)


if __name__ == "__main__":
    sys.exit(main())

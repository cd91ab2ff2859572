"""What a second thread is worth: in phase 1, for kernel values, in the whole fit, for prediction."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.measuring.timing import (
    Action,
    Timings,
    alternate,
    available_cores,
    clock_with_threads,
    load_average,
)
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record
from budgetsvm import BudgetSVC
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._problem.rows import Rows

TITLE = "Threads"
_BUDGET = 500
_THREADS = (1, 2)
_TARGETS = {"phase 1": 1.5, "kernel values": 1.5, "whole fit": 1.3, "prediction": 1.8}
_TARGET_DATA = "COVTYPE"
_AMPLE = 1e12  # bytes: the matrix is to be held
_FITS, _SHORT_RUNS_PER_REPEAT = 3, 2
_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column("part", "part", width=13, left=True),
    *(Column(f"s, {t} thread{'s'[: t - 1]}", f"seconds_{t}", ".3f") for t in _THREADS),
    Column("faster", "speedup", ".2f"),
    Column("target", "target"),
    Column("", "verdict", width=6, left=True),
    Column("runs", "runs"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    f"BudgetSVC with its defaults, B={_BUDGET}, with one thread and with two in turn; the fastest run "
    "counts. kernel values: the n×B matrix of phase 2. prediction: of the test rows."
)


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured if the command line names none."""
    return spec.name == _TARGET_DATA


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Compare two threads with one."""
    if available_cores() < max(_THREADS):
        record.missing.append("threads: this machine has one core")
        print(f"\nSKIPPED: {record.missing[-1]}")
        return
    table = record.table(TITLE, _COLUMNS, _NOTE)
    for problem in problems:
        for row in _measure(problem, options):
            if problem.name == _TARGET_DATA:
                _judge(record, row)
            table.add(row)


def _judge(record: Record, row: dict[str, Any]) -> None:
    row["target"] = _TARGETS[row["part"]]
    row["verdict"] = record.target(
        row["speedup"] >= row["target"],
        f"{row['data']}, {row['part']}: {row['speedup']:.2f} times faster with two threads, "
        f"target {row['target']}",
    )


def _measure(problem: Problem, options: Options) -> Iterator[dict[str, Any]]:
    model = BudgetSVC(C=problem.C, gamma=problem.gamma, budget=_BUDGET, random_state=0)
    phase_one: dict[str, list[float]] = {_label(threads): [] for threads in _THREADS}
    fits: dict[str, Action] = {
        _label(t): partial(_fit_seconds, model, problem, t, phase_one[_label(t)]) for t in _THREADS
    }
    times = alternate(fits, min(_FITS, options.repeat), f"{problem.name}: fit")
    yield _row(problem, "phase 1", {name: Timings(values) for name, values in phase_one.items()})
    short = _SHORT_RUNS_PER_REPEAT * options.repeat
    values = {_label(t): partial(_kernel_seconds, model, problem, t) for t in _THREADS}
    yield _row(problem, "kernel values", alternate(values, short, f"{problem.name}: kernel values"))
    yield _row(problem, "whole fit", times)
    rows = {_label(t): partial(_prediction_seconds, model, problem, t) for t in _THREADS}
    yield _row(problem, "prediction", alternate(rows, short, f"{problem.name}: prediction"))


def _label(threads: int) -> str:
    return str(threads)


def _row(problem: Problem, part: str, times: dict[str, Timings]) -> dict[str, Any]:
    one, two = (times[_label(threads)] for threads in _THREADS)
    return {
        "data": problem.name,
        "part": part,
        **{f"seconds_{t}": times[_label(t)].best for t in _THREADS},
        "speedup": one.best / two.best,
        "runs": len(one.seconds),
        "load": load_average(),
        "all_seconds": {name: timings.seconds for name, timings in times.items()},
    }


def _fit_seconds(model: BudgetSVC, problem: Problem, threads: int, phase_one: list[float]) -> float:
    """Return the seconds of a fit, and note those of its phase 1."""
    model.set_params(n_jobs=threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds = clock_with_threads(partial(model.fit, problem.X, problem.y), threads)
    phase_one.append(sum(epoch["seconds"] for epoch in model.history_))
    return seconds


def _kernel_seconds(model: BudgetSVC, problem: Problem, threads: int) -> float:
    """Return the seconds that the kernel values of phase 2 take; a model keeps no rows."""
    terms = model._expansion
    rows = Rows(problem.X, terms.points.dtype.type, terms.centre)
    basis = Basis.of(terms.points, terms.kernel)
    return clock_with_threads(lambda: KernelMatrix(rows, basis, threads, _AMPLE), threads)


def _prediction_seconds(model: BudgetSVC, problem: Problem, threads: int) -> float:
    model.set_params(n_jobs=threads)
    return clock_with_threads(partial(model.decision_function, problem.X_test), threads)

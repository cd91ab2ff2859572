"""What a second thread is worth: for kernel values, in the whole fit, for prediction."""

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
_TARGETS = {"kernel values": 1.5, "whole fit": 1.3, "prediction": 1.8}
_TARGET_DATA = "COVTYPE"
# Whole fits alone, where phase 2 has most of the work.
_NARROW_DATA, _NARROW_BUDGETS, _NARROW_TARGET = "COVTYPE-G8", (500, 2000), 1.6
_AMPLE = 1e12  # bytes: the matrix is to be held
_FITS, _SHORT_RUNS_PER_REPEAT = 3, 2
_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column("B", "budget", width=4),
    Column("part", "part", width=13, left=True),
    *(Column(f"s, {t} thread{'s'[: t - 1]}", f"seconds_{t}", ".3f") for t in _THREADS),
    Column("faster", "speedup", ".2f"),
    Column("target", "target"),
    Column("", "verdict", width=6, left=True),
    Column("runs", "runs"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = "BudgetSVC with its defaults, with one thread and with two in turn; the fastest run counts. kernel values: the n×B matrix of phase 2. prediction: of the test rows."


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured if the command line names none."""
    return spec.name in (_TARGET_DATA, _NARROW_DATA)


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Compare two threads with one."""
    if available_cores() < max(_THREADS):
        record.missing.append("threads: this machine has one core")
        print(f"\nSKIPPED: {record.missing[-1]}")
        return
    table = record.table(TITLE, _COLUMNS, _NOTE)
    for problem in problems:
        narrow = problem.name == _NARROW_DATA
        for row in (_measure_fits if narrow else _measure)(problem, options):
            if problem.name == _TARGET_DATA:
                _judge(record, row, _TARGETS[row["part"]])
            if narrow:
                _judge(record, row, _NARROW_TARGET)
            table.add(row)


def _judge(record: Record, row: dict[str, Any], target: float) -> None:
    row["target"] = target
    row["verdict"] = record.target(
        row["speedup"] >= row["target"],
        f"{row['data']}, B={row['budget']}, {row['part']}: {row['speedup']:.2f} times faster with two threads, "
        f"target {row['target']}",
    )


def _measure(problem: Problem, options: Options) -> Iterator[dict[str, Any]]:
    model = _machine(problem, _BUDGET)
    times = _fit_times(model, problem, options)
    short = _SHORT_RUNS_PER_REPEAT * options.repeat
    values = {_label(t): partial(_kernel_seconds, model, problem, t) for t in _THREADS}
    yield _row(problem, "kernel values", alternate(values, short, f"{problem.name}: kernel values"))
    yield _row(problem, "whole fit", times)
    rows = {_label(t): partial(_prediction_seconds, model, problem, t) for t in _THREADS}
    yield _row(problem, "prediction", alternate(rows, short, f"{problem.name}: prediction"))


def _measure_fits(problem: Problem, options: Options) -> Iterator[dict[str, Any]]:
    for budget in _NARROW_BUDGETS:
        times = _fit_times(_machine(problem, budget), problem, options)
        yield _row(problem, "whole fit", times, budget)


def _machine(problem: Problem, budget: int) -> BudgetSVC:
    return BudgetSVC(C=problem.C, gamma=problem.gamma, budget=budget, random_state=0)


def _fit_times(model: BudgetSVC, problem: Problem, options: Options) -> dict[str, Timings]:
    fits: dict[str, Action] = {
        _label(t): partial(_fit_seconds, model, problem, t) for t in _THREADS
    }
    return alternate(fits, min(_FITS, options.repeat), f"{problem.name}: fit")


def _label(threads: int) -> str:
    return str(threads)


def _row(
    problem: Problem, part: str, times: dict[str, Timings], budget: int = _BUDGET
) -> dict[str, Any]:
    one, two = (times[_label(threads)] for threads in _THREADS)
    return {
        "data": problem.name,
        "budget": budget,
        "part": part,
        **{f"seconds_{t}": times[_label(t)].best for t in _THREADS},
        "speedup": one.best / two.best,
        "runs": len(one.seconds),
        "load": load_average(),
        "all_seconds": {name: timings.seconds for name, timings in times.items()},
    }


def _fit_seconds(model: BudgetSVC, problem: Problem, threads: int) -> float:
    """Return the seconds of a fit."""
    model.set_params(n_jobs=threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clock_with_threads(partial(model.fit, problem.X, problem.y), threads)


def _kernel_seconds(model: BudgetSVC, problem: Problem, threads: int) -> float:
    """Return the seconds that the kernel values of phase 2 take; a model keeps no rows."""
    terms = model._expansion
    rows = Rows(problem.X, terms.points.dtype.type, terms.centre)
    basis = Basis.of(terms.points, terms.kernel)
    return clock_with_threads(lambda: KernelMatrix(rows, basis, threads, _AMPLE), threads)


def _prediction_seconds(model: BudgetSVC, problem: Problem, threads: int) -> float:
    model.set_params(n_jobs=threads)
    return clock_with_threads(partial(model.decision_function, problem.X_test), threads)

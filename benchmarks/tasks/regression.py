"""Regression on a budget: R² and time against exact SVR."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.svm import SVR

from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem
from benchmarks.problems.task_sets import TaskSpec
from benchmarks.report.record import Column, Record, Table, status
from benchmarks.tasks.fits import TaskFit, exact_summary, summary, train
from budgetsvm import BudgetSVR

_BUDGET = 500
_MOST_LOST = 0.01
_SPEEDUPS = {"CADATA": 5}
_COLUMNS = (
    Column("data", "data", width=9, left=True),
    Column("SVR R²", "exact_score", ".4f"),
    Column("R²", "score", ".4f", width=6),
    Column("std", "std", ".4f", width=6),
    Column("lost", "lost", ".4f", width=7),
    Column("at most", "limit"),
    Column("", "verdict", width=6, left=True),
    Column("SVR s", "exact_seconds", ".2f", width=6),
    Column("CPU s", "exact_cpu", ".2f", width=6),
    Column("s/fit", "seconds", ".2f"),
    Column("faster", "speedup", ".1f"),
    Column("target", "target"),
    Column("", "speed_verdict", width=6, left=True),
    Column("SVs", "exact_terms", width=5),
    Column("terms", "terms"),
    Column("converged", "converged"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "BudgetSVR, B={budget}, number of seeds: {seeds}, threads: {threads}: mean R² on the test rows, and the fastest fit. SVR "
    "(cache_size=1000, same C, epsilon and gamma, one thread): once; its processor time counts."
)


def run(record: Record, problems: Iterator[tuple[TaskSpec, Problem]], options: Options) -> None:
    """Measure all data sets."""
    note = _NOTE.format(budget=_BUDGET, seeds=options.seeds, threads=options.threads)
    table = None
    for spec, problem in problems:
        table = table or record.table("Regression", _COLUMNS, note)
        measure(record, table, spec, problem, options)


def measure(
    record: Record, table: Table, spec: TaskSpec, problem: Problem, options: Options
) -> None:
    """Compare with SVR on one data set."""
    problem = standardised(problem)
    status(f"{spec.name}: SVR")
    exact = train(_svr(spec), problem.X, problem.y, partial(_r2, problem))
    row = {
        "data": spec.name,
        **exact_summary(exact),
        **summary(list(_fits(spec, problem, options))),
        "limit": _MOST_LOST,
        "target": _SPEEDUPS.get(spec.name),
    }
    row["lost"] = exact.score - row["score"]
    row["speedup"] = min(exact.seconds, exact.cpu) / row["seconds"]
    _judge(record, row)
    table.add(row)
    record.check(row["terms"] <= _BUDGET, f"{spec.name}: {row['terms']} terms")


def standardised(problem: Problem) -> Problem:
    """Return the problem with a target of mean 0 and standard deviation 1: SVR does not do it itself."""
    mean, spread = problem.y.mean(), problem.y.std()
    return replace(problem, y=(problem.y - mean) / spread, y_test=(problem.y_test - mean) / spread)


def _judge(record: Record, row: dict[str, Any]) -> None:
    row["verdict"] = record.target(
        row["lost"] <= _MOST_LOST,
        f"{row['data']}: R² is {row['lost']:.4f} below that of SVR, at most {_MOST_LOST}",
    )
    if row["target"] is not None:
        row["speed_verdict"] = record.target(
            row["speedup"] >= row["target"],
            f"{row['data']}: {row['speedup']:.1f} times faster than SVR, target {row['target']}",
        )


def _fits(spec: TaskSpec, problem: Problem, options: Options) -> Iterator[TaskFit]:
    for seed in range(options.seeds):
        status(f"{spec.name}: BudgetSVR, seed {seed + 1} of {options.seeds}")
        model = BudgetSVR(
            C=spec.C,
            epsilon=spec.epsilon,
            gamma=spec.gamma,
            budget=_BUDGET,
            random_state=seed,
            n_jobs=options.threads,
        )
        yield train(model, problem.X, problem.y, partial(_r2, problem))


def _svr(spec: TaskSpec) -> SVR:
    return SVR(C=spec.C, epsilon=spec.epsilon, gamma=spec.gamma, cache_size=1000)


def _r2(problem: Problem, model: Any) -> float:
    return float(model.score(problem.X_test, problem.y_test))

"""Novelty detection on a budget: how well it tells classes apart of which it knows one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

from benchmarks.options import Options
from benchmarks.problems.data_sets import Array, Problem
from benchmarks.problems.task_sets import TaskSpec
from benchmarks.report.record import Column, Record, Table, status
from benchmarks.tasks.fits import TaskFit, exact_summary, summary, train
from budgetsvm import BudgetOneClassSVM

_BUDGET = 500
_LARGE_BUDGETS = {
    "IJCNN": (2000, 4000)
}  # measured in addition: where a narrow kernel needs many terms
_MOST_TEST_ROWS = 20_000  # testing the exact machine would take longer than training
_MOST_LOST, _MOST_AMISS = 0.01, 0.01
_COLUMNS = (
    Column("data", "data", width=11, left=True),
    Column("rows", "rows", width=5),
    Column("nu", "nu"),
    Column("B", "budget", width=4),
    Column("exact AUC", "exact_score", ".4f"),
    Column("AUC", "score", ".4f", width=6),
    Column("std", "std", ".4f", width=6),
    Column("lost", "lost", ".4f", width=7),
    Column("at most", "limit"),
    Column("", "verdict", width=6, left=True),
    Column("flagged by exact", "exact_flagged", ".2%"),
    Column("flagged", "flagged", ".2%"),
    Column("amiss", "amiss", ".2%"),
    Column("at most", "amiss_limit", ".0%"),
    Column("", "amiss_verdict", width=6, left=True),
    Column("exact s", "exact_seconds", ".2f"),
    Column("s/fit", "seconds", ".2f"),
    Column("SVs", "exact_terms", width=5),
    Column("terms", "terms"),
    Column("converged", "converged"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "Trained on the rows of one class, tested on both: area under the ROC curve. BudgetOneClassSVM, number of "
    "seeds: {seeds}, threads: {threads}; exact: OneClassSVM (cache_size=1000, same nu and gamma), once.\nflagged: the share of the "
    "training rows called outliers, which should be nu; amiss: by how much the worst seed is off."
)


def run(record: Record, problems: Iterator[tuple[TaskSpec, Problem]], options: Options) -> None:
    """Measure all data sets."""
    note = _NOTE.format(seeds=options.seeds, threads=options.threads)
    table = None
    for spec, problem in problems:
        table = table or record.table("One class", _COLUMNS, note)
        measure(record, table, spec, problem, options)


def measure(
    record: Record, table: Table, spec: TaskSpec, problem: Problem, options: Options
) -> None:
    """Compare with OneClassSVM on one data set."""
    problem = _with_fewer_tests(problem)
    inliers = problem.X[problem.y == spec.inliers]
    status(f"{spec.name}: OneClassSVM")
    machine = OneClassSVM(nu=spec.nu, gamma=spec.gamma, cache_size=1000)
    exact = _train(machine, inliers, spec, problem)
    for budget in (_BUDGET, *_LARGE_BUDGETS.get(spec.name, ())):
        fits = list(_fits(spec, problem, inliers, budget, options))
        row = {
            "data": spec.name,
            "rows": len(inliers),
            "budget": budget,
            **_figures(spec, exact, fits),
        }
        _judge(record, row)
        table.add(row)
        record.check(row["terms"] <= budget, f"{spec.name}: {row['terms']} terms")


def _figures(spec: TaskSpec, exact: TaskFit, fits: Sequence[TaskFit]) -> dict[str, Any]:
    shares = [fit.flagged for fit in fits]
    row = {
        "nu": spec.nu,
        **exact_summary(exact),
        "exact_flagged": exact.flagged,
        **summary(fits),
        "flagged": float(np.mean(shares)),
        "amiss": float(np.max(np.abs(np.array(shares) - spec.nu))),
        "limit": _MOST_LOST,
        "amiss_limit": _MOST_AMISS,
    }
    return {**row, "lost": exact.score - row["score"]}


def _judge(record: Record, row: dict[str, Any]) -> None:
    row["verdict"] = record.target(
        row["lost"] <= _MOST_LOST,
        f"{row['data']}, B={row['budget']}: AUC is {row['lost']:.4f} below that of OneClassSVM, at most {_MOST_LOST}",
    )
    row["amiss_verdict"] = record.target(
        row["amiss"] <= _MOST_AMISS,
        f"{row['data']}, B={row['budget']}: {row['flagged']:.2%} of the training rows are flagged, off by {row['amiss']:.2%}, at "
        f"most {_MOST_AMISS:.0%}",
    )


def _with_fewer_tests(problem: Problem) -> Problem:
    """Return the problem with a random part of the test rows, where there are many."""
    chosen = np.random.default_rng(0).permutation(len(problem.y_test))[:_MOST_TEST_ROWS]
    return replace(problem, X_test=problem.X_test[chosen], y_test=problem.y_test[chosen])


def _fits(
    spec: TaskSpec, problem: Problem, inliers: Array, budget: int, options: Options
) -> Iterator[TaskFit]:
    for seed in range(options.seeds):
        status(f"{spec.name}: BudgetOneClassSVM, seed {seed + 1} of {options.seeds}")
        model = BudgetOneClassSVM(
            nu=spec.nu,
            gamma=spec.gamma,
            budget=budget,
            random_state=seed,
            n_jobs=options.threads,
        )
        yield _train(model, inliers, spec, problem)


def _train(model: Any, inliers: Array, spec: TaskSpec, problem: Problem) -> TaskFit:
    fit = train(model, inliers, None, partial(_area, problem, spec.inliers))
    return replace(fit, flagged=float(np.mean(model.predict(inliers) < 0)))


def _area(problem: Problem, inliers: float, model: Any) -> float:
    scores = model.decision_function(problem.X_test)
    return float(roc_auc_score(problem.y_test == inliers, scores))

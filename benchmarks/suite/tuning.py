"""A search over C and gamma, in the time of how many fits? Is its choice a good one, and how good is what comes of it?"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.measuring.timing import load_average
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record, status
from benchmarks.tuned import table as tuned
from budgetsvm import BudgetSVC
from budgetsvm.model_selection import BudgetSVCCV

_BUDGET, _FOLDS, _FITS = 300, 5, 10
_MOST_TIMES, _MOST_WORSE = 12.0, 2e-3
_COLUMNS = (
    Column("data", "data", width=11, left=True),
    Column("ten fits s", "fits", ".2f"),
    Column("search s", "search", ".1f"),
    Column("times", "times", ".1f"),
    Column("score", "held_out", ".2%"),
    Column("test", "test", ".2%"),
    Column("best test", "best", ".2%"),
    Column("", "verdict", width=6, left=True),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    f"A grid of 10 × 10 with {_FOLDS} shuffled folds, B={_BUDGET}, and ten single fits with the C of the grid, both in all threads. score: of "
    f"the chosen cell on rows held out. best test: of all 100 cells, each fitted to all training rows. The search should take at "
    f"most {_MOST_TIMES:g} times as long, and its choice be at most {100 * _MOST_WORSE:g} points worse."
)


def takes(spec: Spec, options: Options) -> bool:
    """Whether a data set is measured if the command line names none."""
    return spec.name == "IJCNN" or (options.full and not spec.big)


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Search, and fit all cells for comparison; then the machine that finds its parameters beside others."""
    table = record.table("Tuning", _COLUMNS, _NOTE)
    for problem in problems:
        row = measure(problem)
        row["verdict"] = record.target(
            row["times"] <= _MOST_TIMES and row["best"] - row["test"] <= _MOST_WORSE,
            f"{problem.name}: {row['times']:.1f} times ten fits, {row['best'] - row['test']:.2%} below the best cell",
        )
        table.add(row)
    if options.data is None:
        tuned.run(record)


def measure(problem: Problem, values: int = 10) -> dict[str, Any]:
    """Return what a search with so many C and gamma takes and finds."""
    status(f"{problem.name}: search")
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    begun = perf_counter()
    search = BudgetSVCCV(values, values, budget=_BUDGET, cv=folds, random_state=0)
    search.fit(problem.X, problem.y)
    seconds = perf_counter() - begun
    grid = search.cv_results_["params"]
    gamma = float(np.sort(search.cv_results_["param_gamma"])[len(grid) // 2])
    begun = perf_counter()
    for C in np.unique(search.cv_results_["param_C"])[:_FITS]:
        _fit(problem, {"C": float(C), "gamma": gamma})
    fits = perf_counter() - begun
    status(f"{problem.name}: all cells")
    best = max(_fit(problem, cell).score(problem.X_test, problem.y_test) for cell in grid)
    return {
        "data": problem.name,
        "fits": fits,
        "search": seconds,
        "times": seconds / fits,
        "held_out": search.best_score_,
        "test": search.score(problem.X_test, problem.y_test),
        "best": best,
        "load": load_average(),
    }


def _fit(problem: Problem, cell: dict[str, float]) -> BudgetSVC:
    return BudgetSVC(budget=_BUDGET, random_state=0, **cell).fit(problem.X, problem.y)

"""How long an epoch of training takes, measured against a yardstick that any machine has.

The yardstick is the time that NumPy needs to evaluate the Gaussian kernel between all n training rows
and B points once. Training has to evaluate the same n·B kernel values, and then to use them: to take
the steps and to keep the budget.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.measuring.timing import (
    Action,
    Timings,
    alternate,
    clock,
    limited_threads,
    load_average,
)
from benchmarks.measuring.yardstick import KernelBlocks, single, some_rows
from benchmarks.models.ours import BUDGETS, SOLVERS, plain
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record, Table
from budgetsvm import BudgetSVC

TITLE = "Epoch ratio"
_EPOCHS = 3
_MOST_ROWS = 100_000  # of a big data set, unless --full is given; a ratio needs no more
_TARGET, _TARGET_BUDGET = 0.6, 500
_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column("form", "form", width=5, left=True),
    Column("B", "budget", width=3),
    Column("solver", "solver", left=True),
    Column("epoch ms", "epoch_ms", ".1f"),
    Column("NumPy ms", "numpy_ms", ".1f"),
    Column("ratio", "ratio", ".2f"),
    Column("at most", "target"),
    Column("", "verdict", width=6, left=True),
    Column("median ratio", "median_ratio", ".2f"),
    Column("merges", "merges", ".1%"),
    Column("size", "size"),
    Column("accuracy", "accuracy", ".2%"),
    Column("majority", "majority", ".2%"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "ratio: the fastest epoch with a full budget, over the fastest NumPy evaluation of the n×B kernel "
    "block (float32, same number of threads).\nmedian ratio: the same of the medians. merges: share of the visits that ran "
    "budget maintenance."
)


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured if the command line names none: as the paper has it."""
    return not spec.variant


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Measure all data sets, forms, budgets and solvers."""
    table = record.table(TITLE, _COLUMNS, _NOTE)
    for whole in problems:
        problem = whole if options.full else whole.first_rows(_MOST_ROWS)
        forms = [problem, problem.as_csr()] if problem.suits_csr else [problem]
        for form in forms:
            for budget in BUDGETS:
                for row in _measure(form, budget, options):
                    _judge(record, table, row)


def _judge(record: Record, table: Table, row: dict[str, Any]) -> None:
    """Mark the row's target as met or missed. Data that suit CSR are judged in that form."""
    case = f"{row['data']} ({row['form']}), {row['solver']}, B={row['budget']}"
    if row["budget"] == _TARGET_BUDGET and (row["form"] == "CSR" or not row["suits_csr"]):
        row["target"] = _TARGET
        row["verdict"] = record.target(
            row["ratio"] <= _TARGET, f"{case}: epoch ratio {row['ratio']:.2f}, at most {_TARGET}"
        )
    table.add(row)
    record.check(row["accuracy"] > row["majority"], f"{case}: no better than the majority class")
    record.check(row["size"] <= row["budget"], f"{case}: {row['size']} terms")


def _measure(problem: Problem, budget: int, options: Options) -> Iterator[dict[str, Any]]:
    """Time both solvers and NumPy in turn."""
    fits = {
        solver: plain(problem, solver, budget, epochs=_EPOCHS, seed=0, threads=options.threads)
        for solver in SOLVERS
    }
    actions: dict[str, Action] = {"NumPy": _numpy_action(problem, budget, options.threads)}
    actions |= {name: partial(_epoch_seconds, model, problem) for name, model in fits.items()}
    times = alternate(actions, options.repeat, f"{problem.name}, B={budget}")
    for solver, model in fits.items():
        yield _row(problem, budget, model, times[solver], times["NumPy"])


def _row(
    problem: Problem, budget: int, model: BudgetSVC, epoch: Timings, block: Timings
) -> dict[str, Any]:
    last = model.history_[-1]
    return {
        "data": problem.name,
        "form": "CSR" if problem.is_sparse else "dense",
        "suits_csr": problem.suits_csr,
        "rows": problem.X.shape[0],
        "features": problem.X.shape[1],
        "budget": budget,
        "solver": model.solver,
        "epoch_ms": 1e3 * epoch.best,
        "numpy_ms": 1e3 * block.best,
        "ratio": epoch.best / block.best,
        "median_ratio": epoch.median / block.median,
        "merges": last["merges"] / last["visits"],
        "size": last["size"],
        "accuracy": model.score(problem.X_test, problem.y_test),
        "majority": problem.majority,
        "load": load_average(),
        "epoch_seconds": epoch.seconds,
        "numpy_seconds": block.seconds,
    }


def _epoch_seconds(model: BudgetSVC, problem: Problem) -> float:
    """Train; the first epoch does not count, as it begins with an empty model."""
    history = model.fit(problem.X, problem.y).history_
    return min(record["seconds"] for record in history[1:] or history)


def _numpy_action(problem: Problem, budget: int, threads: int) -> Action:
    """Return the yardstick: everything that can be prepared is, outside the clock."""
    X = single(problem.X)
    blocks = KernelBlocks(X, some_rows(X, budget), problem.gamma, threads)

    def action() -> float:
        with limited_threads(1):
            # As many evaluations as there are epochs that count: a minimum over more runs is lower.
            return min(clock(blocks.evaluate) for _ in range(_EPOCHS - 1))

    return action

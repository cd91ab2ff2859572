"""How long prediction takes, against NumPy's kernel values and their product with the coefficients."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measuring.timing import alternate, available_cores, clock_with_threads, load_average
from benchmarks.measuring.yardstick import KernelBlocks, single
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record
from budgetsvm import BudgetSVC

TITLE = "Prediction"
_BUDGET = 500
_THREADS = (1, 2)
_TARGET = 0.5
_RUNS_PER_REPEAT = 6  # they are short
_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column("rows", "rows", width=6),
    Column("B", "budget", width=3),
    Column("threads", "threads"),
    Column("ms", "ours_ms", ".1f", width=6),
    Column("NumPy ms", "numpy_ms", ".1f"),
    Column("ratio", "ratio", ".2f"),
    Column("at most", "target"),
    Column("", "verdict", width=6, left=True),
    Column("median ratio", "median_ratio", ".2f"),
    Column("µs/row", "us_per_row", ".3f"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "decision_function for all test rows, as given (float64), over NumPy's k(X, Z) @ coef of the same "
    "rows and terms, in chunks of 256 rows, prepared in float32.\nThreads share the rows in both. "
    "Runs in turn; ratio: of the fastest, median ratio: of the medians."
)


def takes(spec: Spec, options: Options) -> bool:
    """Whether a data set is measured if the command line names none."""
    return spec.name == "IJCNN" or (options.full and not spec.variant)


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Measure with one thread and with two."""
    table = record.table(TITLE, _COLUMNS, _NOTE)
    for problem in problems:
        form = problem.usual_form()
        model = BudgetSVC(C=problem.C, gamma=problem.gamma, budget=_BUDGET, random_state=0)
        model.fit(form.X, form.y)
        for threads in _THREADS:
            if threads > available_cores():
                record.missing.append(f"prediction with {threads} threads: needs as many cores")
                continue
            row = _measure(record, form, model, threads, options.repeat)
            row["verdict"] = record.target(
                row["ratio"] <= _TARGET,
                f"{problem.name}, prediction, threads {threads}: {row['ratio']:.2f} of NumPy's time, "
                f"at most {_TARGET}",
            )
            table.add(row)


def _measure(
    record: Record, problem: Problem, model: BudgetSVC, threads: int, repeat: int
) -> dict[str, Any]:
    model.set_params(n_jobs=threads)
    ours = partial(model.decision_function, problem.X_test)
    terms, coef = single(model.support_vectors_), single(model.dual_coef_[0])
    blocks = KernelBlocks(single(problem.X_test), terms, problem.gamma, threads)
    numpy = partial(blocks.expand, coef)
    different = float(np.mean((ours() > 0) != (numpy() > 0)))
    record.check(different < 1e-3, f"{problem.name}: NumPy predicts {different:.2%} otherwise")
    actions = {
        "budgetsvm": partial(clock_with_threads, ours, threads),
        "NumPy": partial(clock_with_threads, numpy, 1),  # of BLAS: the threads are the blocks' own
    }
    times = alternate(actions, _RUNS_PER_REPEAT * repeat, f"{problem.name}, threads: {threads}")
    best, block = times["budgetsvm"], times["NumPy"]
    return {
        "data": problem.name,
        "rows": len(problem.y_test),
        "budget": _BUDGET,
        "threads": threads,
        "ours_ms": 1e3 * best.best,
        "numpy_ms": 1e3 * block.best,
        "ratio": best.best / block.best,
        "target": _TARGET,
        "median_ratio": best.median / block.median,
        "us_per_row": 1e6 * best.best / len(problem.y_test),
        "load": load_average(),
        "seconds": best.seconds,
        "numpy_seconds": block.seconds,
    }

"""How long an epoch of training takes, measured against a yardstick that any machine has.

The yardstick is the time that NumPy needs to evaluate the Gaussian kernel between all n training rows
and B points once. Training has to evaluate the same n·B kernel values, and then to use them: to take
the steps and to keep the budget.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.data import Problem, Spec
from benchmarks.models import BUDGETS, SOLVERS, plain
from benchmarks.options import Options
from benchmarks.report import Column, Record, Table
from benchmarks.timing import Action, Timings, alternate, clock, load_average
from budgetsvm import BudgetSVC

Single: TypeAlias = NDArray[np.float32]

_EPOCHS = 3
_CHUNK = 256
_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column("form", "form", width=5, left=True),
    Column("B", "budget", width=3),
    Column("solver", "solver", left=True),
    Column("epoch ms", "epoch_ms", ".1f"),
    Column("NumPy ms", "numpy_ms", ".1f"),
    Column("ratio", "ratio", ".2f"),
    Column("median ratio", "median_ratio", ".2f"),
    Column("merges", "merges", ".1%"),
    Column("size", "size"),
    Column("accuracy", "accuracy", ".2%"),
    Column("majority", "majority", ".2%"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "ratio: the fastest epoch with a full budget, over the fastest NumPy evaluation of the n×B kernel "
    "block (float32).\nmedian ratio: the same of the medians. merges: share of the visits that ran "
    "budget maintenance."
)


def takes(spec: Spec, options: Options) -> bool:
    """Whether a data set is measured if the command line names none: as the paper has it."""
    return not spec.variant and (options.full or not spec.big)


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Measure all data sets, forms, budgets and solvers."""
    table = record.table("Epoch ratio", _COLUMNS, _NOTE)
    for problem in problems:
        forms = [problem, problem.as_csr()] if problem.suits_csr else [problem]
        for form in forms:
            for budget in BUDGETS:
                for row in _measure(form, budget, options):
                    _judge(record, table, row)


def _judge(record: Record, table: Table, row: dict[str, Any]) -> None:
    table.add(row)
    case = f"{row['data']} ({row['form']}), {row['solver']}, B={row['budget']}"
    record.check(row["accuracy"] > row["majority"], f"{case}: no better than the majority class")
    record.check(row["size"] <= row["budget"], f"{case}: {row['size']} terms")


def _measure(problem: Problem, budget: int, options: Options) -> Iterator[dict[str, Any]]:
    """Time both solvers and NumPy in turn."""
    fits = {
        solver: plain(problem, solver, budget, epochs=_EPOCHS, seed=0, threads=options.threads)
        for solver in SOLVERS
    }
    actions: dict[str, Action] = {"NumPy": _numpy_action(problem, budget)}
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


def _numpy_action(problem: Problem, budget: int) -> Action:
    """Return the yardstick: everything that can be prepared is, outside the clock."""
    rows = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
    X: Single = np.ascontiguousarray(rows, dtype=np.float32)
    Z = X[np.random.default_rng(0).choice(len(X), budget, replace=False)]
    evaluate = gaussian_blocks(X, Z, problem.gamma)
    _check_block(evaluate, X, Z, problem.gamma)
    # As many evaluations as there are epochs that count: a minimum over more runs is lower.
    return lambda: min(clock(evaluate) for _ in range(_EPOCHS - 1))


def gaussian_blocks(X: Single, Z: Single, gamma: float) -> Callable[[], Single]:
    """Return a function that evaluates k(X, Z) in chunks of rows, and returns the last chunk.

    One buffer that stays in the cache, all operations in place, the factor -2 folded into Z: NumPy
    should not be made to look slow.
    """
    row_norms = np.einsum("ij,ij->i", X, X)[:, np.newaxis]
    norms = np.einsum("ij,ij->i", Z, Z)
    factor = np.ascontiguousarray(-2 * Z.T)
    buffer = np.empty((_CHUNK, len(Z)), np.float32)
    scale = np.float32(-gamma)

    def evaluate() -> Single:
        out = buffer
        for start in range(0, len(X), _CHUNK):
            part = X[start : start + _CHUNK]
            out = buffer[: len(part)]
            np.matmul(part, factor, out=out)
            out += row_norms[start : start + _CHUNK]
            out += norms
            np.maximum(out, 0, out=out)
            out *= scale
            np.exp(out, out=out)
        return out

    return evaluate


def _check_block(evaluate: Callable[[], Single], X: Single, Z: Single, gamma: float) -> None:
    """Make sure that the yardstick computes kernel values."""
    found = evaluate()[-1]
    differences = X[-1].astype(np.float64) - Z
    exact = np.exp(-gamma * np.sum(differences**2, axis=1))
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-5)

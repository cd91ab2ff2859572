"""How well the paper's solvers predict, and how much that depends on the seed."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.measuring.timing import clock, load_average
from benchmarks.models.ours import BUDGETS, SOLVERS, plain
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record, status

_EPOCHS = 5
_COLUMNS = (
    Column("data", "data", width=7, left=True),
    Column("B", "budget", width=3),
    Column("solver", "solver", left=True),
    Column("mean", "mean", ".2%", width=7),
    Column("std", "std", ".2%", width=6),
    Column("lowest", "lowest", ".2%", width=7),
    Column("highest", "highest", ".2%", width=7),
    Column("majority", "majority", ".2%"),
    Column("s/fit", "seconds", ".2f", width=6),
    Column("slowest", "slowest", ".2f"),
    Column("outside", "outside", ".2f"),
    Column("load", "load", ".1f", width=4),
)


@dataclass(frozen=True)
class Fit:
    """What came out of one seed."""

    score: float  #: test accuracy
    seconds: float  #: of the whole fit
    epochs: float  #: of that, the seconds in epochs


def takes(spec: Spec, options: Options) -> bool:
    """Whether a data set is measured if the command line names none: as the paper has it."""
    return not spec.variant and (options.full or not spec.big)


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Train with several seeds on all data sets."""
    note = (
        f"Test accuracy after {_EPOCHS} epochs; number of seeds: {options.seeds}. "
        "s/fit: the fastest fit. outside: the part of it that was not spent in epochs, in seconds."
    )
    table = record.table("Accuracy of the plain solvers", _COLUMNS, note)
    for problem in problems:
        for budget in BUDGETS:
            for solver in SOLVERS:
                row = _measure(problem, solver, budget, options)
                table.add(row)
                case = f"{problem.name}, {solver}, B={budget}"
                beaten = row["mean"] > row["majority"]
                record.check(beaten, f"{case}: on average no better than the majority class")


def _measure(problem: Problem, solver: str, budget: int, options: Options) -> dict[str, Any]:
    fits = []
    for seed in range(options.seeds):
        status(f"{problem.name}, B={budget}: {solver}, seed {seed + 1} of {options.seeds}")
        fits.append(_train(problem, solver, budget, seed, options.threads))
    scores = [fit.score for fit in fits]
    fastest = min(fits, key=lambda fit: fit.seconds)
    return {
        "data": problem.name,
        "budget": budget,
        "solver": solver,
        "mean": float(np.mean(scores)),
        "std": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        "lowest": min(scores),
        "highest": max(scores),
        "majority": problem.majority,
        "seconds": fastest.seconds,
        "slowest": max(fit.seconds for fit in fits),
        "outside": fastest.seconds - fastest.epochs,
        "load": load_average(),
        "fits": [asdict(fit) for fit in fits],
    }


def _train(problem: Problem, solver: str, budget: int, seed: int, threads: int) -> Fit:
    model = plain(problem, solver, budget, epochs=_EPOCHS, seed=seed, threads=threads)
    seconds = clock(lambda: model.fit(problem.X, problem.y))
    epochs = sum(record["seconds"] for record in model.history_)
    return Fit(float(model.score(problem.X_test, problem.y_test)), seconds, epochs)

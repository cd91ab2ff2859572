"""What learned terms are worth: against random rows and cluster centres, with the same polish."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.measuring.timing import load_average
from benchmarks.models.ours import Fit, two_phases
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record, status

_BASES = ("learned", "random", "kmeans")
_BUDGETS = (50, 100, 200, 500, 1000)
_SEEDS = 2
_TOL = 2e-3
_TIE = 5e-3
# Up to here learned terms should win or tie; with more terms all choices become alike.
_SMALL_BUDGET = 200
_COLUMNS = (
    Column("data", "data", width=11, left=True),
    Column("B", "budget", width=4),
    Column("best P", "best", ".0f", width=9),
    *(Column(basis, f"{basis}_excess", "+.2%", width=8) for basis in _BASES),
    *(Column(f"{basis} acc", f"{basis}_score", ".2%") for basis in _BASES),
    *(Column(f"{basis} s", f"{basis}_seconds", ".2f") for basis in _BASES),
    Column("wins or ties", "winners", width=23, left=True),
    Column("", "verdict", width=6, left=True),
    Column("load", "load", ".1f", width=4),
)


def takes(spec: Spec, options: Options) -> bool:
    """Whether a data set is measured if the command line names none."""
    return options.full or not spec.big


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Compare all bases for all budgets."""
    seeds = min(_SEEDS, options.seeds)
    note = (
        f"Mean of {seeds} seeds, tol={_TOL:g}. learned, random, kmeans: the objective P above the best "
        f"one in the row; up to {_TIE:.1%} is a tie.\nacc: test accuracy. s: the fastest fit. Learned "
        f"terms should win or tie up to B={_SMALL_BUDGET}."
    )
    table = record.table("Learned terms and landmarks", _COLUMNS, note)
    for problem in problems:
        for budget in _BUDGETS:
            row = _compare(problem, budget, seeds)
            _judge(record, row)
            table.add(row)
            for basis in _BASES:
                case = f"{problem.name}, B={budget}, {basis}"
                gap = max(fit["gap"] for fit in row["fits"][basis])
                record.check(gap <= _TOL, f"{case}: P is not comparable, as its gap is {gap:.2g}")


def _compare(problem: Problem, budget: int, seeds: int) -> dict[str, Any]:
    fits = {basis: list(_train(problem, budget, basis, seeds)) for basis in _BASES}
    objectives = {basis: _mean(fits[basis], "objective") for basis in _BASES}
    best = min(objectives.values())
    row = {"data": problem.name, "budget": budget, "best": best, "load": load_average()}
    for basis in _BASES:
        row[f"{basis}_excess"] = objectives[basis] / best - 1
        row[f"{basis}_score"] = _mean(fits[basis], "score")
        row[f"{basis}_seconds"] = min(fit.seconds for fit in fits[basis])
    row["winners"] = ", ".join(_winners(row))
    row["fits"] = {basis: [asdict(fit) for fit in fits[basis]] for basis in _BASES}
    return row


def _train(problem: Problem, budget: int, basis: str, seeds: int) -> Iterator[Fit]:
    for seed in range(seeds):
        status(f"{problem.name}, B={budget}: {basis}, seed {seed + 1} of {seeds}")
        yield two_phases(problem, budget, seed=seed, basis=basis, tol=_TOL)


def _mean(fits: Sequence[Fit], name: str) -> float:
    return float(np.mean([getattr(fit, name) for fit in fits]))


def _winners(row: Mapping[str, Any]) -> list[str]:
    """Return the bases that are best up to a tie, the best one first."""
    order = sorted(_BASES, key=lambda basis: float(row[f"{basis}_excess"]))
    return [basis for basis in order if row[f"{basis}_excess"] <= _TIE]


def _judge(record: Record, row: dict[str, Any]) -> None:
    if row["budget"] > _SMALL_BUDGET:
        return
    excess = row["learned_excess"]
    row["verdict"] = record.target(
        excess <= _TIE,
        f"{row['data']}, B={row['budget']}: P of learned terms is {excess:.1%} above {row['winners']}",
    )

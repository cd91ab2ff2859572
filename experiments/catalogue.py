"""The experiments, in the order of the report."""

from collections.abc import Sequence
from typing import Protocol

from experiments.curves import (
    accuracy,
    budgets,
    golden,
    merging,
    objectives,
    peaks,
    speedups,
    unbudgeted,
)
from experiments.further import (
    all_rows,
    convergence,
    feature_maps,
    iteration_cost,
    linear,
    other_duals,
    readiness,
    strategies,
)
from experiments.report.content import Section
from experiments.running.jobs import Job, Results
from experiments.scope import Scope
from experiments.tables import rates, search, table_one
from experiments.theory import lemma_one, theorem_one


class Experiment(Protocol):
    """A module that says what is to be done, and what came out."""

    __doc__: str | None

    def jobs(self, scope: Scope) -> Sequence[Job]:
        """Return the jobs whose results `section` needs."""

    def section(self, scope: Scope, results: Results) -> Section:
        """Return a part of the report."""


# By the names of the command line.
EXPERIMENTS: dict[str, Experiment] = {
    "table-one": table_one,
    "objectives": objectives,
    "accuracy": accuracy,
    "peaks": peaks,
    "speed-ups": speedups,
    "golden": golden,
    "budgets": budgets,
    "merging": merging,
    "unbudgeted": unbudgeted,
    "rates": rates,
    "all-rows": all_rows,
    "lemma-one": lemma_one,
    "theorem-one": theorem_one,
    "convergence": convergence,
    "search": search,
    "linear": linear,
    "iteration": iteration_cost,
    "strategies": strategies,
    "feature-maps": feature_maps,
    "readiness": readiness,
    "other-duals": other_duals,
}


#: What takes an hour by itself, and runs only if it is asked for.
THOROUGH = ("all-rows",)


def summary(experiment: Experiment) -> str:
    """Return what an experiment is about, in one line."""
    return (experiment.__doc__ or "").split("\n", maxsplit=1)[0].rstrip(".")

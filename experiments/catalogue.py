"""The experiments, in the order of the report."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from experiments.content import Section
from experiments.jobs import Job, Results
from experiments.scope import Scope


class Experiment(Protocol):
    """A module that says what is to be done, and what came out."""

    __doc__: str | None

    def jobs(self, scope: Scope) -> Sequence[Job]:
        """Return the jobs whose results `section` needs."""

    def section(self, scope: Scope, results: Results) -> Section:
        """Return a part of the report."""


_MODULES = (
    "table_one",
    "objectives",
    "accuracy",
    "golden",
    "budgets",
    "merging",
    "unbudgeted",
    "rates",
    "lemma_one",
    "theorem_one",
    "search",
)

# By the names of the command line. Some of the modules may still be on their way.
EXPERIMENTS: dict[str, Experiment] = {
    name.replace("_", "-"): cast(Experiment, import_module(f"experiments.{name}"))
    for name in _MODULES
    if find_spec(f"experiments.{name}")
}


def summary(experiment: Experiment) -> str:
    """Return what an experiment is about, in one line."""
    return (experiment.__doc__ or "").split("\n", maxsplit=1)[0].rstrip(".")

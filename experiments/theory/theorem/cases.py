"""Which runs `theorem_one` compares with the theorem."""

from dataclasses import asdict, dataclass

from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope
from experiments.theory.small_problems import MAKERS
from experiments.theory.theorem.counterexample import contradict
from experiments.theory.theorem.runs import bend, compare, settle

PROBLEMS = ("narrow", "medium", "rings")
COUNTEREXAMPLE, BEND = "theorem-one/counterexample", "theorem-one/bend"
_FEWEST_SEEDS, _LONG_SEEDS = 5, 3


@dataclass(frozen=True)
class Case:
    """A problem, and how BSCA is run on it."""

    problem: str
    budget: int | None
    merging: str

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.problem}-{self.budget or 'none'}-{self.merging}"

    @property
    def label(self) -> str:
        """For readers."""
        return "none" if self.budget is None else f"{self.budget}, {self.merging} merging"


def rows(scope: Scope) -> int:
    """How many points a problem has: a square, for the grid."""
    return 49 if scope.quick else 196


def budgets(scope: Scope) -> tuple[int, ...]:
    """A twentieth, a fifth and a half of the points."""
    n = rows(scope)
    return (n // 5,) if scope.quick else (n // 20, n // 5, n // 2)


def cases(scope: Scope) -> list[Case]:
    """List all runs; how to merge means nothing without a budget."""
    limited = [(B, merging) for B in budgets(scope) for merging in ("paper", "default")]
    return [Case(name, *how) for name in PROBLEMS for how in [(None, "paper"), *limited]]


def comparison(results: Results, case: Case) -> Result:
    """Return what `compare` found."""
    return results[f"theorem-one/{case.name}"]


def long_run(results: Results, case: Case) -> Result:
    """Return what `settle` found."""
    return results[f"theorem-one/settle-{case.name}"]


def make_jobs(scope: Scope) -> list[Job]:
    """List the jobs."""
    n = rows(scope)
    seeds = 2 if scope.quick else max(_FEWEST_SEEDS, scope.seeds)
    epochs, long = (4, 40) if scope.quick else (24, 400)
    found = []
    for case in cases(scope):
        common = {**asdict(case), "n": n}
        size = n if case.budget is None else case.budget
        golden = 1e-7 * size if case.merging == "paper" and case.budget else 0.0
        found += [
            Job(
                f"theorem-one/{case.name}",
                compare,
                {**common, "epochs": epochs, "seeds": seeds},
                n * seeds * epochs * (3e-4 + 2e-6 * size),
            ),
            Job(
                f"theorem-one/settle-{case.name}",
                settle,
                {**common, "epochs": long, "seeds": _LONG_SEEDS},
                n * _LONG_SEEDS * long * (3e-6 + golden),
            ),
        ]
    pair = {"similarity": 0.5, "etas": [1.0, 0.5, 0.1], "visits": 400}
    assert set(PROBLEMS) <= set(MAKERS)
    bent = {"problem": "medium", "n": n, "budget": n // 5, "visits": n}
    return [*found, Job(COUNTEREXAMPLE, contradict, pair, 0.2), Job(BEND, bend, bent, 0.5)]

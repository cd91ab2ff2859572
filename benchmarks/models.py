"""The models that are compared: one function each, so that all benchmarks mean the same."""

from benchmarks.data import Problem
from budgetsvm import BudgetSVC

SOLVERS = ("bsca", "bsgd")
BUDGETS = (200, 500)


def plain(
    problem: Problem, solver: str, budget: int, *, epochs: int, seed: int, threads: int
) -> BudgetSVC:
    """Return a solver of the paper alone, with the default maintenance and visiting order."""
    return BudgetSVC(
        C=problem.C,
        gamma=problem.gamma,
        budget=budget,
        solver=solver,
        epochs=epochs,
        random_state=seed,
        n_jobs=threads,
    )

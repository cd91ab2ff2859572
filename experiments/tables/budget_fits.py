"""Jobs that fit a model on a budget: the paper's solvers as they are, and ours in two phases."""

import warnings
from time import perf_counter
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC
from experiments.curves import runs
from experiments.problems import load
from experiments.running.jobs import Result

#: The paper's methods and, last, ours.
METHODS = ("bsgd", "bsca", "two-phase")


def parameters(method: str, epochs: float, search: str) -> dict[str, Any]:
    """Return what makes a method."""
    if method == "two-phase":
        return {}
    return {**runs.METHODS[f"{method}-golden" if search == "golden" else method], "epochs": epochs}


def fit_and_test(
    name: str,
    folder: str | None,
    method: str,
    *,
    C: float,
    gamma: float,
    budget: int,
    epochs: float,
    seed: int,
    search: str = "table",
) -> Result:
    """Train once and test; accuracy in %."""
    problem = load(name, folder)
    options = parameters(method, epochs, search)
    options = {"fit_intercept": False} | options  # the paper's machine has no bias
    model = BudgetSVC(C, gamma=gamma, budget=budget, random_state=seed, n_jobs=1, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is in the result
        started = perf_counter()
        model.fit(problem.X, problem.y)
        seconds = perf_counter() - started
    return {
        "accuracy": 100 * float(model.score(problem.X_test, problem.y_test)),
        "seconds": seconds,
        "terms": len(model.support_vectors_),
        "gap": getattr(model, "duality_gap_", None),
        "visits": sum(record["visits"] for record in model.history_),
        "merges": sum(record["merges"] for record in model.history_),
        "rows": len(problem.y),
    }


def compare_searches(name: str, folder: str | None, method: str, **options: Any) -> Result:
    """Train by golden section search, as the paper, and by the table, which should do the same."""
    most = options.pop("visits") / len(load(name, folder).y)
    options["epochs"] = min(options["epochs"], most)
    found = {
        search: fit_and_test(name, folder, method, search=search, **options)
        for search in ("golden", "table")
    }
    return {
        "visits": found["golden"]["visits"],
        **{f"{search}_{what}": result[what] for search, result in found.items() for what in _SHOWN},
    }


_SHOWN = ("seconds", "accuracy", "merges")

"""Runs of all methods with what a trace saw of them: what most figures are made of."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from budgetsvm import BudgetSVC
from budgetsvm.maintenance import Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD
from experiments.curves.looks import curve_trace, primal_looks, rare_looks
from experiments.problems import Problem, Spec, load, spec_of
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

#: The paper's merging: terms of equal sign, ranked by a golden section search each; points are drawn
#: uniformly. Ours considers terms of any sign, by a table, and visits points in random permutations.
_GOLDEN = {"maintenance": Merge(search="golden", partners="same-sign"), "polish": False}
#: The paper's but for the search: a table ranks the same up to rounding, in a small part of the time.
_PAPER = {"maintenance": Merge(partners="same-sign"), "polish": False}
METHODS: dict[str, dict[str, Any]] = {
    "bsgd": {"solver": BSGD("uniform"), **_PAPER},
    "bsca": {"solver": BSCA("uniform"), **_PAPER},
    "bsgd-golden": {"solver": BSGD("uniform"), **_GOLDEN},
    "bsca-golden": {"solver": BSCA("uniform"), **_GOLDEN},
    "bsgd-project": {"solver": BSGD("uniform"), "maintenance": Project(), "polish": False},
    "bsca-project": {"solver": BSCA("uniform"), "maintenance": Project(), "polish": False},
    "bsgd-remove": {"solver": BSGD("uniform"), "maintenance": Remove(), "polish": False},
    "bsca-remove": {"solver": BSCA("uniform"), "maintenance": Remove(), "polish": False},
    "bsgd-default": {"solver": BSGD(), "polish": False},
    "bsca-default": {"solver": BSCA(), "polish": False},
    "sgd": {"solver": BSGD("uniform"), "polish": False},
    "sca": {"solver": BSCA("uniform"), "polish": False},
    "two-phase": {},
}
GOLDEN = ("bsgd-golden", "bsca-golden")
#: Other ways to keep the budget; a projection takes long.
OTHERS = ("bsgd-project", "bsca-project", "bsgd-remove", "bsca-remove")
#: Results of all seeds by problem, method and budget.
Curves: TypeAlias = dict[tuple[str, str, int | None], list[Result]]
#: Budgets of the figures, for data that are large and for those made on the spot.
_BUDGETS, _QUICK_BUDGETS = (200, 500, 1000), (20, 40, 60)

# Seconds that a visit takes with a budget of 500, and a look per row.
_VISIT_COSTS = {"bsca-golden": 120e-6, "bsgd-golden": 50e-6}
_OTHER_COST, _LOOK_COST, _PRIMAL_COST = 2e-6, 4e-6, 1e-6


def budgets(scope: Scope) -> tuple[int, ...]:
    """Return the small, the usual and the large budget."""
    return _QUICK_BUDGETS if scope.quick else _BUDGETS


def curve_job(
    scope: Scope, spec: Spec, method: str, budget: int | None, seed: int, **options: Any
) -> Job:
    """Return the job of one run; see `watch` for the options."""
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "method": method,
        "budget": budget,
        "seed": seed,
        "epochs": spec.golden_epochs if method in (*GOLDEN, *OTHERS) else spec.epochs,
        "every": spec.look_every,
        **options,
    }
    return Job(_job_name(spec, method, budget, seed), watch, arguments, _cost(spec, arguments))


def curve_jobs(
    scope: Scope, methods: Sequence[str], sizes: Sequence[int | None], **options: Any
) -> list[Job]:
    """Return the jobs of some methods and budgets, for all problems and seeds."""
    return [
        curve_job(scope, spec, method, budget, seed, **options)
        for spec in scope.specs
        for method in methods
        for budget in sizes
        for seed in range(scope.seeds)
    ]


def gather(
    scope: Scope, results: Results, methods: Sequence[str], sizes: Sequence[int | None]
) -> Curves:
    """Return the results of some methods and budgets, for all problems."""
    seeds = range(scope.seeds)
    return {
        (spec.name, method, budget): [
            results[_job_name(spec, method, budget, seed)] for seed in seeds
        ]
        for spec in scope.specs
        for method in methods
        for budget in sizes
    }


def two_phases(scope: Scope, results: Results) -> dict[str, list[Result]]:
    """Return the results of the two-phase solver at the usual budget, by problem."""
    found = gather(scope, results, ["two-phase"], budgets(scope)[1:2])
    return {name: seeds for (name, _, _), seeds in found.items()}


def luck_of_rows(runs: Sequence[Result]) -> float:
    """Return by how many points the accuracies of frequent looks, which are on some test rows, are too good.

    The same models, at the end of the runs, have been tried on all.
    """
    return float(np.mean([100 * run["often"]["score"][-1] - run["accuracy"] for run in runs]))


def _job_name(spec: Spec, method: str, budget: int | None, seed: int) -> str:
    return f"curves/{spec.name}-{method}-{budget or 'all'}-{seed}"


def _cost(spec: Spec, arguments: dict[str, Any]) -> float:
    rows = arguments.get("rows") or spec.rows
    visit = _VISIT_COSTS.get(arguments["method"], _OTHER_COST) * (arguments["budget"] or 5000) / 500
    epochs, objectives = arguments["epochs"], arguments.get("objectives", True)
    looks = len(rare_looks(epochs)) * _LOOK_COST + len(primal_looks(epochs)) * _PRIMAL_COST
    return 1 + rows * (epochs * visit + looks * objectives)


def watch(
    *,
    name: str,
    folder: str | None,
    method: str,
    budget: int | None,
    seed: int,
    epochs: float,
    every: int,
    rows: int | None = None,
    objectives: bool = True,
    test_rows: int = 20_000,
) -> Result:
    """Train once, and return what a trace saw.

    `every`: visits between two scores; `rows`: how many of the training rows to use; `test_rows`: how many of the test
    rows, for the curves. The accuracy at the end is that on all.
    """
    problem, spec = load(name, folder, rows), spec_of(name)
    wanted = ("primal", "dual", *(["departure"] if method.startswith("bsca") else []))
    model = BudgetSVC(
        spec.C,
        gamma=spec.gamma,
        budget=budget,
        random_state=seed,
        n_jobs=1,
        fit_intercept=False,
        monitor=curve_trace(problem, epochs, every, test_rows, wanted if objectives else ()),
        **({} if method == "two-phase" else {"epochs": epochs}),
        **METHODS[method],
    )
    return _seen(model.fit(problem.X, problem.y), problem)


def _seen(model: BudgetSVC, problem: Problem) -> Result:
    """Return what the trace of a run has, and how good the model is."""
    seen = model.monitor_
    return {
        "columns": {column: _plain(seen[column]) for column in _COLUMNS}
        | {"apparent_dual": _plain(np.array(seen.apparent)), "cpu": _plain(np.array(seen.cpu))},
        "often": {column: _plain(np.array(values)) for column, values in seen.often.items()},
        "history": [_shares(record) for record in model.history_],
        "accuracy": 100 * model.score(problem.X_test, problem.y_test),
        "seconds": float(seen["seconds"][-1]),
        "cpu": float(seen.cpu[-1]),
        "size": len(model.support_vectors_),
        "gap": getattr(model, "duality_gap_", None),
        "rows": len(problem.y),
        "notes": problem.notes,
    }


_COLUMNS = ("phase", "visits", "epochs", "passes", "seconds", "size", "merging", "violating")
_COLUMNS += ("degradation", "primal", "primal_error", "dual", "dual_error", "departure")
_COLUMNS += ("departure_error", "bound", "score")


def _shares(record: Any) -> dict[str, float]:
    """Return what happened in an epoch, per visit."""
    counted = ("steps", "violations", "merges", "degradation")
    return {name: record[name] / record["visits"] for name in counted}


def _plain(values: Any) -> list[Any]:
    """Return a column as JSON has it."""
    return [None if isinstance(v, float) and not isfinite(v) else v for v in values.tolist()]

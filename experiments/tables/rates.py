"""Lemma 2: how often solvers without a budget make steps, predicted from the exact solution and measured.

Each problem has few enough rows for hundreds of epochs: the lemma is about the limit.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from budgetsvm import BudgetSVC
from budgetsvm.solvers import BSCA, BSGD
from experiments.exact.solution import exact_job
from experiments.problems import Spec, load
from experiments.report import style
from experiments.report.content import Data, Picture, Section, Table
from experiments.report.wording import mean_and_spread
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope
from experiments.tables.rate_claims import LATE, Rates, rates_claims

_ROWS, _QUICK_ROWS = 5000, 500
# Coordinate ascent takes longer: a variable on its way to a bound C away is not bounded yet.
_EPOCHS = {"sca": 1000, "sgd": 500}
_QUICK_EPOCHS = 200
SOLVERS = {"sca": BSCA(order="uniform"), "sgd": BSGD(order="uniform")}
_MOST_SEEDS = 2  # the rates hardly depend on them, and a run takes half a minute
_COST = {"sca": 1e-9, "sgd": 6e-10}  # seconds per visit and row
_AT_HAND = "Random subsets, so that the limit can be reached: the rates of all rows differ from these, see `--thorough`."
_ABOUT = (
    (
        "Lemma 2 predicts from the exact solution α* at which share of the visits the solvers without a "
        "budget make a step, once they have converged: *p*(SGD) = mean of α*/C, *p*(SCA) = share of the free "
        "variables, 0 < α* < C. With a budget, each of these steps calls for maintenance."
    ),
    (
        "The paper defines *p* as the share of visits with a **margin below 1**. For SGD this is the same as "
        "the share of steps. For SCA it is not: points at α = C have a margin below 1 for ever, and make no "
        "step. The proof counts visits of free variables, i.e. steps with δ ≠ 0; so does Algorithm 1, which "
        "inserts a term only then. So we take *p*(SCA) as the **rate of steps**. The share of visits with a "
        "margin below 1 lies between the share of the bounded variables and that share plus *p*(SCA); free "
        "variables are below 1 at about every other visit, so we expect the middle of the two (last columns "
        "of the table). That is an observation, not part of the lemma."
    ),
)


def jobs(scope: Scope) -> list[Job]:
    """Return the exact solutions, and a run of each solver per seed."""
    found = []
    for spec in scope.specs:
        found.append(exact_job(scope, spec, _rows(scope)))
        found += [_run(scope, spec, solver, seed) for solver in SOLVERS for seed in _seeds(scope)]
    return found


def _run(scope: Scope, spec: Spec, solver: str, seed: int) -> Job:
    rows, epochs = _rows(scope), _QUICK_EPOCHS if scope.quick else _EPOCHS[solver]
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "rows": rows,
        "C": spec.C,
        "gamma": spec.gamma,
        "solver": solver,
        "epochs": epochs,
        "seed": seed,
    }
    name = f"rates/{spec.name}-{solver}-{seed}"
    return Job(name, count_steps, arguments, cost=0.5 + _COST[solver] * rows**2 * epochs)


def count_steps(
    name: str,
    folder: str | None,
    rows: int,
    *,
    C: float,
    gamma: float,
    solver: str,
    epochs: int,
    seed: int,
) -> Result:
    """Train without a budget; return per epoch the shares of steps and of visits with a margin below 1."""
    problem = load(name, folder, rows)
    model = BudgetSVC(
        C=C,
        gamma=gamma,
        budget=None,
        solver=SOLVERS[solver],
        epochs=epochs,
        polish=False,
        fit_intercept=False,
        random_state=seed,
        n_jobs=1,
    ).fit(problem.X, problem.y)
    history = model.history_
    return {
        "steps": [record["steps"] / record["visits"] for record in history],
        "violations": [record["violations"] / record["visits"] for record in history],
        "seconds": sum(record["seconds"] for record in history),
    }


def section(scope: Scope, results: Results) -> Section:
    """Compare the predictions with the measured rates."""
    found = [_gather(scope, spec, results) for spec in scope.specs]
    parts = (rates_table(found), rates_picture(found))
    return Section("Lemma 2: the rate of steps", _ABOUT, parts, rates_claims(found))


def _gather(scope: Scope, spec: Spec, results: Results) -> Rates:
    exact = results[exact_job(scope, spec, _rows(scope)).name]
    runs = {
        solver: [results[_run(scope, spec, solver, seed).name] for seed in _seeds(scope)]
        for solver in SOLVERS
    }
    return Rates(spec.name, exact, runs)


def rates_table(found: Sequence[Rates], name: str = "rates") -> Table:
    """Return the table of some data sets."""
    columns = (
        "data",
        "rows",
        "p(SGD), lemma",
        "SGD, steps",
        "p(SCA), lemma",
        "SCA, steps",
        "at C + ½ free",
        "SCA, margin < 1",
    )
    shown = [_shown(rates) for rates in found]
    numbers = [
        (r.name, seed, r.exact["rows"], r.sgd, sgd, r.sca, sca, r.sca_violations, violations)
        for r in found
        for seed, (sgd, sca, violations) in enumerate(
            zip(r.late("sgd", "steps"), *_sca(r), strict=True)
        )
    ]
    caption = (
        f"Shares of the visits in %, mean ± standard deviation over {len(found[0].runs['sca'])} seeds, over the last "
        f"{LATE:.0%} of {_lengths(found)}. Predictions are from α* with a relative duality gap of "
        f"{max(r.exact['relative_gap'] for r in found):.0e} at most. "
        f"{_AT_HAND if name == 'rates' else ''}"
    )
    return Table(
        name,
        "Steps per visit: lemma 2 and measurements",
        caption,
        Data(columns, shown),
        Data((columns[0], "seed", *columns[1:]), numbers),
    )


def _shown(rates: Rates) -> tuple[str, ...]:
    return (
        rates.name,
        f"{rates.exact['rows']:,}",
        f"{rates.sgd:.2f}",
        mean_and_spread(rates.late("sgd", "steps")),
        f"{rates.sca:.2f}",
        mean_and_spread(rates.late("sca", "steps")),
        f"{rates.sca_violations:.2f}",
        mean_and_spread(rates.late("sca", "violations")),
    )


def _sca(rates: Rates) -> tuple[list[float], list[float]]:
    return rates.late("sca", "steps"), rates.late("sca", "violations")


def _lengths(found: Sequence[Rates]) -> str:
    n = {solver: len(found[0].runs[solver][0]["steps"]) for solver in SOLVERS}
    return f"{n['sca']:,} epochs of SCA and {n['sgd']:,} of SGD"


def rates_picture(found: Sequence[Rates], name: str = "rates") -> Picture:
    """Return the figure of some data sets."""
    rows = [
        (r.name, solver, seed, epoch + 1, 100 * steps, 100 * violations)
        for r in found
        for solver, runs in r.runs.items()
        for seed, run in enumerate(runs)
        for epoch, (steps, violations) in enumerate(
            zip(run["steps"], run["violations"], strict=True)
        )
    ]
    columns = ("data", "solver", "seed", "epoch", "steps in %", "margin below 1 in %")
    caption = (
        "Share of the visits that are steps; median and range over seeds. Horizontal lines: predictions of lemma 2. "
        "Epochs from which on SCA makes fewer steps than SGD: "
        f"{', '.join(f'{r.name} {r.crossing()}' for r in found)}."
    )
    title = "Steps per visit without a budget, over epochs"
    return Picture(f"{name}-curves", title, caption, partial(_draw, found), Data(columns, rows))


def _draw(found: Sequence[Rates]) -> Any:
    figure, panels = style.new_figure(len(found))
    with style.context():
        for axes, r in zip(panels, found, strict=True):
            for solver, predicted in (("sgd", r.sgd), ("sca", r.sca)):
                runs = 100 * np.array([run["steps"] for run in r.runs[solver]])
                look = style.look(solver)
                style.draw_band(axes, 1 + np.arange(len(runs[0])), runs, **look)
                label = f"{solver.upper()}, lemma 2"
                axes.axhline(predicted, color=look["color"], linestyle=":", label=label)
            axes.set(title=r.name, xscale="log", xlabel="epoch", ylabel="steps per visit, %")
            axes.set_ylim(bottom=0)
    style.add_legend(figure)
    return figure


def _rows(scope: Scope) -> int:
    return _QUICK_ROWS if scope.quick else _ROWS


def _seeds(scope: Scope) -> range:
    return range(min(scope.seeds, _MOST_SEEDS))

"""Lemma 2: how often solvers without a budget make steps, predicted from the exact solution and measured.

Each problem has few enough rows for hundreds of epochs: the lemma is about the limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from budgetsvm import BudgetSVC
from budgetsvm.solvers import BSCA, BSGD
from experiments.exact.solution import exact_job
from experiments.problems import Spec, load
from experiments.report import style
from experiments.report.content import Claim, Data, Picture, Section, Table
from experiments.report.wording import judge, mean_and_spread, signed
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_ROWS, _QUICK_ROWS = 5000, 500
# Coordinate ascent takes longer: a variable on its way to a bound C away is not bounded yet.
_EPOCHS = {"sca": 1000, "sgd": 500}
_QUICK_EPOCHS = 200
_SOLVERS = {"sca": BSCA(order="uniform"), "sgd": BSGD(order="uniform")}
_MOST_SEEDS = 3  # the rates hardly depend on them, and a run takes half a minute
_LATE = 0.2  # the share of the epochs that counts as the limit
_POINTS = 2.0  # percentage points by which a rate may be off
_MOVES = 0.2  # points between the last two windows: a rate that has not settled
_COST = {"sca": 1e-9, "sgd": 6e-10}  # seconds per visit and row
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
        found += [_run(scope, spec, solver, seed) for solver in _SOLVERS for seed in _seeds(scope)]
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
        solver=_SOLVERS[solver],
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


@dataclass(frozen=True)
class _Rates:
    """What was predicted for a data set, and what was seen; all in %."""

    name: str
    exact: Result
    runs: Mapping[str, Sequence[Result]]

    @property
    def sgd(self) -> float:
        return 100 * float(self.exact["p_sgd"])

    @property
    def sca(self) -> float:
        return 100 * float(self.exact["p_sca"])

    @property
    def sca_violations(self) -> float:
        """Points at C violate the margin always, free ones at about every other visit."""
        return 100 * float(self.exact["p_bounded"] + self.exact["p_sca"] / 2)

    def late(self, solver: str, what: str, windows: int = 1) -> list[float]:
        """Return the rate in the last epochs, per seed; windows=2: in as many epochs before these."""
        length = max(1, round(_LATE * len(self.runs[solver][0][what])))
        here = slice(-windows * length, (1 - windows) * length or None)
        return [100 * fmean(run[what][here]) for run in self.runs[solver]]

    def moves(self, solver: str, what: str) -> bool:
        """Return whether the rate has not settled yet: then it says little about the limit."""
        change = fmean(self.late(solver, what)) - fmean(self.late(solver, what, windows=2))
        return abs(change) > _MOVES

    def crossing(self) -> str:
        """Return the epoch from which on SCA makes fewer steps than SGD, means over seeds."""
        sca, sgd = (np.mean([run["steps"] for run in self.runs[s]], axis=0) for s in _SOLVERS)
        n = min(len(sca), len(sgd))
        more = np.flatnonzero(sca[:n] >= sgd[:n])
        last = int(more[-1]) + 1 if len(more) else 0
        return f"{last + 1:,}" if last < n else "never"

    def error(self, solver: str, what: str) -> float:
        """Return how far the lemma is from what was seen, in points."""
        predicted = self.sgd if solver == "sgd" else self.sca
        return fmean(self.late(solver, what)) - predicted


def section(scope: Scope, results: Results) -> Section:
    """Compare the predictions with the measured rates."""
    found = [_gather(scope, spec, results) for spec in scope.specs]
    parts = (_table(found), _picture(found))
    return Section("Lemma 2: the rate of steps", _ABOUT, parts, _claims(found))


def _gather(scope: Scope, spec: Spec, results: Results) -> _Rates:
    exact = results[exact_job(scope, spec, _rows(scope)).name]
    runs = {
        solver: [results[_run(scope, spec, solver, seed).name] for seed in _seeds(scope)]
        for solver in _SOLVERS
    }
    return _Rates(spec.name, exact, runs)


def _table(found: Sequence[_Rates]) -> Table:
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
        f"{_LATE:.0%} of {_lengths(found)}. Predictions are from α* with a relative duality gap of "
        f"{max(r.exact['relative_gap'] for r in found):.0e} at most. Random subsets, so that the limit can be reached: the "
        "rates of all rows differ from these."
    )
    return Table(
        "rates",
        "Steps per visit: lemma 2 and measurements",
        caption,
        Data(columns, shown),
        Data((columns[0], "seed", *columns[1:]), numbers),
    )


def _shown(rates: _Rates) -> tuple[str, ...]:
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


def _sca(rates: _Rates) -> tuple[list[float], list[float]]:
    return rates.late("sca", "steps"), rates.late("sca", "violations")


def _lengths(found: Sequence[_Rates]) -> str:
    n = {solver: len(found[0].runs[solver][0]["steps"]) for solver in _SOLVERS}
    return f"{n['sca']:,} epochs of SCA and {n['sgd']:,} of SGD"


def _picture(found: Sequence[_Rates]) -> Picture:
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
        "Share of the visits that are steps; median and range over seeds. Horizontal lines: predictions of lemma 2. The "
        "limit of SCA is far away: only from these epochs on are its steps fewer than SGD's: "
        f"{', '.join(f'{r.name} {r.crossing()}' for r in found)}."
    )
    title = "Steps per visit without a budget, over epochs"
    return Picture("rates-curves", title, caption, partial(_draw, found), Data(columns, rows))


def _draw(found: Sequence[_Rates]) -> Any:
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


def _claims(found: Sequence[_Rates]) -> list[Claim]:
    rule = (
        f"(rule: within {_POINTS:g} points on every data set; not settled: the rate still moves by over {_MOVES:g} points "
        f"from one {_LATE:.0%} of the epochs to the next)"
    )
    cases = (
        ("p(SGD) is the mean of α*/C", "sgd", "steps"),
        ("p(SCA) is the share of free variables, counting steps as its proof does", "sca", "steps"),
        ("p(SCA) is the share of free variables, counting margins below 1", "sca", "violations"),
    )
    return [
        Claim(statement, "lemma 2", f"{_errors(found, solver, what)} {rule}", verdict)
        for statement, solver, what in cases
        for verdict in [judge([abs(r.error(solver, what)) <= _POINTS for r in found])]
    ]


def _errors(found: Sequence[_Rates], solver: str, what: str) -> str:
    errors = [
        f"{r.name} {signed(r.error(solver, what), 1)}"
        + (" (not settled)" if r.moves(solver, what) else "")
        for r in found
    ]
    return f"measured minus predicted, points: {', '.join(errors)}"


def _rows(scope: Scope) -> int:
    return _QUICK_ROWS if scope.quick else _ROWS


def _seeds(scope: Scope) -> range:
    return range(min(scope.seeds, _MOST_SEEDS))

"""Which terms are good enough for a polish, and what limits BSCA: its terms or itself (section 6)."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC
from budgetsvm.monitoring import Trace
from budgetsvm.solvers import BSCA, BSGD
from experiments.curves.runs import budgets
from experiments.problems import Spec, load, spec_of
from experiments.report import style, ticks
from experiments.report.content import Cell, Claim, Data, Picture, Section, Table
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_EPOCHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_MOST_ROWS, _MOST_SEEDS = 50_000, 3
_GOOD = 0.02  # an excess of the polished P over the best of all lengths: terms that are good enough
_NEAR = 1.1  # times the best P in the span: a model that its terms limit, and nothing else
_SOLVERS = {"bsca": BSCA("uniform"), "bsgd": BSGD("uniform")}
_KINDS = {
    "departure": "mean (f̃ − f)²",
    "degradation": "degradation",
    "primal": "P(w̃)",
    "epochs": "epochs",
}


def polish_after(
    *,
    name: str,
    folder: str | None,
    budget: int,
    seed: int,
    epochs: list[float],
    rows: int,
    solver: str = "bsca",
) -> Result:
    """Polish the terms after phases 1 of several lengths; first, beside BSCA, random rows as terms."""
    problem, spec = load(name, folder, rows), spec_of(name)
    lines = []
    for length in [None, *epochs] if solver == "bsca" else epochs:
        learned = {"solver": _SOLVERS[solver], "epochs": length} if length else {"basis": "random"}
        model = BudgetSVC(
            spec.C,
            gamma=spec.gamma,
            budget=budget,
            tol=1e-3,
            random_state=seed,
            n_jobs=1,
            fit_intercept=False,
            monitor=Trace([10**12], objectives=("primal", "departure"), effort=2e7),
            **learned,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(problem.X, problem.y)
        seen = model.monitor_
        before = [line for line in seen.observations if line.phase == "learn"][-1:]
        lines.append(
            {
                "epochs": length,
                "departure": before[0].departure / len(problem.y) if length else None,
                "degradation": before[0].degradation if length else None,
                "primal": before[0].primal if length else None,
                "polished": float(model.objective_[0]),
                "bound": float(model.objective_[1]),
                "accuracy": 100 * float(model.score(problem.X_test, problem.y_test)),
            }
        )
    return {"lines": lines}


def jobs(scope: Scope) -> list[Job]:
    """A job per problem, budget and seed, and one for the primal cousin."""
    return [
        job(scope, spec, budget, seed)
        for job in (_job, _cousin)
        for spec in scope.specs
        for budget in budgets(scope)[:2]
        for seed in _seeds(scope)
    ]


def _seeds(scope: Scope) -> range:
    return range(min(scope.seeds, _MOST_SEEDS))


def _job(scope: Scope, spec: Spec, budget: int, seed: int) -> Job:
    rows = min(spec.rows, _MOST_ROWS)
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "budget": budget,
        "seed": seed,
        "epochs": list(_EPOCHS[:4] if scope.quick else _EPOCHS),
        "rows": rows,
    }
    name = f"readiness/{spec.name}-{budget}-{seed}"
    return Job(name, polish_after, arguments, 2 + 4e-7 * rows * budget)


def _cousin(scope: Scope, spec: Spec, budget: int, seed: int) -> Job:
    """The same of BSGD, after the longest phase 1."""
    job = _job(scope, spec, budget, seed)
    arguments = {**job.arguments, "epochs": job.arguments["epochs"][-1:], "solver": "bsgd"}
    name = f"readiness/{spec.name}-{budget}-{seed}-bsgd"
    return Job(name, polish_after, arguments, job.cost / 3)


def section(scope: Scope, results: Results) -> Section:
    """Draw the polished P over the departure, and count what tells."""
    found, cousins = (
        {
            (spec.name, budget): [
                results[job(scope, spec, budget, s).name]["lines"] for s in _seeds(scope)
            ]
            for spec in scope.specs
            for budget in budgets(scope)[:2]
        }
        for job in (_job, _cousin)
    )
    signs = _signs(found)
    text = (
        "Phase 2 finds the best coefficients for the terms that phase 1 has learned. When are these good enough? By the bound that holds (see Theorem 1), what BSCA loses to the budget is half of "
        "the mean squared departure (f̃ − f)² of the model from its dual variables, so that is a quantity to watch. We stop phase 1 after several lengths, note the departure, polish, and see whether the two go together. "
        f"{'' if scope.quick else _answer(signs)}"
    )
    parts = (_picture(scope, found, cousins), _table(found, signs))
    title = "Terms that are good enough for a polish"
    return Section(title, [text], parts, _claims(found, cousins))


_Found = dict[tuple[str, int], list[list[dict[str, Any]]]]


def _learned(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["epochs"] is not None]


def _excess(lines: Sequence[dict[str, Any]]) -> list[float]:
    """By how much the polished P exceeds the best of all lengths, relative to it."""
    values = [line["polished"] for line in _learned(lines)]
    return [value / min(values) - 1 for value in values]


def _signs(found: _Found) -> dict[str, list[float]]:
    """Rank correlations of what one could watch with what the polish comes to, per setting: medians over seeds."""
    signs: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for seeds in found.values():
        for kind in _KINDS:
            values = [
                float(spearmanr([line[kind] for line in _learned(lines)], _excess(lines))[0])
                for lines in seeds
            ]
            signs[kind].append(float(np.nanmedian(values)))
    return signs


def _answer(signs: dict[str, list[float]]) -> str:
    tells = sum(value > 0.5 for value in signs["departure"])
    against = sum(value < -0.5 for value in signs["departure"])
    n = len(signs["departure"])
    word = "It does" if tells == n else "It does not" if tells == 0 else "It does in part"
    return (
        f"{word}: over the lengths, the departure and the P after the polish rise and fall together (rank correlation above 0.5) in {tells} of {n} settings, and against each other (below −0.5) in "
        f"{against}. In the latter the departure grows while the terms get better: it measures how far α and the model have parted, which a polish mends, not where the terms are."
    )


def _picture(scope: Scope, found: _Found, cousins: _Found) -> Picture:
    sizes = budgets(scope)[:2]

    def draw() -> Any:
        figure, panels = style.new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for budget in sizes:
                for seed, lines in enumerate(found[spec.name, budget]):
                    x = [line["departure"] for line in _learned(lines)]
                    y = [100 * max(value, 1e-5) for value in _excess(lines)]
                    label = f"B = {budget}" if seed == 0 else "_"
                    axes.plot(x, y, **style.look(budget, among=sizes, label=label, linewidth=0.9))
            axes.axhline(100 * _GOOD, color=style.INK, linewidth=0.8, linestyle=":")
            ticks.log(axes, "x")
            ticks.log(axes)
            axes.set(
                title=spec.name, xlabel="mean (f̃ − f)² after phase 1", ylabel="excess of P in %"
            )
        style.add_legend(figure)
        return figure

    rows: list[tuple[Cell, ...]] = [
        (*key, solver, seed, *line.values())
        for solver, some in (("bsca", found), ("bsgd", cousins))
        for key, seeds in some.items()
        for seed, lines in enumerate(seeds)
        for line in lines
    ]
    names = tuple(next(iter(found.values()))[0][0])
    caption = (
        f"P after the polish, above the best of all lengths of phase 1 ({', '.join(f'{e:g}' for e in _lengths(found))} epochs, along each line; one line per seed), over the departure at the end of phase 1. "
        f"If the departure told when to stop, good terms (below the dotted line, {100 * _GOOD:g} %) would lie at one side."
    )
    data = Data(("data", "budget", "solver", "seed", *names), rows)
    return Picture("readiness", "The polished model over the departure", caption, draw, data)


def _lengths(found: _Found) -> list[float]:
    return [line["epochs"] for line in _learned(next(iter(found.values()))[0])]


def _table(found: _Found, signs: dict[str, list[float]]) -> Table:
    columns = (
        "data",
        "B",
        *(f"by {name}" for name in _KINDS.values()),
        "random rows",
        "shortest that is good",
    )
    shown, numbers = [], []
    for place, (key, seeds) in enumerate(found.items()):
        values = [signs[kind][place] for kind in _KINDS]
        random = float(np.median([lines[0]["polished"] / _least(lines) for lines in seeds]))
        good = float(np.median([_shortest(lines) for lines in seeds]))
        shown.append(
            (key[0], str(key[1]), *(f"{v:+.2f}" for v in values), f"{random:.3f}", f"{good:g}")
        )
        numbers.append((*key, *values, random, good))
    caption = (
        "Rank correlation, over the lengths of phase 1, of the polished P with what one could watch (median over seeds): +1 if small means good. Random rows: P of as many random "
        f"rows as terms, polished, relative to the best of the learned ones. Last: epochs after which P is within {100 * _GOOD:g} % of the best."
    )
    names = ("data", "budget", *(f"correlation_{kind}" for kind in _KINDS), "random_rows", "epochs")
    title = "What tells how good the terms are"
    return Table("readiness-signs", title, caption, Data(columns, shown), Data(names, numbers))


def _least(lines: Sequence[dict[str, Any]]) -> float:
    return float(min(line["polished"] for line in _learned(lines)))


def _shortest(lines: Sequence[dict[str, Any]]) -> float:
    return float(
        next(
            line["epochs"]
            for line, excess in zip(_learned(lines), _excess(lines), strict=True)
            if excess <= _GOOD
        )
    )


def _claims(found: _Found, cousins: _Found) -> list[Claim]:
    ratios = {
        key: [
            float(np.median([lines[-1]["primal"] / lines[-1]["polished"] for lines in some]))
            for some in (cousins[key], seeds)
        ]
        for key, seeds in found.items()
    }
    near = {f"{n} B = {b}": max(pair) <= _NEAR for (n, b), pair in ratios.items()}
    listed = ", ".join(
        f"{n} B = {b} {sgd:.2g} | {sca:.2g}" for (n, b), (sgd, sca) in ratios.items()
    )
    return [
        Claim(
            "Like its primal cousin, BSCA is fundamentally limited only by the approximation error induced by the budget; asymptotically the performance of BSGD is governed by it.",
            "section 6; section 2, SVMs on a Budget",
            f"Both are {tally(near)}. P after {max(_lengths(found)):g} epochs, divided by the least P that its own terms allow for, BSGD | BSCA, merging by our defaults: {listed} (rule: {_NEAR:g} at most for both, everywhere)",
            judge([*near.values()]),
        )
    ]

"""Projection and removal beside merging: objective and accuracy (sections 2 and 3)."""

from dataclasses import replace
from typing import Any

import numpy as np

from experiments.curves.panels import as_data, column, draw_over_epochs, in_percent
from experiments.curves.runs import OTHERS, budgets, curve_jobs, gather
from experiments.report import style, ticks
from experiments.report.content import Claim, Data, Picture, Section, Table
from experiments.report.error_bars import RULE, difference
from experiments.report.wording import judge, mean_and_spread, seconds_text, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_MOST_SEEDS = 3
_SOLVERS, _WAYS = ("bsgd", "bsca"), ("", "-project", "-remove")
_NEAR = 0.1  # mean (f̃ − f)², where f is of the order of 1
_WORKS = 3.0  # points of accuracy: who has so many less does not work properly
_NAMES = {"": "merging", "-project": "projection", "-remove": "removal"}
_METHODS = tuple(f"{solver}{way}" for way in _WAYS for solver in _SOLVERS)
_LINES = {"": "-", "-project": "--", "-remove": ":"}


def jobs(scope: Scope) -> list[Job]:
    """List the runs, at the small budget."""
    assert set(OTHERS) <= set(_METHODS)
    return curve_jobs(_less(scope), _METHODS, budgets(scope)[:1])


def _less(scope: Scope) -> Scope:
    """Three seeds will do: a projection takes long."""
    return replace(scope, seeds=min(scope.seeds, _MOST_SEEDS))


def section(scope: Scope, results: Results) -> Section:
    """Draw P and the accuracy over as many epochs as the slowest has."""
    scope = _less(scope)
    found = gather(scope, results, _METHODS, budgets(scope)[:1])
    runs = {(name, method): seeds for (name, method, _), seeds in found.items()}
    text = (
        "*The same options are available as in BSGD*: merging two terms, projecting the lightest term onto all others, or removing it. The paper merges. "
        "Here are all three, with both solvers and the small budget."
    )
    parts = (
        _picture(scope, runs, "primal"),
        _picture(scope, runs, "score"),
        _table(scope, runs),
    )
    return Section("Merging, projection and removal", [text], parts, _claims(scope, runs))


def _cut(run: Result, epochs: float) -> Result:
    """Return the part of a trace up to so many epochs."""
    keep = column(run, "epochs") <= epochs * 1.01
    columns = {
        name: [value for value, kept in zip(values, keep, strict=True) if kept]
        for name, values in run["columns"].items()
    }
    return {**run, "columns": columns}


def _epochs(runs: dict[Any, list[Result]], name: str) -> float:
    return float(column(runs[name, "bsca-project"][0], "epochs")[-1])


def _picture(scope: Scope, runs: dict[Any, list[Result]], what: str) -> Picture:
    def draw() -> Any:
        figure, panels = style.new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for solver in _SOLVERS:
                for way in _WAYS:
                    some = [
                        _cut(run, _epochs(runs, spec.name)) for run in runs[spec.name, solver + way]
                    ]
                    look = style.look(
                        solver,
                        label=f"{solver.upper()}, {_NAMES[way]}",
                        linestyle=_LINES[way],
                        band="none",
                    )
                    shown = [in_percent(run) for run in some] if what == "score" else some
                    draw_over_epochs(axes, shown, what, **look)
            ticks.log(axes, "x")
            if what == "primal":
                ticks.log(axes)
            axes.set(title=spec.name, xlabel="epochs")
            axes.set_ylabel("P" if what == "primal" else "test accuracy in %")
        style.add_legend(figure)
        return figure

    title = f"{'P' if what == 'primal' else 'Test accuracy'} by merging, projection and removal"
    caption = f"B = {budgets(scope)[0]}, median of {scope.seeds} seeds; partners of equal sign, as in the paper."
    return Picture(f"strategies-{what}", title, caption, draw, as_data(runs, ("data", "method")))


def _end(runs: dict[Any, list[Result]], name: str, method: str) -> dict[str, Any]:
    """What a method has come to after the epochs that all have."""
    some = [_cut(run, _epochs(runs, name)) for run in runs[name, method]]
    found: dict[str, Any] = {
        key: [float(column(run, key)[-1]) for run in some] for key in ("primal", "score", "cpu")
    }
    found["apart"] = [
        float(column(run, "departure")[-1]) / run["rows"]
        for run in some
        if "departure" in run["columns"]
    ]
    return found


def _table(scope: Scope, runs: dict[Any, list[Result]]) -> Table:
    columns = (
        "data",
        "solver",
        "maintenance",
        "epochs",
        "P",
        "accuracy",
        "seconds",
        "mean (f̃ − f)²",
    )
    shown, numbers = [], []
    for spec in scope.specs:
        for solver in _SOLVERS:
            for way in _WAYS:
                end = _end(runs, spec.name, solver + way)
                epochs = _epochs(runs, spec.name)
                apart = f"{np.median(end['apart']):.2g}" if solver == "bsca" else "–"
                texts = (
                    f"{np.median(end['primal']):.3g}",
                    mean_and_spread([100 * s for s in end["score"]]),
                    seconds_text(min(end["cpu"])),
                    apart,
                )
                shown.append((spec.name, solver.upper(), _NAMES[way], f"{epochs:.2g}", *texts))
                numbers += [
                    (spec.name, solver, _NAMES[way], seed, epochs, *line)
                    for seed, line in enumerate(
                        zip(*(end[k] for k in ("primal", "score", "cpu", "apart")), strict=True)
                    )
                ]
    names = ("data", "solver", "maintenance", "seed", "epochs", "primal", "score", "cpu_seconds")
    caption = (
        f"B = {budgets(scope)[0]}, {scope.seeds} seeds: median of P, mean ± standard deviation of the test accuracy in %, fewest seconds of the processor, and how far "
        "the model is from its dual variables, which BSGD does not use."
    )
    title = "After the same number of epochs"
    data = Data((*names, "mean_squared_departure"), numbers)
    return Table("strategies", title, caption, Data(columns, shown), data)


def _claims(scope: Scope, runs: dict[Any, list[Result]]) -> list[Claim]:
    ends = {
        spec.name: {way: _end(runs, spec.name, f"bsca{way}") for way in _WAYS}
        for spec in scope.specs
    }
    primal = {
        spec.name: {way: _end(runs, spec.name, f"bsgd{way}") for way in _WAYS}
        for spec in scope.specs
    }
    size = f"B = {budgets(scope)[0]}"
    return [_compromise(primal, size), _near(ends, size), _important(ends, size)]


_Ends = dict[str, dict[str, dict[str, Any]]]


def _compromise(ends: _Ends, size: str) -> Claim:
    met, texts = {}, []
    for name, ways in ends.items():
        P = {way: float(np.median(ways[way]["primal"])) for way in _WAYS}
        seconds = {way: min(ways[way]["cpu"]) for way in _WAYS}
        met[name] = P[""] < P["-remove"] and seconds[""] < seconds["-project"]
        texts.append(
            f"{name} {' | '.join(f'{P[way]:.3g}' for way in _WAYS)} in {' | '.join(seconds_text(seconds[way]) for way in _WAYS)} s"
        )
    return Claim(
        "Merging is a good compromise between the induced error and the computational effort.",
        "section 2, SVMs on a Budget",
        f"Better than removal and faster than projection {tally(met)}. P of BSGD, {size}, and seconds, merging | projection | removal: {'; '.join(texts)} "
        "(rule: a smaller P than removal and less time than projection, everywhere)",
        judge([*met.values()]),
    )


def _apart(ways: dict[str, dict[str, Any]]) -> dict[str, float]:
    return {way: float(np.median(ways[way]["apart"])) for way in _WAYS}


def _near(ends: _Ends, size: str) -> Claim:
    near, texts = {}, []
    for name, ways in ends.items():
        apart = _apart(ways)
        near[name] = max(apart[""], apart["-project"]) <= _NEAR
        texts.append(f"{name} " + " | ".join(f"{apart[way]:.2g}" for way in _WAYS))
    return Claim(
        "For reasonable settings of the budget w̃ ≈ w is achieved by non-trivial maintenance like merging and projection.",
        "section 3",
        f"Both do {tally(near)}. Mean (f̃ − f)² of BSCA, {size}, merging | projection | removal: {'; '.join(texts)} (rule: {_NEAR:g} at most for both, everywhere; decision values are of the "
        "order of 1)",
        judge([*near.values()]),
    )


def _important(ends: _Ends, size: str) -> Claim:
    """Removal does not care for w̃ ≈ w; what does it lose?"""
    worse, texts = {}, []
    for name, ways in ends.items():
        apart = _apart(ways)
        gain = difference(*([100 * s for s in ways[way]["score"]] for way in ("", "-remove")))
        worse[name] = gain.above and gain.mean >= _WORKS and apart["-remove"] > apart[""]
        texts.append(f"{name} {gain.text(1)}")
    return Claim(
        "For the overall algorithm to work properly, it is important to maintain the approximate relation w̃ ≈ w.",
        "section 3",
        f"Where it is not maintained, by removal, BSCA ({size}) is worse {tally(worse)}. Points of accuracy by merging minus those by removal: {', '.join(texts)} (rule: {_WORKS:g} points or more, "
        f"by over {RULE}, and farther from w, everywhere)",
        judge([*worse.values()]),
    )

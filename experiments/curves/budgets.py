"""BSCA with two budgets on one time axis, and the drift: figures 6 and 7 of the paper (appendix B)."""

from typing import Any

import numpy as np

from experiments.curves.accuracy import draw_percent, frame_accuracy
from experiments.curves.panels import (
    as_data,
    column,
    draw_over_epochs,
    draw_over_time,
    final,
    learning,
)
from experiments.curves.runs import budgets, curve_jobs, gather
from experiments.exact.reference import accuracy as exact_accuracy
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import remark
from experiments.report import ticks
from experiments.report.content import Claim, Picture, Section
from experiments.report.style import add_legend, look, new_figure
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("bsca", "bsca-default", "two-phase")
_RISEN = 0.1  # a P that ends by this share above its least has drifted
_MUCH = 1.5  # times as fast
_LESS = 0.5  # points: what a budget may lack, and still suffices
_LEVELS = (5.0, 2.0, 1.0, 0.5)  # points below the exact SVM


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    return [*curve_jobs(scope, _METHODS, budgets(scope)[:2]), *exact_jobs(scope)]


def section(scope: Scope, results: Results) -> Section:
    """Draw accuracy and objectives over time, and the drift over many epochs."""
    runs = gather(scope, results, _METHODS, budgets(scope)[:2])
    exact = {spec.name: exact_accuracy(scope, results, spec) for spec in scope.specs}
    pictures = [_accuracy(scope, runs, exact), _objectives(scope, runs), _drift(scope, runs)]
    text = (
        "A smaller budget makes epochs faster. The last figure looks for the drift that the paper reports: α, and with it "
        "D and P, grow as the budgeted model loses what the steps put into it. The polish has no such drift: it solves the problem in the "
        "span of the terms to a certified optimum."
    )
    claims = [
        _speed_claim(scope, runs),
        _suboptimal(scope, runs),
        _suffices(scope, runs),
        _larger_is_faster(scope, runs, exact),
        _drift_claim(scope, runs),
    ]
    return Section("Effect of the budget", [text], pictures, claims)


def _accuracy(scope: Scope, runs: dict[Any, list[Result]], exact: dict[str, float]) -> Picture:
    sizes = budgets(scope)[:2]

    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for method in _METHODS:
                for budget in sizes:
                    seeds = runs[spec.name, method, budget]
                    draw_percent(axes, seeds, look(method, budget, sizes))
            axes.axhline(exact[spec.name], **look("exact", marker=""))
            frame_accuracy(
                axes, spec.name, exact[spec.name], runs[spec.name, "two-phase", sizes[1]]
            )
        add_legend(figure)
        return figure

    caption = f"Budgets {sizes[0]} and {sizes[1]}, {scope.seeds} seeds, median and quartiles.{remark(scope)}"
    title = "Test accuracy of BSCA over time, two budgets"
    data = as_data(runs, ("data", "method", "budget"))
    return Picture("accuracy-budgets", title, caption, draw, data)


def _objectives(scope: Scope, runs: dict[Any, list[Result]]) -> Picture:
    sizes = budgets(scope)[:2]

    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for method in ("bsca", "two-phase"):
                for budget in sizes:
                    _draw_objectives(axes, method, runs[spec.name, method, budget], (budget, sizes))
            _frame(axes, spec.name, runs[spec.name, "two-phase", sizes[1]])
            axes.set(xlabel="training time in s")
        add_legend(figure)
        return figure

    caption = (
        f"Budgets {sizes[0]} and {sizes[1]}, {scope.seeds} seeds, median and range; BSCA as in the paper. D (dotted) of the two-phase solver is its "
        "certificate: a lower bound for P of all models with its terms."
    )
    title = "Objectives of BSCA over time, two budgets"
    data = as_data(runs, ("data", "method", "budget"))
    return Picture("objectives-budgets", title, caption, draw, data)


def _draw_objectives(
    axes: Any, method: str, runs: list[Result], budget: tuple[int, tuple[int, ...]]
) -> None:
    style = look(method, *budget)
    draw_over_time(axes, runs, "primal", **{**style, "label": f"P, {style['label']}"})
    lower = "dual" if method == "bsca" else "bound"
    hollow = {"markerfacecolor": "white", "linestyle": ":", "label": f"D, {style['label']}"}
    draw_over_time(axes, runs, lower, **{**style, **hollow})


def _frame(axes: Any, title: str, best: list[Result]) -> None:
    """Linear close to zero, where D may be, and logarithmic beyond."""
    ticks.symlog(axes, threshold=10.0 ** np.floor(np.log10(np.median(final(best, "primal"))) - 2))
    ticks.log(axes, "x")
    axes.set(title=title, ylabel="objective")


def _drift(scope: Scope, runs: dict[Any, list[Result]]) -> Picture:
    sizes = budgets(scope)[:2]

    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for budget in sizes:
                style = look(budget, among=sizes)
                seeds = runs[spec.name, "bsca", budget]
                draw_over_epochs(axes, seeds, "primal", **{**style, "label": f"P, B = {budget}"})
                hollow = {"markerfacecolor": "white", "linestyle": ":", "label": f"D, B = {budget}"}
                draw_over_epochs(axes, seeds, "dual", **{**style, **hollow})
                thin = {"marker": "", "linewidth": 1.0, "label": f"1ᵀα − ½‖w̃‖², B = {budget}"}
                draw_over_epochs(axes, seeds, "apparent_dual", **{**style, **thin})
            _frame(axes, spec.name, runs[spec.name, "two-phase", sizes[1]])
            axes.set(xlabel="epochs")
        add_legend(figure)
        return figure

    caption = (
        f"BSCA with the paper's merging, {scope.seeds} seeds, median and range. D is the true dual objective of α. 1ᵀα − ½‖w̃‖² (thin) has the budgeted "
        f"model where D has w(α). At the end D is below its best {_falls(scope, runs)}."
    )
    named = {key: seeds for key, seeds in runs.items() if key[1] == "bsca"}
    data = as_data(named, ("data", "method", "budget"))
    return Picture("drift", "Drift of the objectives over many epochs", caption, draw, data)


# ---- what the paper says about it ----


def _rise(runs: list[Result]) -> float:
    """Return by what share the median P ends above its least."""
    values = np.median([column(run, "primal")[learning(run)] for run in runs], axis=0)
    return float(values[-1] / values.min() - 1)


def _drift_claim(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    small, usual = budgets(scope)[:2]
    rises = {
        spec.name: (_rise(runs[spec.name, "bsca", small]), _rise(runs[spec.name, "bsca", usual]))
        for spec in scope.specs
    }
    drifting = {name: at_small > _RISEN for name, (at_small, _) in rises.items()}
    listed = ", ".join(f"{name} {100 * a:.0f} | {100 * b:.0f} %" for name, (a, b) in rises.items())
    seen = f"P rises by more than {100 * _RISEN:.0f} % {tally(drifting)}; D falls {_falls(scope, runs)}. P at the end above its least, B = {small} | {usual}: {listed} (rule: P rises everywhere)"
    statement = (
        f"A drift of the dual solver, in particular at B = {small}, with both objectives rising."
    )
    return Claim(statement, "appendix B", seen, judge([*drifting.values()]))


def _speed_claim(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    small, usual = budgets(scope)[:2]
    ratios = {
        spec.name: float(
            min(run["cpu"] for run in runs[spec.name, "bsca", usual])
            / min(run["cpu"] for run in runs[spec.name, "bsca", small])
        )
        for spec in scope.specs
    }
    faster = {name: ratio >= _MUCH for name, ratio in ratios.items()}
    listed = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    seen = f"{_MUCH:g} times as fast or more {tally(faster)}. Seconds of the processor at B = {usual} / B = {small}, least of all seeds: {listed} (rule: {_MUCH:g} everywhere)"
    statement = f"B = {small} is much faster than B = {usual} for the same number of epochs."
    return Claim(statement, "appendix B", seen, judge([*faster.values()]))


def _falls(scope: Scope, runs: dict[Any, list[Result]]) -> str:
    """Say where D at the small budget ends below its best, by more than a tenth of it."""
    met = {}
    for spec in scope.specs:
        some = runs[spec.name, "bsca", budgets(scope)[0]]
        values = np.median([column(run, "dual")[learning(run)] for run in some], axis=0)
        met[spec.name] = bool(values[-1] < values.max() - _RISEN * abs(values.max()))
    return tally(met)


def _late_score(runs: list[Result]) -> float:
    """Return the median accuracy in % over the last quarter of the run, mean over seeds."""
    found = []
    for run in runs:
        scores = np.array(run["often"]["score"])
        found.append(100 * float(np.median(scores[-max(1, len(scores) // 4) :])))
    return float(np.mean(found))


def _lost(scope: Scope, runs: dict[Any, list[Result]]) -> dict[str, float]:
    """Return by how many points the small budget is behind the usual one, late."""
    small, usual = budgets(scope)[:2]
    return {
        spec.name: _late_score(runs[spec.name, "bsca", usual])
        - _late_score(runs[spec.name, "bsca", small])
        for spec in scope.specs
    }


def _suboptimal(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    lost = _lost(scope, runs)
    behind = {name: value > _LESS for name, value in lost.items()}
    listed = ", ".join(f"{name} {value:.2f}" for name, value in lost.items())
    return Claim(
        f"For some of the problems B = {budgets(scope)[0]} is already rather small, resulting in sub-optimal learning.",
        "appendix B",
        f"BSCA is behind by more than {_LESS:g} points {tally(behind)}. Points that B = {budgets(scope)[0]} lacks to B = {budgets(scope)[1]} in the last quarter: {listed} (rule: on one at least)",
        "held" if any(behind.values()) else "did not hold",
    )


def _suffices(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    lost = _lost(scope, runs)
    named = [name for name in lost if name in ("SUSY", "COVTYPE")] or list(lost)
    enough = {name: lost[name] <= _LESS for name in named}
    return Claim(
        f"The small budget B = {budgets(scope)[0]} suffices on COVERTYPE and SUSY.",
        "appendix B",
        f"It suffices {tally(enough)}. Points that it lacks to B = {budgets(scope)[1]} in the last quarter: {', '.join(f'{n} {lost[n]:.2f}' for n in named)} (rule: {_LESS:g} at most, on both)",
        judge([*enough.values()]),
    )


def _larger_is_faster(
    scope: Scope, runs: dict[Any, list[Result]], exact: dict[str, float]
) -> Claim:
    """On IJCNN: seconds until the median accuracy over seeds is within some points of the exact SVM."""
    name = "IJCNN" if "IJCNN" in exact else scope.specs[0].name
    met, texts = [], []
    for points in _LEVELS:
        times = []
        for budget in budgets(scope)[:2]:
            found = []
            for run in runs[name, "bsca", budget]:
                good = np.array(run["often"]["score"]) >= (exact[name] - points) / 100
                found.append(run["often"]["cpu"][int(np.argmax(good))] if good.any() else np.inf)
            times.append(float(np.median(found)))
        if np.isfinite(times).any():
            met.append(times[1] < times[0])
            shown = [f"{t:.2f} s" if np.isfinite(t) else "never" for t in times]
            texts.append(f"within {points:g} points {' | '.join(shown)}")
    return Claim(
        f"On IJCNN, where the epochs do not suffice for B = {budgets(scope)[0]}, the solver with B = {budgets(scope)[1]} is significantly faster.",
        "appendix B",
        f"The larger budget is there first at {sum(met)} of {len(met)} levels that one of both reaches. Seconds of the processor, B = {budgets(scope)[0]} | {budgets(scope)[1]}: {'; '.join(texts) or 'no level is reached'} (rule: first at all of them)",
        judge(met),
    )

"""BSCA with two budgets on one time axis, and the drift: figures 6 and 7 of the paper (appendix B)."""

from typing import Any

import numpy as np

from experiments.curves.accuracy import draw_percent, frame_accuracy
from experiments.curves.budget_claims import Budgets, claims, dual_falls
from experiments.curves.panels import as_data, draw_over_epochs, draw_over_time, final
from experiments.curves.runs import budgets, curve_jobs, gather
from experiments.exact.reference import accuracy as exact_accuracy
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import remark
from experiments.report import ticks
from experiments.report.content import Picture, Section
from experiments.report.style import add_legend, look, new_figure
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("bsca", "bsca-default", "two-phase")


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    return [*curve_jobs(scope, _METHODS, budgets(scope)[:2]), *exact_jobs(scope)]


def section(scope: Scope, results: Results) -> Section:
    """Draw accuracy and objectives over time, and the drift over many epochs."""
    runs = gather(scope, results, _METHODS, budgets(scope)[:2])
    exact = {spec.name: exact_accuracy(scope, results, spec) for spec in scope.specs}
    plain = {(name, budget): some for (name, m, budget), some in runs.items() if m == "bsca"}
    found = Budgets(plain, exact, *budgets(scope)[:2])
    pictures = [_accuracy(scope, runs, exact), _objectives(scope, runs), _drift(scope, runs, found)]
    text = (
        "A smaller budget makes epochs faster. The last figure looks for the drift that the paper reports: α, and with it "
        "D and P, grow as the budgeted model loses what the steps put into it. The polish has no such drift: it solves the problem in the "
        "span of the terms to a certified optimum."
    )
    return Section("Effect of the budget", [text], pictures, claims(found))


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


def _drift(scope: Scope, runs: dict[Any, list[Result]], found: Budgets) -> Picture:
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
        f"model where D has w(α). At the end D is below its best {dual_falls(found)}."
    )
    named = {key: seeds for key, seeds in runs.items() if key[1] == "bsca"}
    data = as_data(named, ("data", "method", "budget"))
    return Picture("drift", "Drift of the objectives over many epochs", caption, draw, data)

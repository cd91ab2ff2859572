"""Test accuracy while training, at the usual and at the small budget: figures 2 and 5 of the paper."""

from typing import Any

import numpy as np

from experiments.curves.accuracy_claims import Curves, claims
from experiments.curves.panels import as_data, column, draw_over_time, in_percent
from experiments.curves.runs import GOLDEN, budgets, curve_jobs, gather
from experiments.exact.reference import accuracy as exact_accuracy
from experiments.exact.reference import exact_seconds, remark
from experiments.exact.reference import jobs as exact_jobs
from experiments.report import ticks
from experiments.report.content import Picture, Section
from experiments.report.style import add_legend, look, new_figure
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("bsgd", "bsca", "bsgd-default", "bsca-default", "two-phase")


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    runs = curve_jobs(scope, _METHODS, budgets(scope)[:2])
    return [*runs, *curve_jobs(scope, GOLDEN, budgets(scope)[1:2]), *exact_jobs(scope)]


def section(scope: Scope, results: Results) -> Section:
    """Draw both budgets."""
    runs = gather(scope, results, _METHODS, budgets(scope)[:2])
    runs |= gather(scope, results, GOLDEN, budgets(scope)[1:2])
    exact = {spec.name: exact_accuracy(scope, results, spec) for spec in scope.specs}
    small, usual = budgets(scope)[:2]
    pictures = [_picture(scope, runs, exact, budget) for budget in (usual, small)]
    text = (
        "Curves are on up to 20,000 test rows. Times are of one thread, without the time of looking. BSGD and BSCA merge as in the paper, "
        "partners of equal sign; a table ranks them. With the paper's golden section search the same takes much longer (dotted)."
    )
    epochs = sorted({spec.epochs for spec in scope.specs})
    seconds = {spec.name: exact_seconds(scope, results, spec) for spec in scope.specs}
    found = claims(Curves(runs, exact, small, usual, seconds), epochs)
    return Section("Test accuracy", [text], pictures, found)


def _picture(
    scope: Scope, runs: dict[Any, list[Result]], exact: dict[str, float], budget: int
) -> Picture:
    shown = {key: seeds for key, seeds in runs.items() if key[2] == budget}

    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for method in _METHODS:
                draw_percent(axes, shown[spec.name, method, budget], look(method))
            for method in GOLDEN:
                if (spec.name, method, budget) in shown:
                    draw_percent(axes, shown[spec.name, method, budget], _golden_look(method))
            axes.axhline(exact[spec.name], **look("exact", marker=""))
            frame_accuracy(axes, spec.name, exact[spec.name], shown[spec.name, "two-phase", budget])
        add_legend(figure)
        return figure

    caption = (
        f"B = {budget}, {scope.seeds} seeds, median and quartiles. BSGD and BSCA as in the paper, with our "
        f"default merging, and the two-phase solver. What lies below the panel is cut off.{remark(scope)}"
    )
    data = as_data(shown, ("data", "method", "budget"))
    title = f"Test accuracy over training time at a budget of {budget}"
    return Picture(f"accuracy-{budget}", title, caption, draw, data)


def _golden_look(method: str) -> dict[str, Any]:
    plain = look(method.removesuffix("-golden"))
    changes = {"label": f"{plain['label']}, golden section", "linestyle": ":", "marker": ""}
    return {**plain, **changes, "band": "none"}


def draw_percent(axes: Any, runs: list[Result], looks: dict[str, Any]) -> None:
    """Draw the accuracy in % over time."""
    draw_over_time(
        axes, [in_percent(run) for run in runs], "score", **{"band": "quartiles", **looks}
    )


def frame_accuracy(axes: Any, title: str, exact: float, best: list[Result]) -> None:
    """Show what lies between useless and perfect, and not every peak downwards."""
    top = max(exact, *(100 * float(column(run, "score")[-1]) for run in best))
    least = min(100 * float(np.nanmin(column(run, "score"))) for run in best)
    height = max(2.0, 1.3 * (top - max(least, top - 25)))
    axes.set(title=title, xlabel="training time in s", ylabel="test accuracy in %")
    axes.set(ylim=(top - height, top + 0.08 * height))
    ticks.log(axes, "x")

"""Primal and dual objective over epochs at the usual budget: the paper's figure 1."""

from typing import Any

import numpy as np

from experiments.curves.objective_claims import claims
from experiments.curves.panels import as_data, column, draw_over_epochs, final
from experiments.curves.runs import budgets, curve_jobs, gather
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import optimum
from experiments.problems import Spec
from experiments.report import ticks
from experiments.report.content import Picture, Section
from experiments.report.style import add_legend, look, new_figure
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

PAIRS = {"": ("bsgd", "bsca"), "-default": ("bsgd-default", "bsca-default")}
_METHODS = (*PAIRS[""], *PAIRS["-default"], "two-phase")


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    return [*curve_jobs(scope, _METHODS, budgets(scope)[1:2]), *exact_jobs(scope)]


def section(scope: Scope, results: Results) -> Section:
    """Draw the figure with the paper's merging, and with ours."""
    found = gather(scope, results, _METHODS, budgets(scope)[1:2])
    runs = {(name, method): seeds for (name, method, _), seeds in found.items()}
    optima = {spec.name: optimum(scope, results, spec) for spec in scope.specs}
    pictures = [_picture(scope, runs, optima, ending) for ending in PAIRS]
    text = (
        "P is of the budgeted model w̃ on all training rows, in the scale of the dual problem: ½‖w‖² + C Σ loss, which is "
        "the paper's P divided by λ. D is the true dual objective of the α that the solver keeps, with the exact kernel "
        "matrix (estimated on a sample of rows where there are many; its standard error is in the CSV file). BSGD does not "
        "keep α below C, so that its D is formal: it bounds nothing."
    )
    names = [spec.name for spec in scope.specs]
    return Section("Primal and dual objective", [text], pictures, claims(runs, names))


def _picture(
    scope: Scope, runs: dict[Any, list[Result]], optima: dict[str, float | None], ending: str
) -> Picture:
    budget = budgets(scope)[1]
    merging = "our defaults (any sign)" if ending else "the paper's merging (same sign)"
    shown = {key: seeds for key, seeds in runs.items() if key[1] in (*PAIRS[ending], "two-phase")}

    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for method in PAIRS[ending]:
                _draw_method(axes, method, shown[spec.name, method])
            _draw_two_phases(axes, shown[spec.name, "two-phase"])
            best = optima[spec.name]
            if best is not None:
                axes.axhline(best, **look("exact", label="optimum of the exact SVM", marker=""))
            _scale(axes, spec, shown[spec.name, "two-phase"])
        add_legend(figure)
        return figure

    caption = (
        f"B = {budget}, {scope.seeds} seeds, median and range; {merging}. Above: P, below (hollow): D. The scale is linear close "
        "to zero and logarithmic beyond, as in the paper, since D of BSGD may be negative. The two-phase solver needs "
        f"{_epochs(shown)} and a polish: its final P is drawn as a line."
    )
    title = f"Objectives of BSGD and BSCA, {'our' if ending else 'the paper’s'} merging"
    data = as_data(shown, ("data", "method"))
    return Picture(f"objectives-{budget}{ending}", title, caption, draw, data)


def _epochs(shown: dict[Any, list[Result]]) -> str:
    """Say how long phase 1 of the two-phase solver is."""
    lengths = [
        column(run, "epochs")[-1]
        for (_, method), seeds in shown.items()
        if method == "two-phase"
        for run in seeds
    ]
    few, most = round(min(lengths), 1), round(max(lengths), 1)
    return f"{most:g} epochs" if few == most else f"{few:g} to {most:g} epochs"


def _draw_method(axes: Any, method: str, seeds: list[Result]) -> None:
    name = look(method)["label"]
    draw_over_epochs(axes, seeds, "primal", **look(method, label=f"P of {name}"))
    hollow = {"markerfacecolor": "white", "linestyle": ":"}
    draw_over_epochs(axes, seeds, "dual", **look(method, label=f"D of {name}", **hollow))


def _draw_two_phases(axes: Any, seeds: list[Result]) -> None:
    level = float(np.median(final(seeds, "primal")))
    axes.axhline(level, **look("two-phase", label="P of two phases", marker=""))


def _scale(axes: Any, spec: Spec, seeds: list[Result]) -> None:
    level = 10.0 ** np.floor(np.log10(np.median(final(seeds, "primal"))) - 1)
    ticks.symlog(axes, threshold=level)
    ticks.log(axes, "x")
    axes.set(title=spec.name, xlabel="epochs", ylabel="objective")

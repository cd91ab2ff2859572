"""Figures of `theorem_one`: how runs go on, with all budgets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.report import style, ticks
from experiments.report.content import Cell, Data, Picture
from experiments.running.jobs import Result, Results
from experiments.scope import Scope
from experiments.theory.theorem.cases import (
    PROBLEMS,
    Case,
    budgets,
    cases,
    comparison,
    long_run,
)

PANEL = (3.4, 2.5)


def phases_picture(scope: Scope, results: Results) -> Picture:
    """Suboptimality over epochs, for all budgets."""
    return Picture(
        "theorem-phases",
        "Early progress, late stall",
        "Suboptimality relative to D(α*) over epochs, median and range of the seeds; the line at 1 is that of α = 0. "
        f"At the end it is {_ends(scope, results, 'gap')}",
        lambda: _draw_by_budget(scope, results, "gap", "(D(α*) − D(α)) / D(α*)"),
        _series_data(scope, results, ("gap", "primal_gap")),
    )


def model_picture(scope: Scope, results: Results) -> Picture:
    """How good the model w̃ is, which is what a user gets."""
    return Picture(
        "theorem-model",
        "How good the model is, beside its α",
        "Suboptimality P(w̃) − D(α*) of the model itself, relative to D(α*). "
        f"At the end it is {_ends(scope, results, 'primal_gap')} The theorem is about α, and says little about the model where the two have gone separate ways.",
        lambda: _draw_by_budget(scope, results, "primal_gap", "(P(w̃) − D(α*)) / D(α*)"),
        _series_data(scope, results, ("primal_gap",)),
    )


def _draw_by_budget(scope: Scope, results: Results, name: str, label: str) -> Any:
    figure, panels = style.new_figure(6, columns=3, panel=PANEL, sharex=True)
    places = [(merging, problem) for merging in ("paper", "default") for problem in PROBLEMS]
    for axes, (merging, problem) in zip(panels, places, strict=True):
        for case in _of(scope, problem, merging):
            found = comparison(results, case)
            values = np.maximum(np.array(found["series"][name]) / found["optimum"], 1e-8)
            style.draw_band(axes, found["epochs"], values, **_look(scope, case))
        if name == "gap":
            axes.axhline(1, color=style.INK, linewidth=0.8, linestyle=":")
        ticks.log(axes)
        axes.set_title(f"{problem}, {merging} merging")
    label_axes(panels, 3, label)
    style.add_legend(figure, ncols=4)
    return figure


def error_picture(scope: Scope, results: Results) -> Picture:
    """E and the distance of w̃ from w."""
    what = (
        ("mean", "Ē (from sums)"),
        ("worst", "E (minimum)"),
        ("departure", "Σ (f̃ − f)²"),
        ("distance", "‖w̃ − w‖²"),
    )

    def draw() -> Any:
        figure, panels = style.new_figure(3 * len(what), columns=3, panel=PANEL, sharex=True)
        places = [(*row, problem) for row in what for problem in PROBLEMS]
        for axes, (name, _, problem) in zip(panels, places, strict=True):
            for case in _of(scope, problem, "paper"):
                if case.budget is not None:
                    _draw_error(axes, comparison(results, case), name, _look(scope, case))
            axes.set_title(problem)
        for k, (_, label) in enumerate(what):
            panels[3 * k].set_ylabel(label)
        label_axes(panels, 3, None)
        style.add_legend(figure, ncols=4)
        return figure

    return Picture(
        "theorem-error",
        "The relative approximation error, and how far w̃ is from w",
        "Over epochs, paper's merging, median and range of the seeds. At the line, Ē = 1, the expected progress is zero. "
        f"{_late_error(scope, results)} E of the worst coordinate, those left out where it is infinite, has no upper limit. "
        "Σ (f̃ − f)² is over all points: half of its mean is what a visit may lose to the budget. ‖w̃ − w‖² is exact, in feature space; "
        "‖w*‖² is of the order of D(α*).",
        draw,
        _series_data(
            scope,
            results,
            ("mean", "worst", "printed", "departure", "distance", "degradation"),
        ),
    )


def _draw_error(axes: Any, found: Result, name: str, look: dict[str, Any]) -> None:
    values = np.array(found["series"][name])
    if name != "mean":
        values = np.where(values > 1e-3, values, np.nan)
        ticks.log(axes)
    if name == "worst":
        look = {**look, "linewidth": 1.0, "marker": ""}
    style.draw_band(axes, found["epochs"], values, **look)
    if name in ("mean", "worst"):
        axes.axhline(1, color=style.INK, linewidth=0.8, linestyle=":")


def rest_picture(scope: Scope, results: Results) -> Picture:
    """How far α still moves in long runs."""

    def draw() -> Any:
        figure, panels = style.new_figure(6, columns=3, panel=PANEL, sharex=True, sharey=True)
        places = [(merging, problem) for merging in ("paper", "default") for problem in PROBLEMS]
        for axes, (merging, problem) in zip(panels, places, strict=True):
            for case in _of(scope, problem, merging):
                found = long_run(results, case)
                values = np.maximum(found["moved"], 1e-12)
                style.draw_band(axes, found["epochs"], values, **_look(scope, case))
            ticks.log(axes, "x")
            ticks.log(axes)
            axes.set_title(f"{problem}, {merging} merging")
        label_axes(panels, 3, "move of α per epoch / ‖α*‖")
        style.add_legend(figure, ncols=4)
        return figure

    rows: list[list[Cell]] = []
    for case in cases(scope):
        found = long_run(results, case)
        values = [np.median(found[name], axis=0) for name in ("moved", "gap", "visible")]
        for epoch, *line in zip(found["epochs"], *values, strict=True):
            rows.append([case.problem, case.budget, case.merging, epoch, *map(float, line)])
    columns = ("problem", "budget", "merging", "epoch", "moved", "gap", "largest_step_with_model")
    return Picture(
        "theorem-rest",
        "How runs come to rest",
        "‖α(t + n) − α(t)‖ / ‖α*‖ over epochs, median and range of the seeds, cut off at 10⁻¹². "
        f"{_last_moves(scope, results)} Runs with another order of visits end elsewhere, {_apart(scope, results)} of ‖α*‖ apart (median).",
        draw,
        Data(columns, rows),
    )


def _ends(scope: Scope, results: Results, name: str) -> str:
    """Say what a suboptimality has come to, relative to D(α*), by budget."""
    texts = []
    for budget in (None, *budgets(scope)):
        values = [
            float(np.median(np.array(found["series"][name])[:, -1])) / found["optimum"]
            for case in cases(scope)
            if case.budget == budget
            for found in [comparison(results, case)]
        ]
        label = "without a budget" if budget is None else f"with B = {budget}"
        texts.append(f"{min(values):.1g} to {max(values):.1g} {label}")
    return f"{', '.join(texts)} (least and most of the settings)."


def _late_error(scope: Scope, results: Results) -> str:
    limited = [c for c in cases(scope) if c.budget is not None and c.merging == "paper"]
    late = [
        float(np.median(np.array(comparison(results, c)["series"]["mean"])[:, -1])) for c in limited
    ]
    return f"At the end Ē is {min(late):.2f} to {max(late):.2f}."


def _last_moves(scope: Scope, results: Results) -> str:
    texts = []
    for merging in ("paper", "default"):
        some = [
            float(np.median([run[-1] for run in long_run(results, case)["moved"]]))
            for case in cases(scope)
            if case.budget is not None and case.merging == merging
        ]
        texts.append(f"{min(some):.0e} to {max(some):.0e} with {merging} merging")
    return f"On a budget the last epoch moves α by {' and '.join(texts)}."


def _apart(scope: Scope, results: Results) -> str:
    some = [long_run(results, case)["apart"] for case in cases(scope) if case.budget is not None]
    return f"{min(some):.2f} to {max(some):.2f}"


def _of(scope: Scope, problem: str, merging: str) -> list[Case]:
    """The runs of one panel; the one without a budget belongs to both ways of merging."""
    limited = [case for case in cases(scope) if case.budget and case.merging == merging]
    return [Case(problem, None, "paper"), *(case for case in limited if case.problem == problem)]


def _look(scope: Scope, case: Case) -> dict[str, Any]:
    if case.budget is None:
        return style.look("exact", label="no budget", marker="")
    return style.look(case.budget, among=budgets(scope))


def label_axes(panels: Sequence[Any], columns: int, label: str | None) -> None:
    """Name the axes of the outer panels."""
    for axes in panels[-columns:]:
        axes.set_xlabel("epochs")
    if label:
        for axes in panels[::columns]:
            axes.set_ylabel(label)


def _series_data(scope: Scope, results: Results, names: Sequence[str]) -> Data:
    """Medians over the seeds."""
    rows: list[list[Cell]] = []
    for case in cases(scope):
        found = comparison(results, case)
        values = [np.median(found["series"][name], axis=0) for name in names]
        for epoch, *line in zip(found["epochs"], *values, strict=True):
            rows.append([case.problem, case.budget, case.merging, epoch, *map(float, line)])
    return Data(("problem", "budget", "merging", "epoch", *names), rows)

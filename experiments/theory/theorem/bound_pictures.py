"""Figures of `theorem_one`: right-hand sides beside what was measured."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.report import style, ticks
from experiments.report.content import Cell, Data, Picture
from experiments.running.jobs import Result, Results
from experiments.scope import Scope
from experiments.theory.theorem.bounds import SUMS, VARIANTS
from experiments.theory.theorem.cases import (
    COUNTEREXAMPLE,
    PROBLEMS,
    Case,
    budgets,
    comparison,
)
from experiments.theory.theorem.pictures import PANEL, label_axes

_BOUNDS = {
    "printed": ("bound, E as printed", "bsgd"),
    "worst": ("bound, E with minimum", "bsgd-default"),
    "mended": ("bound, mended", "two-phase"),
}
_SUM_BOUNDS = {
    "departure": ("bound by Σ(f̃ − f)²", "sca"),
    "distance": ("bound by λ‖w̃ − w‖²", "sgd"),
}
_EXACT = {
    "gap": ("bsca", "exact expectation"),
    "printed": ("bsgd", "Theorem 1"),
    "mended": ("two-phase", "mended"),
}


def bound_picture(scope: Scope, results: Results) -> Picture:
    """The theorem beside what was measured: without a budget, with a middle one and a small one."""
    some = dict.fromkeys((None, _middle(scope), budgets(scope)[0]))
    shown = [Case(name, budget, "paper") for budget in some for name in PROBLEMS]

    def draw() -> Any:
        figure, panels = style.new_figure(len(shown), columns=len(PROBLEMS), panel=PANEL)
        for axes, case in zip(panels, shown, strict=True):
            _draw_bounds(axes, comparison(results, case))
            budget = "no budget" if case.budget is None else f"B = {case.budget}"
            axes.set_title(f"{case.problem}, {budget}")
        label_axes(panels, len(PROBLEMS), "D(α*) − D(α)")
        style.add_legend(figure, ncols=4)
        return figure

    return Picture(
        "theorem-bound",
        "Theorem 1 beside the measured suboptimality",
        "Suboptimality D(α*) − D(α) over epochs (median and range of the seeds, paper's merging) and "
        f"right-hand sides (median). {_breaks_in_words(shown, results)} With the minimum the bound is infinite from the first visit on "
        "that may move an optimal coordinate. The mended bound takes Ē, and κ while Ē ≤ 1, else the largest eigenvalue; the sums need no such cases. "
        f"{_ratios(shown, results)}",
        draw,
        _bound_data(shown, results),
    )


def _breaks_in_words(shown: Sequence[Case], results: Results) -> str:
    """Say which bounds the mean over seeds exceeds in these panels."""
    texts = []
    names = {**_BOUNDS, **_SUM_BOUNDS}
    for variant, (label, _) in names.items():
        broken = [
            f"{case.problem}, {'no budget' if case.budget is None else f'B = {case.budget}'}"
            for case in shown
            if comparison(results, case)["broken"][variant]["first_epoch"] is not None
        ]
        texts.append(f"{label.removeprefix('bound').strip(', ')}: {'; '.join(broken) or 'in none'}")
    return f"Bounds are broken in these panels: {'. '.join(texts)}."


def _ratios(shown: Sequence[Case], results: Results) -> str:
    """Say how far above the measured suboptimality the bounds that hold end, with a budget."""
    found: dict[str, list[float]] = {"mended": [], **{name: [] for name in SUMS}}
    for case in shown:
        if case.budget is not None:
            one = comparison(results, case)
            gap = float(np.median(one["series"]["gap"], axis=0)[-1])
            mended = float(np.median(one["log10_bounds"]["mended"], axis=0)[-1])
            found["mended"].append(mended - float(np.log10(gap)))
            for name in SUMS:
                value = float(np.median(one["sums"][name], axis=0)[-1])
                found[name].append(float(np.log10(value / gap)))
    names = {"mended": "the mended bound", "departure": "Σ(f̃ − f)²", "distance": "λ‖w̃ − w‖²"}
    texts = [f"{names[k]} 10^{min(v):.1f} to 10^{max(v):.1f}" for k, v in found.items()]
    return f"At the end, times the suboptimality with a budget: {', '.join(texts)}."


def _draw_bounds(axes: Any, found: Result) -> None:
    gaps = np.array(found["series"]["gap"])
    style.draw_band(axes, found["epochs"], gaps, **style.look("bsca", label="BSCA, measured"))
    for variant, (label, like) in _BOUNDS.items():
        logs = np.median(found["log10_bounds"][variant], axis=0)
        values = 10.0 ** np.minimum(logs, 30)  # far beyond the figure
        look = style.look(like, label=label, marker="", linewidth=1.8)
        style.draw_band(axes, found["epochs"], [values], **look)
    for variant, (label, like) in _SUM_BOUNDS.items():
        values = np.median(found["sums"][variant], axis=0)
        look = style.look(like, label=label, marker="", linewidth=1.4)
        style.draw_band(axes, found["epochs"], [values], **look)
    ticks.log(axes)
    start = found["optimum"] + found["n"] * found["C"] ** 2 / 2
    axes.set_ylim(max(1e-6 * start, 0.5 * np.median(gaps, axis=0).min()), 30 * start)


def _bound_data(shown: Sequence[Case], results: Results) -> Data:
    rows: list[list[Cell]] = []
    for case in shown:
        found = comparison(results, case)
        middle = np.median(found["series"]["gap"], axis=0)
        logs = [np.median(found["log10_bounds"][name], axis=0) for name in VARIANTS]
        for k, epoch in enumerate(found["epochs"]):
            sums = [float(np.median(found["sums"][name], axis=0)[k]) for name in SUMS]
            values = [float(middle[k]), *(float(log[k]) for log in logs), *sums]
            rows.append([case.problem, case.budget, case.merging, epoch, *values])
    names = [f"log10_bound_{name}" for name in VARIANTS] + [f"bound_{name}" for name in SUMS]
    return Data(("problem", "budget", "merging", "epoch", "gap", *names), rows)


def counterexample_picture(results: Results) -> Picture:
    """The theorem against exact expectations on two points."""
    found = results[COUNTEREXAMPLE]

    def draw() -> Any:
        figure, panels = style.new_figure(len(found["curves"]), columns=3, panel=PANEL)
        for axes, curve in zip(panels, found["curves"], strict=True):
            shown = np.array(found["visits"]) <= min(400, 40 / curve["eta"] ** 0.7)
            for name, (like, label) in _EXACT.items():
                values, look = np.array(curve[name])[shown], style.look(like, label=label)
                style.draw_band(axes, np.array(found["visits"])[shown], [values], **look)
            ticks.log(axes)
            axes.set_title(f"η = {curve['eta']:g}, E = {curve['error']:g}")
            axes.set_xlabel("visits")
        panels[0].set_ylabel("D(α*) − E[D(α)]")
        style.add_legend(figure)
        return figure

    rows = [
        [curve["eta"], curve["error"], *line]
        for curve in found["curves"]
        for line in zip(
            found["visits"], curve["gap"], curve["printed"], curve["mended"], strict=True
        )
    ]
    return Picture(
        "theorem-counterexample",
        "A counterexample on two points",
        "Two points of different classes with k = ½, steps that are η times the exact one: E = (1 − η)² "
        "for both coordinates, always. The expectation is exact. "
        f"It crosses the bound of Theorem 1 {_crossings(found['curves'])} (D falls at the rate κ, not 2κ/(1+κ)); the mended "
        f"bound {'holds' if all(c['mended_holds'] for c in found['curves']) else 'does not hold'}.",
        draw,
        Data(("eta", "E", "visits", "gap", "theorem", "mended"), rows),
    )


def _crossings(curves: list[Result]) -> str:
    crossed = [f"from visit {c['first']} on for η = {c['eta']:g}" for c in curves if c["first"]]
    return ", ".join(crossed) or "nowhere"


def _middle(scope: Scope) -> int:
    return budgets(scope)[len(budgets(scope)) // 2]

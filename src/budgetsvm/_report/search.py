"""The section of a search: the grid, the curve of budgets, the best cells."""

from typing import Any

import numpy as np

from budgetsvm._diagnosis.subject import Subject
from budgetsvm._report.html import Html, element, join, note, section, table
from budgetsvm._report.numbers import short
from budgetsvm._report.picture import Pictures
from budgetsvm.plots import plot_budget_curve, plot_grid

_BEST = 5


def search_section(subject: Subject, pictures: Pictures) -> Html:
    """Return what a search has found, or nothing where there was none."""
    search = subject.search
    if search is None:
        return join()
    if not np.isfinite(search.cv_results_["mean_test_score"]).any():
        return section("search", "Search", note("No cell has a score: rows or time were too few."))
    words = "Mean scores on rows held out. Framed: the best cell; dotted: left on the way, on fewer rows or folds."
    parts = [pictures.svg(plot_grid(search).figure, words)]
    if hasattr(search, "budget_curve_"):
        curve = plot_budget_curve(search).figure
        parts.append(pictures.svg(curve, "Scores on rows held out, over the budget."))
    inside = element("div", *parts, class_="columns")
    return section(
        "search", "Search", inside, element("h3", "The best cells"), _best(search.cv_results_)
    )


def _best(results: dict[str, Any]) -> Html:
    """Return the parameters and scores of the best cells."""
    names = [name for name in results if name.startswith("param_")]
    order = np.argsort(results["rank_test_score"], kind="stable")[:_BEST]
    head = ("rank", *(name.removeprefix("param_") for name in names), "score", "± σ")
    lines = [
        (
            str(results["rank_test_score"][k]),
            *(_value(results[name][k]) for name in names),
            short(results["mean_test_score"][k]),
            short(results["std_test_score"][k], 2),
        )
        for k in order
    ]
    return table(head, lines)


def _value(value: Any) -> str:
    return short(float(value)) if isinstance(value, int | float | np.number) else str(value)

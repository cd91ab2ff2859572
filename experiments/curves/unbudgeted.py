"""Both solvers without a budget: figure 4 of the paper (appendix B)."""

from typing import Any

import numpy as np

from experiments.curves.accuracy import frame_accuracy
from experiments.curves.objectives import unrest
from experiments.curves.panels import as_data, draw_over_epochs, in_percent
from experiments.curves.runs import budgets, curve_job, curve_jobs, gather, two_phases
from experiments.exact.reference import accuracy as exact_accuracy
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import remark
from experiments.problems import Spec
from experiments.report.content import Claim, Picture, Section
from experiments.report.style import add_legend, look, new_figure
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("sgd", "sca")
_EPOCHS = 15
_MOST_ROWS = 60_000  # beyond, a part of them: the number of terms grows with the rows
_PART = 20_000


def options(spec: Spec) -> dict[str, Any]:
    """Return how to run a problem without a budget."""
    rows = _PART if spec.rows > _MOST_ROWS else None
    return {"epochs": _EPOCHS, "objectives": False, "test_rows": 4000, "rows": rows}


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    runs = [
        curve_job(scope, spec, method, None, seed, **options(spec))
        for spec in scope.specs
        for method in _METHODS
        for seed in range(scope.seeds)
    ]
    ours = curve_jobs(scope, ["two-phase"], budgets(scope)[1:2])
    return [*runs, *ours, *exact_jobs(scope)]


def section(scope: Scope, results: Results) -> Section:
    """Draw the figure."""
    found = gather(scope, results, _METHODS, [None])
    runs = {(name, method): seeds for (name, method, _), seeds in found.items()}
    ours = two_phases(scope, results)
    exact = {spec.name: exact_accuracy(scope, results, spec) for spec in scope.specs}
    text = (
        "Stochastic gradient descent (kernel Pegasos) and stochastic coordinate ascent, with as many terms as they ask for. On COVTYPE "
        f"a random part of {_PART:,} training rows is used; our two-phase solver is of all rows."
    )
    picture = _picture(scope, runs, ours, exact)
    return Section("Without a budget", [text], [picture], [_claim(scope, runs)])


def _picture(
    scope: Scope,
    runs: dict[Any, list[Result]],
    ours: dict[str, list[Result]],
    exact: dict[str, float],
) -> Picture:
    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for method in _METHODS:
                percent = [in_percent(run) for run in runs[spec.name, method]]
                draw_over_epochs(axes, percent, "score", **look(method))
            level = float(np.median([run["accuracy"] for run in ours[spec.name]]))
            label = f"two phases, B = {budgets(scope)[1]}"
            axes.axhline(level, **look("two-phase", label=label, marker=""))
            axes.axhline(exact[spec.name], **look("exact", marker=""))
            frame_accuracy(axes, spec.name, exact[spec.name], ours[spec.name])
            axes.set(xlabel="epochs")
        add_legend(figure)
        return figure

    terms = ", ".join(
        f"{spec.name} {int(np.median([run['size'] for run in runs[spec.name, 'sca']])):,}"
        for spec in scope.specs
    )
    caption = (
        f"{scope.seeds} seeds, median and range, on 4,000 test rows. Terms of SCA at the end: {terms}. The two-phase solver is drawn at its "
        f"final accuracy.{remark(scope)}"
    )
    title = "Test accuracy of SGD and SCA without a budget"
    return Picture("unbudgeted", title, caption, draw, as_data(runs, ("data", "method")))


def _claim(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    pairs = {
        spec.name: [unrest(runs[spec.name, method], "score") for method in _METHODS]
        for spec in scope.specs
    }
    noisier = {name: sgd > sca for name, (sgd, sca) in pairs.items()}
    listed = ", ".join(
        f"{name} {100 * sgd:.2f} | {100 * sca:.2f} %" for name, (sgd, sca) in pairs.items()
    )
    seen = f"SGD is noisier {tally(noisier)}. Mean change of the accuracy between looks, late, SGD | SCA: {listed} (rule: noisier everywhere)"
    statement = "Without a budget the differences remain: SGD's learning curves are noisy, with many downward peaks."
    return Claim(statement, "appendix B; section 5, Discussion", seen, judge([*noisier.values()]))

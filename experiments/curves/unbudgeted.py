"""Both solvers without a budget: figure 4 of the paper (appendix B)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.curves.accuracy import frame_accuracy
from experiments.curves.objective_claims import unrest
from experiments.curves.panels import as_data, column, draw_over_epochs, in_percent
from experiments.curves.peaks import MANY, share_of_peaks
from experiments.curves.runs import budgets, curve_job, curve_jobs, gather, two_phases
from experiments.exact.reference import accuracy as exact_accuracy
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import remark
from experiments.problems import Spec
from experiments.report.content import Claim, Picture, Section
from experiments.report.error_bars import RULE, Difference, difference, listed
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
    limited = curve_jobs(scope, ["bsgd", "bsca", "two-phase"], budgets(scope)[1:2])
    return [*runs, *limited, *exact_jobs(scope)]


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
    limited = gather(scope, results, ("bsgd", "bsca"), budgets(scope)[1:2])
    claims = [_noisy(scope, runs), _same(scope, runs, limited)]
    return Section("Without a budget", [text], [picture], claims)


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


def _noise(pair: Sequence[list[Result]]) -> Difference:
    """Return by how much the accuracy of the first solver changes more between looks than that of the second."""
    return difference(*([100 * unrest(run, "score") for run in some] for some in pair))


def _noisy(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    """Noise by the change between looks, peaks as in the figures of the paper."""
    noise = {s.name: _noise([runs[s.name, m] for m in _METHODS]) for s in scope.specs}
    peaks = {
        spec.name: float(np.mean([share_of_peaks(run) for run in runs[spec.name, "sgd"]]))
        for spec in scope.specs
    }
    met = {name: noise[name].above and peaks[name] >= MANY for name in noise}
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in peaks.items())
    return Claim(
        "Without a budget, the SGD learning curves are quite noisy, with many downwards peaks.",
        "appendix B",
        f"SGD is noisier than SCA, and has many peaks, {tally(met)}. Mean change of the accuracy between looks in the second half of them, SGD's minus SCA's, in % of its level: {listed(noise)}; looks of SGD that are peaks: {shares} "
        f"(rule: noisier by over {RULE}, and {100 * MANY:.0f} % of the looks are peaks, everywhere)",
        judge([*met.values()]),
    )


def _same(scope: Scope, runs: dict[Any, list[Result]], limited: dict[Any, list[Result]]) -> Claim:
    """Which solver is noisier, and which more accurate on average, without a budget and with one."""
    budget, met, texts = budgets(scope)[1], {}, []
    for spec in scope.specs:
        pairs = (
            [runs[spec.name, m] for m in _METHODS],
            [limited[spec.name, m, budget] for m in ("bsgd", "bsca")],
        )
        noise = [_noise(pair) for pair in pairs]
        score = [
            difference(
                *([100 * float(np.mean(column(run, "score"))) for run in some] for some in pair)
            )
            for pair in pairs
        ]
        met[spec.name] = all(a.mean * b.mean > 0 for a, b in (noise, score))
        texts.append(
            f"{spec.name} {' | '.join(d.text() for d in noise)} and {' | '.join(d.text() for d in score)}"
        )
    return Claim(
        "The principal differences between primal and dual solver remain the same without a budget; budget maintenance does not change the overall picture.",
        "appendix B; section 5, Discussion",
        f"They do {tally(met)}. What SGD has more than SCA, without a budget | with B = {budget}, of the mean change of the accuracy between looks in % of its level, and of the mean accuracy in points: {'; '.join(texts)} (rule: both have the same sign, everywhere)",
        judge([*met.values()]),
    )

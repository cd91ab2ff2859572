"""Peaks of bad accuracy: curves looked at as often as in the paper (section 5, appendix B)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.curves.runs import budgets, curve_jobs, gather
from experiments.report import style
from experiments.report.content import Cell, Claim, Data, Picture, Section
from experiments.report.wording import judge
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("bsgd", "bsca")
_DEEP = 2.0  # points below the median of a run: a peak of significantly reduced performance
_SKIPPED = 0.25  # of the looks at the beginning, where curves rise
_LARGEST = ("SUSY", "COVTYPE")


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    return curve_jobs(scope, _METHODS, budgets(scope)[:2])


def section(scope: Scope, results: Results) -> Section:
    """Draw one run each, and count over all."""
    runs = gather(scope, results, _METHODS, budgets(scope)[:2])
    often = ", ".join(f"{spec.name} {spec.look_every:,}" for spec in scope.specs)
    text = (
        "The paper looks at the accuracy every 10,000 visits, and every 300,000 on SUSY and COVTYPE, whose runs are longer there. "
        f"We look as often or more: after so many visits each: {often}. Accuracies are those of 5,000 test rows, the same at every look."
    )
    shares = {
        (spec.name, method, budget): float(
            np.mean([_share(run) for run in runs[spec.name, method, budget]])
        )
        for spec in scope.specs
        for method in _METHODS
        for budget in budgets(scope)[:2]
    }
    picture = _picture(scope, runs, shares)
    return Section("Peaks in the accuracy", [text], [picture], _claims(scope, shares, runs))


def _scores(run: Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array(run["often"]["epochs"]), 100 * np.array(run["often"]["score"])


def _late(run: Result) -> NDArray[np.float64]:
    """The scores without the beginning, one per interval: some looks are closer, for P."""
    visits = np.array(run["often"]["visits"], dtype=float)
    _, scores = _scores(run)
    return np.asarray(scores[visits >= _SKIPPED * visits[-1]])


def _share(run: Result) -> float:
    """Return which share of the looks is a peak."""
    scores = _late(run)
    return float(np.mean(scores < np.median(scores) - _DEEP))


def _picture(scope: Scope, runs: dict[Any, list[Result]], shares: dict[Any, float]) -> Picture:
    usual = budgets(scope)[1]

    def draw() -> Any:
        figure, panels = style.new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            lowest = 100.0
            for method in _METHODS:
                x, y = _scores(runs[spec.name, method, usual][0])
                look = style.look(method, marker="", linewidth=0.9)
                axes.plot(x, y, **look)
                lowest = min(lowest, float(np.quantile(y[len(y) // 4 :], 0.02)))
            axes.set(title=spec.name, xlabel="epochs", ylabel="test accuracy in %")
            axes.set_ylim(bottom=max(0, lowest - 3))
        style.add_legend(figure)
        return figure

    rows: list[tuple[Cell, ...]] = [
        (*key, seed, visits, score)
        for key, seeds in runs.items()
        for seed, run in enumerate(seeds)
        for visits, score in zip(run["often"]["visits"], run["often"]["score"], strict=True)
    ]
    listed = ", ".join(
        f"{spec.name} {100 * shares[spec.name, 'bsgd', usual]:.0f} | {100 * shares[spec.name, 'bsca', usual]:.0f}"
        for spec in scope.specs
    )
    caption = f"One run each, B = {usual}. Looks, in %, that are more than {_DEEP:g} points below the median of their run, without its first quarter; mean over {scope.seeds} seeds, BSGD | BSCA: {listed}."
    data = Data(("data", "method", "budget", "seed", "visits", "score"), rows)
    return Picture("peaks", "Test accuracy, looked at often", caption, draw, data)


def _claims(scope: Scope, shares: dict[Any, float], runs: dict[Any, list[Result]]) -> list[Claim]:
    usual = budgets(scope)[1]
    pairs = {s.name: [shares[s.name, m, usual] for m in _METHODS] for s in scope.specs}
    more = [sgd > sca for sgd, sca in pairs.values()]
    listed = ", ".join(f"{n} {100 * a:.0f} | {100 * b:.0f} %" for n, (a, b) in pairs.items())
    worst = sorted(pairs, key=lambda name: -pairs[name][0])[: len(_LARGEST)]
    ends = {
        s.name: [
            float(np.min([_late(run).min() for run in runs[s.name, m, usual]])) for m in _METHODS
        ]
        for s in scope.specs
    }
    lowest = ", ".join(f"{n} {a:.0f} | {b:.0f}" for n, (a, b) in ends.items())
    return [
        Claim(
            "For the primal solver there is a long series of peaks of significantly reduced accuracy.",
            "section 5, Learning Performance; appendix B",
            f"BSGD has more peaks than BSCA on {sum(more)} of {len(more)}. Looks more than {_DEEP:g} points below the median of the run, BSGD | BSCA: {listed} (rule: more for BSGD on every data set)",
            judge(more),
        ),
        Claim(
            "The peaks are particularly pronounced for the largest data sets SUSY and COVERTYPE.",
            "section 5, Learning Performance",
            f"The most peaks of BSGD are on {' and '.join(worst)}; shares as above (rule: these two are SUSY and COVTYPE; in part if one of both)",
            judge([name in _LARGEST for name in worst]),
        ),
        Claim(
            "BSGD is at risk of delivering low-quality solutions when it happens to stop at a peak, for a much longer time than BSCA.",
            "section 5, Optimization Performance",
            f"The lowest accuracy after the first quarter of the run, BSGD | BSCA: {lowest} (rule: lower for BSGD on every data set)",
            judge([a < b for a, b in ends.values()]),
        ),
    ]

"""Peaks of bad accuracy: curves looked at as often as in the paper (section 5, appendix B)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.curves.runs import budgets, curve_jobs, gather
from experiments.report import style
from experiments.report.content import Cell, Claim, Data, Picture, Section
from experiments.report.error_bars import RULE, difference, listed
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("bsgd", "bsca")
_DEEP = 2.0  # points below the median of a run: a peak of significantly reduced performance
_SKIPPED = 0.25  # of the looks at the beginning, where curves rise
_ROUNDING = 1e-6  # points: a look that is as deep as that, and not deeper, is no peak
_MUCH = 1.5  # times as long
MANY = 0.1  #: of the looks: a long series of peaks
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
            np.mean([share_of_peaks(run) for run in runs[spec.name, method, budget]])
        )
        for spec in scope.specs
        for method in _METHODS
        for budget in budgets(scope)[:2]
    }
    picture = _picture(scope, runs, shares)
    return Section("Peaks in the accuracy", [text], [picture], _claims(scope, runs))


def _scores(run: Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array(run["often"]["epochs"]), 100 * np.array(run["often"]["score"])


def _late(run: Result) -> NDArray[np.float64]:
    """Return the scores without the beginning. Some looks are closer than others: those for P."""
    visits = np.array(run["often"]["visits"], dtype=float)
    _, scores = _scores(run)
    return np.asarray(scores[visits >= _SKIPPED * visits[-1]])


def share_of_peaks(run: Result) -> float:
    """Return which share of the looks is a peak."""
    scores = _late(run)
    return float(np.mean(scores < np.median(scores) - _DEEP - _ROUNDING))


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


def _claims(scope: Scope, runs: dict[Any, list[Result]]) -> list[Claim]:
    usual = budgets(scope)[1]
    both = {s.name: [runs[s.name, method, usual] for method in _METHODS] for s in scope.specs}
    return [_series(both), _largest(both), _much_longer(both)]


_Pairs = dict[str, list[list[Result]]]  # runs of BSGD and of BSCA, by problem


def _series(both: _Pairs) -> Claim:
    gains = {
        name: difference(*([100 * share_of_peaks(run) for run in runs] for runs in pair))
        for name, pair in both.items()
    }
    shares = {n: np.mean([share_of_peaks(run) for run in pair[0]]) for n, pair in both.items()}
    more = {name: gain.above and shares[name] >= MANY for name, gain in gains.items()}
    return Claim(
        "For the primal solver there is a long series of peaks of significantly reduced performance.",
        "section 5, Learning Performance",
        f"BSGD has many, and more than BSCA, {tally(more)}. Looks more than {_DEEP:g} points below the median of the run without its first quarter, in %: BSGD {_shares(both, 0)}; what BSGD has more than BSCA: {listed(gains, 1)} "
        f"(rule: {100 * MANY:.0f} % or more, and more than BSCA by over {RULE}, on every data set)",
        judge([*more.values()]),
    )


def _shares(both: _Pairs, place: int) -> str:
    means = {n: np.mean([share_of_peaks(run) for run in pair[place]]) for n, pair in both.items()}
    return ", ".join(f"{name} {100 * share:.0f}" for name, share in means.items())


def _largest(both: _Pairs) -> Claim:
    means = {n: np.mean([share_of_peaks(run) for run in pair[0]]) for n, pair in both.items()}
    worst = sorted(means, key=lambda name: -means[name])[: len(_LARGEST)]
    return Claim(
        "The peaks are particularly pronounced for the largest data sets SUSY and COVERTYPE.",
        "section 5, Learning Performance",
        f"The most peaks of BSGD are on {' and '.join(worst)}. Looks that are peaks, in %: {_shares(both, 0)} (rule: these two are SUSY and COVTYPE; in part if one of both. Our SUSY has 32,739 rows, and is among the smallest)",
        judge([name in _LARGEST for name in worst]),
    )


def last_peak(run: Result) -> float:
    """Return the epoch of the last look that is a peak; 0 if there is none."""
    epochs, scores = _scores(run)
    deep = np.flatnonzero(scores < np.median(_late(run)) - _DEEP - _ROUNDING)
    return float(epochs[deep[-1]]) if len(deep) else 0.0


def _much_longer(both: _Pairs) -> Claim:
    """Until when a run that stops may stop at a peak."""
    lasts = {
        name: [[last_peak(run) for run in runs] for runs in pair] for name, pair in both.items()
    }
    longer = {
        name: difference(sgd, sca).above and np.mean(sgd) >= _MUCH * np.mean(sca)
        for name, (sgd, sca) in lasts.items()
    }
    texts = ", ".join(
        f"{name} {np.mean(sgd):.1f} | {np.mean(sca):.1f} of {both[name][0][0]['often']['epochs'][-1]:.0f}"
        for name, (sgd, sca) in lasts.items()
    )
    return Claim(
        "BSGD is at risk of delivering low-quality solutions for a much longer time when it happens to stop at one of the peaks.",
        "section 5, Optimization Performance",
        f"Much longer {tally(longer)}. Epoch of the last peak, BSGD | BSCA, means over seeds: {texts} (rule: {_MUCH:g} times as late, and later by over {RULE}, on every data set)",
        judge([*longer.values()]),
    )

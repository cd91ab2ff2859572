"""The fraction of merging steps over many epochs: figure 3 of the paper, and lemma 2 on a budget."""

from typing import Any

import numpy as np

from experiments.curves.runs import budgets, curve_jobs, gather, two_phases
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import rates
from experiments.report.content import Claim, Data, Picture, Section
from experiments.report.style import add_legend, draw_band, look, new_figure
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope
from experiments.tables.rate_claims import FACTOR_RULE, is_near

_METHODS = ("bsgd", "bsca")
_LATE = 0.25  # of the epochs at the end are averaged
_NEARLY_ALL = 0.99
_LESS = 0.5  # points of accuracy
_CLOSE = 5.0  # % of all visits: what is no farther from the prediction is "approximately valid"
_FEW_STEPS = 0.5  # per violation: most violators are at C, and make none
_SIMILAR = 2.0  # a factor between ratios that are very similar


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    runs = [
        job
        for budget in budgets(scope)
        for job in curve_jobs(scope, _METHODS, [budget], **_options(scope, budget))
    ]
    return [*runs, *curve_jobs(scope, ["two-phase"], budgets(scope)[1:2]), *exact_jobs(scope)]


def _options(scope: Scope, budget: int) -> dict[str, Any]:
    """No other figure has the largest budget: nobody wants its objectives."""
    return {"objectives": False} if budget == budgets(scope)[-1] else {}


def section(scope: Scope, results: Results) -> Section:
    """Draw the figure."""
    runs = gather(scope, results, _METHODS, budgets(scope))
    ours = two_phases(scope, results)
    predicted = {spec.name: rates(scope, results, spec) for spec in scope.specs}
    text = (
        "A visit merges when it changes a full model. Lemma 2 predicts the rates of the solvers without a budget from the exact "
        "solution: p_SGD is the mean of α*/C, p_SCA the share of variables strictly between 0 and C. Partners are of equal sign as in "
        "the paper, and ranked by a table, as golden section would up to rounding."
    )
    picture = _picture(scope, runs, ours, predicted)
    claims = [
        _claim(scope, runs, predicted),
        _fixes(scope, runs),
        _alike(scope, runs),
        _added(scope, runs),
        _compromise(scope, runs),
    ]
    return Section("Merging steps", [text], [picture], claims)


def _shares(runs: list[Result], what: str = "merges") -> list[list[float]]:
    return [[epoch[what] for epoch in run["history"]] for run in runs]


def _picture(
    scope: Scope,
    runs: dict[Any, list[Result]],
    ours: dict[str, list[Result]],
    predicted: dict[str, tuple[float, float]],
) -> Picture:
    sizes = budgets(scope)

    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for method in _METHODS:
                for budget in sizes:
                    shares = 100 * np.array(_shares(runs[spec.name, method, budget]))
                    style = look(method, budget, sizes, markersize=3)
                    draw_band(axes, np.arange(1, shares.shape[1] + 1), shares, **style)
            for rate, method, name in zip(
                predicted[spec.name], ("bsgd", "bsca"), ("p_SGD", "p_SCA"), strict=True
            ):
                style = look(method, label=f"{name} of lemma 2", marker="", linestyle=(0, (1, 2)))
                axes.axhline(100 * rate, **style)
            _draw_ours(axes, ours[spec.name])
            axes.set(title=spec.name, xlabel="epochs", ylabel="merging visits in %", ylim=(0, None))
        add_legend(figure)
        return figure

    caption = (
        f"Budgets {', '.join(map(str, sizes))}, {scope.seeds} seeds, median and range; dotted lines are the predictions of lemma 2 from "
        "the exact solution (COVTYPE: of a random part of the rows). The two-phase solver ends its phase 1 after "
        f"{_longest(ours)} epochs at most."
    )
    title = "Fraction of merging steps over many epochs"
    return Picture("merging", title, caption, draw, _data(runs, ours))


def _longest(ours: dict[str, list[Result]]) -> int:
    return max(len(run["history"]) for seeds in ours.values() for run in seeds)


def _draw_ours(axes: Any, runs: list[Result]) -> None:
    """Draw phase 1 of the two-phase solver, whose epochs need not be as many for all seeds."""
    least = min(len(run["history"]) for run in runs)
    shares = 100 * np.array([line[:least] for line in _shares(runs)])
    draw_band(
        axes, np.arange(1, least + 1), shares, **look("two-phase", label="two phases, phase 1")
    )


def _data(runs: dict[Any, list[Result]], ours: dict[str, list[Result]]) -> Data:
    named = {**runs, **{(name, "two-phase", None): seeds for name, seeds in ours.items()}}
    columns = ("steps", "violations", "merges", "degradation")
    rows = [
        (*key, seed, number, *(epoch[name] for name in columns))
        for key, seeds in named.items()
        for seed, run in enumerate(seeds)
        for number, epoch in enumerate(run["history"], start=1)
    ]
    return Data(("data", "method", "budget", "seed", "epoch", *columns), rows)


def _late(runs: list[Result], what: str = "merges") -> float:
    shares = np.array(_shares(runs, what))
    return float(np.median(shares[:, -max(1, round(_LATE * shares.shape[1])) :].mean(axis=1)))


def _claim(
    scope: Scope, runs: dict[Any, list[Result]], predicted: dict[str, tuple[float, float]]
) -> Claim:
    lines, close = [], {}
    for spec in scope.specs:
        for place, name in enumerate(("SGD", "SCA")):
            rate = 100 * predicted[spec.name][place]
            seen = [
                100 * _late(runs[spec.name, _METHODS[place], budget]) for budget in budgets(scope)
            ]
            close[f"{spec.name} {name}"] = all(is_near(s, rate, _CLOSE) for s in seen)
            lines.append(f"{spec.name} {name} {rate:.1f} → {' | '.join(f'{s:.1f}' for s in seen)}")
    sizes = " | ".join(map(str, budgets(scope)))
    return Claim(
        "Lemma 2's predictions are approximately valid also when using a budget; they give an asymptotic indication of the number of budget maintenance events.",
        "section 5, Convergence Behavior; section 4, Budget Maintenance Rate",
        f"They are valid {tally(close)}. Merging visits in %, predicted without a budget → late in the runs with B = {sizes}: {'; '.join(lines)} (rule: within {_CLOSE:g} points and {FACTOR_RULE}, "
        "at all budgets, in all cases; COVTYPE is predicted by a part of its rows)",
        judge([*close.values()]),
    )


def _fixes(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    """A violator at C makes no step; steps back of others count, too, so that this is no less than the share that does."""
    met, texts = {}, []
    for spec in scope.specs:
        ratios = [
            [
                _late(runs[spec.name, m, b], "steps") / _late(runs[spec.name, m, b], "violations")
                for b in budgets(scope)
            ]
            for m in _METHODS
        ]
        met[spec.name] = min(ratios[0]) >= _NEARLY_ALL and max(ratios[1]) < _FEW_STEPS
        texts.append(
            f"{spec.name} {', '.join(f'{r:.2f}' for r in ratios[0])} | {', '.join(f'{r:.2f}' for r in ratios[1])}"
        )
    return Claim(
        "BSGD makes non-zero steps on all support vectors, while BSCA manages to fix the dual variables of margin violators at the upper bound C.",
        "section 5, Convergence Behavior",
        f"So it is {tally(met)}. Steps per visit with a margin below 1, late, BSGD | BSCA, each with B = {', '.join(map(str, budgets(scope)))}: {'; '.join(texts)} (rule: {_NEARLY_ALL:g} or more for BSGD, less than {_FEW_STEPS:g} for BSCA, at all budgets, everywhere)",
        judge([*met.values()]),
    )


def _alike(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    """Which of both solvers merges more often, late, at the largest budget."""
    largest = budgets(scope)[-1]
    late = {
        spec.name: [_late(runs[spec.name, method, largest]) for method in _METHODS]
        for spec in scope.specs
    }
    first = late.get("COD-RNA", next(iter(late.values())))
    ratio = first[1] / first[0]
    met = {
        name: 1 / _SIMILAR <= (sca / sgd) / ratio <= _SIMILAR
        for name, (sgd, sca) in late.items()
        if name != "COD-RNA"
    } or {next(iter(late)): True}
    listed = ", ".join(f"{n} {100 * a:.0f} | {100 * b:.0f} %" for n, (a, b) in late.items())
    return Claim(
        "The fractions of merging steps on the other data sets are very similar to those on COD-RNA.",
        "appendix C",
        f"Similar {tally(met)}. Merging visits late in the runs, BSGD | BSCA, B = {largest}: {listed} (rule: the ratio of both is that of COD-RNA up to a factor of {_SIMILAR:g}, everywhere)",
        judge([*met.values()]),
    )


def _added(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    """Steps per violation, and merges per step, in the last epoch at the usual budget; the worst of the data sets."""
    shares: dict[str, list[float]] = {}
    for method in _METHODS:
        for spec in scope.specs:
            last = [run["history"][-1] for run in runs[spec.name, method, budgets(scope)[1]]]
            sums = [sum(e[name] for e in last) for name in ("steps", "violations", "merges")]
            shares.setdefault(f"{method} added", []).append(sums[0] / sums[1])
            shares.setdefault(f"{method} merged", []).append(sums[2] / sums[0])
    names = {name: name.replace("bsgd", "BSGD").replace("bsca", "BSCA") for name in shares}
    met = {
        names[name]: max(abs(value - 1) for value in values) <= 1 - _NEARLY_ALL
        for name, values in shares.items()
    }
    always = [name for name, value in met.items() if value]
    listed = ", ".join(
        f"{names[name]} {min(values):.2f} to {max(values):.2f}" for name, values in shares.items()
    )
    return Claim(
        "A point that violates the margin is added as a new support vector in BSGD as well as in BSCA; after the first B such steps all further additions trigger maintenance.",
        "section 4, Budget Maintenance Rate",
        f"Always: {', '.join(always) or 'none'}; not always: {', '.join(n for n in met if n not in always) or 'none'}. Additions per violator, and merges per addition, in the last epoch: {listed}. In BSCA points with α = C violate the margin and add nothing, while steps back of others add terms (rule: 1 up to {1 - _NEARLY_ALL:.2g}, all four, on all data sets; B = {budgets(scope)[1]})",
        judge([*met.values()]),
    )


def _compromise(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    """Late accuracy and time of BSCA at three budgets."""
    met, texts = {}, []
    for spec in scope.specs:
        scores, seconds = [], []
        for budget in budgets(scope):
            some = runs[spec.name, "bsca", budget]
            late = [
                np.median(run["often"]["score"][-max(1, len(run["often"]["score"]) // 4) :])
                for run in some
            ]
            scores.append(100 * float(np.mean(late)))
            seconds.append(min(run["cpu"] for run in some))
        compromise = scores[0] - _LESS < scores[1] >= scores[2] - _LESS
        met[spec.name] = compromise and seconds[1] < seconds[2]
        texts.append(
            f"{spec.name} {' | '.join(f'{s:.1f}' for s in scores)} % in {' | '.join(f'{t:.1f}' for t in seconds)} s"
        )
    small, usual, large = budgets(scope)
    return Claim(
        f"B = {usual} offers a reasonable compromise between speed and accuracy on all problems.",
        "appendix A",
        f"As accurate as both others up to {_LESS:g} points, and faster than B = {large}, {tally(met)}. BSCA with B = {small} | {usual} | {large}, late: {'; '.join(texts)} (rule: on all)",
        judge([*met.values()]),
    )

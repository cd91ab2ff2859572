"""Primal and dual objective over epochs at the usual budget: the paper's figure 1."""

from typing import Any

import numpy as np

from experiments.curves.panels import as_data, column, draw_over_epochs, final, learning
from experiments.curves.runs import budgets, curve_jobs, gather
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import optimum
from experiments.problems import Spec
from experiments.report import ticks
from experiments.report.content import Claim, Picture, Section
from experiments.report.style import add_legend, look, new_figure
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

PAIRS = {"": ("bsgd", "bsca"), "-default": ("bsgd-default", "bsca-default")}
_METHODS = (*PAIRS[""], *PAIRS["-default"], "two-phase")

# A dual curve that falls by no more than this share of its range, or its own error, is monotone.
_TOLERATED_FALL = 0.02
_CLEARLY = 1.05  # times: what is called clearly better here


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
    return Section("Primal and dual objective", [text], pictures, _claims(scope, runs))


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


# ---- what the paper says about it ----


def _claims(scope: Scope, runs: dict[Any, list[Result]]) -> list[Claim]:
    return [
        _monotone(scope, runs),
        _primal_is_not(scope, runs),
        _better(scope, runs),
        _steadier(scope, runs),
        _negative(scope, runs),
    ]


def fall(run: Result, name: str = "dual") -> float:
    """Return by how much D falls below its best so far, as a share of its range, beyond its error."""
    dual, error = (column(run, part)[learning(run)] for part in (name, "dual_error"))
    error = error if name == "dual" else np.zeros(len(dual))
    best = np.maximum.accumulate(dual)
    extent = max(float(np.ptp(np.append(dual, 0.0))), 1e-300)
    return float(np.max(best - dual - 2 * error)) / extent


def _monotone(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    falls = {
        (spec.name, method): max(map(fall, runs[spec.name, method]))
        for spec in scope.specs
        for method in PAIRS[""]
    }
    bad = {key: value for key, value in falls.items() if value > _TOLERATED_FALL}
    listed = ", ".join(
        f"{method.upper()} on {name} {100 * v:.0f} %" for (name, method), v in bad.items()
    )
    apparent = max(
        fall(run, "apparent_dual") for spec in scope.specs for run in runs[spec.name, "bsca"]
    )
    seen = (
        f"{len(falls) - len(bad)} of {len(falls)} curves are monotone. Largest fall of D from its peak, as a share of its range: {listed or 'none above 2 %'}. Of 1ᵀα − ½‖w̃‖², which is not D but "
        f"easily mistaken for it: BSCA {100 * apparent:.0f} % at the most (rule: {100 * _TOLERATED_FALL:g} % everywhere)"
    )
    judged = judge([key not in bad for key in falls])
    return Claim(
        "Dual curves are smooth and monotone in all cases.",
        "section 5, Optimization Performance",
        seen,
        judged,
    )


def _better(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    ratios = {
        spec.name: float(
            np.median(final(runs[spec.name, "bsgd"], "primal"))
            / np.median(final(runs[spec.name, "bsca"], "primal"))
        )
        for spec in scope.specs
    }
    wins = {name: ratio > _CLEARLY for name, ratio in ratios.items()}
    listed = ", ".join(f"{k} {v:.2f}" for k, v in ratios.items())
    seen = f"Better by more than {100 * (_CLEARLY - 1):.0f} % {tally(wins)}. Final P of BSGD / P of BSCA: {listed} (rule: above {_CLEARLY:g} everywhere)"
    statement = "BSCA clearly outperforms BSGD in the objective, across all problems."
    return Claim(statement, "section 5, Optimization Performance", seen, judge([*wins.values()]))


def _primal_is_not(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    rises = {
        f"{method.upper()} on {spec.name}": max(_rise(run) for run in runs[spec.name, method])
        for spec in scope.specs
        for method in PAIRS[""]
    }
    jumps = {name: value > _TOLERATED_FALL for name, value in rises.items()}
    return Claim(
        "Primal curves are not monotone.",
        "section 5, Optimization Performance",
        f"{sum(jumps.values())} of {len(jumps)} curves rise by more than {100 * _TOLERATED_FALL:g} % from one look to the next: {', '.join(f'{n} {100 * v:.0f} %' for n, v in rises.items())} at the most "
        "(rule: all of them)",
        judge([*jumps.values()]),
    )


def _rise(run: Result) -> float:
    """Return by which share P rises at the most from one look to the next."""
    values = np.array(run["often"]["primal"], dtype=float)
    values = values[np.isfinite(values)]
    return float(np.max(np.diff(values) / values[:-1]))


def _negative(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    """The caption of the paper's figure 1 says of two problems that D of BSGD stays below zero."""
    ends = {s.name: float(np.median(final(runs[s.name, "bsgd"], "dual"))) for s in scope.specs}
    stays = {
        s.name: bool(
            (
                np.median([column(r, "dual")[learning(r)] for r in runs[s.name, "bsgd"]], axis=0)
                < 0
            ).all()
        )
        for s in scope.specs
    }
    below = [name for name, value in stays.items() if value]
    return Claim(
        "The dual objective stays negative for BSGD on two problems.",
        "section 5, figure 1",
        f"It stays negative on {len(below)}: {', '.join(below) or 'none'}. Final D, median: {', '.join(f'{n} {v:.3g}' for n, v in ends.items())} (rule: below zero at all looks, on two problems)",
        "held" if len(below) == 2 else "held in part" if below else "did not hold",
    )


def unrest(runs: list[Result], name: str) -> float:
    """Return the mean step between looks in the second half of training, as a share of the level."""
    steps = []
    for run in runs:
        values = column(run, name)[learning(run)]
        late = values[len(values) // 2 :]
        steps.append(np.mean(np.abs(np.diff(late))) / np.mean(np.abs(late)))
    return float(np.median(steps))


def _steadier(scope: Scope, runs: dict[Any, list[Result]]) -> Claim:
    pairs = {
        spec.name: tuple(unrest(runs[spec.name, method], "primal") for method in PAIRS[""])
        for spec in scope.specs
    }
    calmer = {name: sca < sgd for name, (sgd, sca) in pairs.items()}
    listed = ", ".join(
        f"{name} {100 * sgd:.0f} | {100 * sca:.0f} %" for name, (sgd, sca) in pairs.items()
    )
    seen = f"It oscillates less {tally(calmer)}. Mean change of P between looks, late, BSGD | BSCA: {listed} (rule: less on all but ADULT)"
    as_said = [calm != (name == "ADULT") for name, calm in calmer.items()]
    statement = "BSCA oscillates less and stabilises faster, with the exception of ADULT."
    return Claim(statement, "section 5, Optimization Performance", seen, judge(as_said))

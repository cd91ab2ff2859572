"""Test accuracy while training, at the usual and at the small budget: figures 2 and 5 of the paper."""

from typing import Any

import numpy as np

from experiments.curves.panels import as_data, column, draw_over_time, in_percent, learning
from experiments.curves.runs import GOLDEN, budgets, curve_jobs, gather
from experiments.exact.reference import accuracy as exact_accuracy
from experiments.exact.reference import jobs as exact_jobs
from experiments.exact.reference import remark
from experiments.report import ticks
from experiments.report.content import Claim, Picture, Section
from experiments.report.style import add_legend, look, new_figure
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("bsgd", "bsca", "bsgd-default", "bsca-default", "two-phase")
_NEARLY = 1.0  # points: what is no farther from the exact SVM is "nearly indistinguishable" from it
_FAILED = 3.0  # points


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    runs = curve_jobs(scope, _METHODS, budgets(scope)[:2])
    return [*runs, *curve_jobs(scope, GOLDEN, budgets(scope)[1:2]), *exact_jobs(scope)]


def section(scope: Scope, results: Results) -> Section:
    """Draw both budgets."""
    runs = gather(scope, results, _METHODS, budgets(scope)[:2])
    runs |= gather(scope, results, GOLDEN, budgets(scope)[1:2])
    exact = {spec.name: exact_accuracy(scope, results, spec) for spec in scope.specs}
    small, usual = budgets(scope)[:2]
    pictures = [_picture(scope, runs, exact, budget) for budget in (usual, small)]
    text = (
        "Curves are on up to 20,000 test rows. Times are of one thread, without the time of looking. BSGD and BSCA merge as in the paper, "
        "partners of equal sign; a table ranks them. With the paper's golden section search the same takes much longer (dotted)."
    )
    claims = [
        _nearly_exact(scope, runs, exact, usual),
        _faster(scope, runs, usual),
        _better_at(scope, runs, small),
        _small_budget(scope, runs, exact, small),
        _primal_fails(scope, runs, exact, small),
    ]
    return Section("Test accuracy", [text], pictures, claims)


def _picture(
    scope: Scope, runs: dict[Any, list[Result]], exact: dict[str, float], budget: int
) -> Picture:
    shown = {key: seeds for key, seeds in runs.items() if key[2] == budget}

    def draw() -> Any:
        figure, panels = new_figure(len(scope.specs))
        for axes, spec in zip(panels, scope.specs, strict=True):
            for method in _METHODS:
                draw_percent(axes, shown[spec.name, method, budget], look(method))
            for method in GOLDEN:
                if (spec.name, method, budget) in shown:
                    draw_percent(axes, shown[spec.name, method, budget], _golden_look(method))
            axes.axhline(exact[spec.name], **look("exact", marker=""))
            frame_accuracy(axes, spec.name, exact[spec.name], shown[spec.name, "two-phase", budget])
        add_legend(figure)
        return figure

    caption = (
        f"B = {budget}, {scope.seeds} seeds, median and quartiles. BSGD and BSCA as in the paper, with our "
        f"default merging, and the two-phase solver. What lies below the panel is cut off.{remark(scope)}"
    )
    data = as_data(shown, ("data", "method", "budget"))
    title = f"Test accuracy over training time at a budget of {budget}"
    return Picture(f"accuracy-{budget}", title, caption, draw, data)


def _golden_look(method: str) -> dict[str, Any]:
    plain = look(method.removesuffix("-golden"))
    changes = {"label": f"{plain['label']}, golden section", "linestyle": ":", "marker": ""}
    return {**plain, **changes, "band": "none"}


def draw_percent(axes: Any, runs: list[Result], looks: dict[str, Any]) -> None:
    """Draw the accuracy in % over time."""
    draw_over_time(
        axes, [in_percent(run) for run in runs], "score", **{"band": "quartiles", **looks}
    )


def frame_accuracy(axes: Any, title: str, exact: float, best: list[Result]) -> None:
    """Show what lies between useless and perfect, and not every peak downwards."""
    top = max(exact, *(100 * float(column(run, "score")[-1]) for run in best))
    least = min(100 * float(np.nanmin(column(run, "score"))) for run in best)
    height = max(2.0, 1.3 * (top - max(least, top - 25)))
    axes.set(title=title, xlabel="training time in s", ylabel="test accuracy in %")
    axes.set(ylim=(top - height, top + 0.08 * height))
    ticks.log(axes, "x")


# ---- what the paper says about it ----


def _mean_accuracy(runs: list[Result]) -> float:
    return float(np.mean([run["accuracy"] for run in runs]))


def _nearly_exact(
    scope: Scope, runs: dict[Any, list[Result]], exact: dict[str, float], budget: int
) -> Claim:
    methods = ("bsgd", "bsca", "two-phase")
    lost = {
        spec.name: [exact[spec.name] - _mean_accuracy(runs[spec.name, m, budget]) for m in methods]
        for spec in scope.specs
    }
    near = {name: max(values[:2]) <= _NEARLY for name, values in lost.items()}
    listed = "; ".join(
        f"{name} {' | '.join(f'{v:.2f}' for v in values)}" for name, values in lost.items()
    )
    seen = f"Both are within {_NEARLY:g} point {tally(near)}. Points lost against the exact SVM, BSGD | BSCA | two phases: {listed}"
    epochs = sorted({spec.epochs for spec in scope.specs})
    statement = (
        f"All budgeted models reach an accuracy nearly indistinguishable from the exact SVM (B = {budget}, after "
        f"{' to '.join(map(str, epochs))} epochs; rule: {_NEARLY:g} point at most)."
    )
    return Claim(statement, "section 5, Learning Performance", seen, judge([*near.values()]))


def _faster(scope: Scope, runs: dict[Any, list[Result]], budget: int) -> Claim:
    """Compare the mean accuracy over all looks: who is good early has more."""
    means = {
        spec.name: [
            float(
                np.mean(
                    [np.mean(column(r, "score")[learning(r)]) for r in runs[spec.name, m, budget]]
                )
            )
            for m in ("bsgd", "bsca")
        ]
        for spec in scope.specs
    }
    wins = {name: sca > sgd for name, (sgd, sca) in means.items()}
    listed = ", ".join(
        f"{name} {100 * sgd:.1f} | {100 * sca:.1f} %" for name, (sgd, sca) in means.items()
    )
    seen = f"BSCA is ahead {tally(wins)}. Mean accuracy over all looks, BSGD | BSCA: {listed} (rule: ahead everywhere)"
    statement = "The accuracy converges significantly faster for the dual solver."
    return Claim(statement, "section 5, Learning Performance", seen, judge([*wins.values()]))


def _primal_fails(
    scope: Scope, runs: dict[Any, list[Result]], exact: dict[str, float], budget: int
) -> Claim:
    """On SUSY and COVTYPE, or on the only problem there is."""
    names = [name for name in exact if name in ("SUSY", "COVTYPE")] or [scope.specs[0].name]
    lost = {
        name: [exact[name] - _mean_accuracy(runs[name, m, budget]) for m in ("bsgd", "bsca")]
        for name in names
    }
    fails = {name: values[0] > _FAILED for name, values in lost.items()}
    listed = ", ".join(f"{name} {a:.1f} | {b:.1f}" for name, (a, b) in lost.items())
    return Claim(
        f"BSGD fails to deliver high quality solutions on SUSY and COVERTYPE at B = {budget}.",
        "appendix B",
        f"It fails {tally(fails)}. Points lost against the exact SVM at the end, BSGD | BSCA: {listed} (rule: more than {_FAILED:g}, by the mean over seeds, on both)",
        judge([*fails.values()]),
    )


def _better_at(scope: Scope, runs: dict[Any, list[Result]], budget: int) -> Claim:
    pairs = {
        spec.name: [_mean_accuracy(runs[spec.name, m, budget]) for m in ("bsgd", "bsca")]
        for spec in scope.specs
    }
    wins = {name: sca > sgd for name, (sgd, sca) in pairs.items()}
    listed = ", ".join(f"{name} {a:.2f} | {b:.2f}" for name, (a, b) in pairs.items())
    return Claim(
        f"Generally speaking, BSCA clearly outperforms BSGD at B = {budget}, too.",
        "appendix B",
        f"The accuracy of BSCA is greater {tally(wins)}. Final accuracy in %, BSGD | BSCA: {listed} (rule: greater everywhere)",
        judge([*wins.values()]),
    )


def _small_budget(
    scope: Scope, runs: dict[Any, list[Result]], exact: dict[str, float], budget: int
) -> Claim:
    """On IJCNN, or on the only problem there is."""
    name = "IJCNN" if "IJCNN" in exact else scope.specs[0].name
    methods = ("bsgd", "bsca", "bsca-default", "two-phase")
    bsgd, bsca, any_sign, ours = (_mean_accuracy(runs[name, m, budget]) for m in methods)
    seen = (
        f"BSCA loses {exact[name] - bsca:.2f} points against the exact SVM, BSGD {exact[name] - bsgd:.2f}. {name}, exact {exact[name]:.2f} %: BSCA as in the paper {bsca:.2f}, BSGD {bsgd:.2f}, BSCA with partners of any sign "
        f"{any_sign:.2f}, two phases {ours:.2f} % (rule: in part if worse than BSGD, held if {_FAILED:g} points below the exact SVM, too)"
    )
    statement = f"BSCA fails on IJCNN at B = {budget}."
    return Claim(statement, "appendix B", seen, judge([bsca < bsgd, exact[name] - bsca > _FAILED]))

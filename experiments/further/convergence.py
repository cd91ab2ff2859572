"""Both solvers without a budget near their limits, on problems with an exact answer (sections 2 and 5)."""

from typing import Any

import numpy as np

from budgetsvm import BudgetSVC
from budgetsvm.monitoring import View
from budgetsvm.solvers import BSCA, BSGD
from experiments.report import style, ticks
from experiments.report.content import Cell, Claim, Data, Picture, Section
from experiments.report.wording import judge, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope
from experiments.theory.small_problems import MAKERS
from experiments.theory.small_qp import solve
from experiments.theory.watching import Looks

_PROBLEMS = ("narrow", "medium", "rings")
_SOLVERS = {"sgd": BSGD("uniform"), "sca": BSCA("uniform")}
_ROWS, _QUICK_ROWS = 196, 49
_EPOCHS, _QUICK_EPOCHS = 300, 30
_MOST_SEEDS = 5
_COARSE, _FINE = 1.0, 0.01  # P above the optimum, relative to it
_FAST = 5.0  # epochs: fast progress at first
_SLOW = 50.0  # epochs: a long time
_LONG = 10.0  # times as much as SCA
_PRACTICAL = 30.0  # epochs that are few in practice
_ABOVE = 0.01  # of the variables
_WINDOW = (5, 40)  # epochs: after the beginning, as long as the curves of the paper
_SWING = 0.05  # of P: a large oscillation
_ROUNDING = 1e-11  # of D(α*): where a suboptimality ends to be one
_STEADY = 3.0  # a rate that changes by less from one half of the way to the other is constant


def converge(*, problem: str, n: int, solver: str, epochs: int, seed: int) -> Result:
    """Suboptimality of P and of D after every epoch, and the largest α / C."""
    small = MAKERS[problem](n)
    optimum = solve(small.Q, small.C)
    found: dict[str, list[float]] = {"primal": [], "dual": [], "above": []}

    def look(view: View) -> None:
        assert view.alpha is not None
        alpha = np.asarray(view.alpha, dtype=float)
        margin = small.Q @ alpha
        primal = alpha @ margin / 2 + small.C * np.maximum(0, 1 - margin).sum()
        found["primal"].append(float(primal / optimum.value - 1))
        found["dual"].append(float(1 - small.dual(alpha) / optimum.value))
        found["above"].append(float(np.mean(alpha > small.C * (1 + 1e-9))))

    BudgetSVC(
        C=small.C,
        gamma=small.gamma,
        budget=None,
        solver=_SOLVERS[solver],
        epochs=epochs,
        polish=False,
        fit_intercept=False,
        precision="double",
        random_state=seed,
        n_jobs=1,
        monitor=Looks(look, len(small)),
    ).fit(small.X, small.y)
    return {name: [float(f"{v:.6g}") for v in values] for name, values in found.items()}


def jobs(scope: Scope) -> list[Job]:
    """A job per problem, solver and seed."""
    return [
        _job(scope, problem, solver, seed)
        for problem in _PROBLEMS
        for solver in _SOLVERS
        for seed in _seeds(scope)
    ]


def _seeds(scope: Scope) -> range:
    return range(min(scope.seeds, _MOST_SEEDS))


def _job(scope: Scope, problem: str, solver: str, seed: int) -> Job:
    arguments = {
        "problem": problem,
        "n": _QUICK_ROWS if scope.quick else _ROWS,
        "solver": solver,
        "epochs": _QUICK_EPOCHS if scope.quick else _EPOCHS,
        "seed": seed,
    }
    return Job(f"convergence/{problem}-{solver}-{seed}", converge, arguments, 1.0)


def section(scope: Scope, results: Results) -> Section:
    """Draw both objectives, and judge what is said of them."""
    found = {
        (problem, solver): [results[_job(scope, problem, solver, s).name] for s in _seeds(scope)]
        for problem in _PROBLEMS
        for solver in _SOLVERS
    }
    text = (
        "Section 2 says of coordinate ascent that it converges linearly near the optimum and fast in practice, and of SGD that it makes fast progress at first but takes long to be "
        "accurate; section 5 that the primal solver ignores the upper bound of α. The problems are those of Theorem 1, whose optimum is known."
    )
    claims = [_linear(found), _fast(found), _slow(found), _ignores(found)]
    return Section("Convergence without a budget", [text], [_picture(scope, found)], claims)


_Found = dict[tuple[str, str], list[Result]]


def _median(found: _Found, problem: str, solver: str, name: str) -> Any:
    return np.median([run[name] for run in found[problem, solver]], axis=0)


def _picture(scope: Scope, found: _Found) -> Picture:
    def draw() -> Any:
        figure, panels = style.new_figure(len(_PROBLEMS), columns=3)
        for axes, problem in zip(panels, _PROBLEMS, strict=True):
            for solver in _SOLVERS:
                runs = [np.maximum(run["primal"], 1e-13) for run in found[problem, solver]]
                epochs = 1 + np.arange(len(runs[0]))
                style.draw_band(axes, epochs, runs, **style.look(solver))
            ticks.log(axes, "x")
            ticks.log(axes)
            axes.set(title=problem, xlabel="epochs", ylabel="P above the optimum")
        style.add_legend(figure)
        return figure

    rows: list[tuple[Cell, ...]] = [
        (*key, seed, epoch, *line)
        for key, seeds in found.items()
        for seed, run in enumerate(seeds)
        for epoch, line in enumerate(zip(run["primal"], run["dual"], run["above"], strict=True), 1)
    ]
    caption = f"(P − D(α*)) / D(α*) over epochs, {len(_seeds(scope))} seeds, median and range."
    columns = ("problem", "solver", "seed", "epoch", "primal", "dual", "share_above_C")
    title = "Suboptimality of SGD and SCA without a budget"
    return Picture("convergence", title, caption, draw, Data(columns, rows))


def _linear(found: _Found) -> Claim:
    met, texts = {}, []
    for problem in _PROBLEMS:
        gap = _median(found, problem, "sca", "dual")
        end = int(np.argmax(gap < _ROUNDING)) if (gap < _ROUNDING).any() else len(gap) - 1
        first, half, last = (max(k, round(end * part)) for k, part in enumerate((0.5, 0.75, 1)))
        logs = np.log(np.maximum(gap, 1e-300))
        early, late = (
            (logs[first] - logs[half]) / (half - first),
            (logs[half] - logs[last]) / (last - half),
        )
        met[problem] = bool(late > 0 and early < _STEADY * late)
        texts.append(f"{problem} {np.exp(-early):.3f} | {np.exp(-late):.3f}")
    return Claim(
        "Coordinate ascent enjoys locally linear convergence.",
        "section 2, Kernel SVM Solvers",
        f"Linear {tally(met)}. Factor of D(α*) − D(α) per epoch in the third | last quarter of the way to rounding, or of the run: {', '.join(texts)} (rule: its logarithm gets smaller by less than a factor of {_STEADY:g})",
        judge([*met.values()]),
    )


def _fast(found: _Found) -> Claim:
    """Epochs to a P that no plot tells from the optimum, and that SGD takes for the same."""
    times = {
        (p, s): _first(_median(found, p, s, "primal"), _FINE) for p in _PROBLEMS for s in _SOLVERS
    }
    met = {
        p: times[p, "sca"] <= _PRACTICAL and times[p, "sca"] < times[p, "sgd"] for p in _PROBLEMS
    }
    texts = ", ".join(
        f"{p} {_epochs(times[p, 'sca'])} | {_epochs(times[p, 'sgd'])}" for p in _PROBLEMS
    )
    return Claim(
        "Dual coordinate ascent enjoys fast convergence in practice.",
        "abstract; section 2, Kernel SVM Solvers; section 6",
        f"Fast {tally(met)}. Epochs until P is within {100 * _FINE:.0f} % of the optimum, SCA | SGD, without a budget, {_ROWS} rows and C of 4 at most: {texts} (rule: {_PRACTICAL:g} at most, and fewer than SGD, everywhere)",
        judge([*met.values()]),
    )


def _epochs(count: float) -> str:
    return f"{count:.0f}" if np.isfinite(count) else "never"


def _first(values: Any, level: float) -> float:
    return 1.0 + int(np.argmax(values <= level)) if (values <= level).any() else np.inf


def _slow(found: _Found) -> Claim:
    met, texts = {}, []
    for problem in _PROBLEMS:
        times = {
            s: [_first(_median(found, problem, s, "primal"), level) for level in (_COARSE, _FINE)]
            for s in _SOLVERS
        }
        (a, b), (c, d) = times["sgd"], times["sca"]
        met[problem] = bool(a <= _FAST and b >= _SLOW)
        shown = [_epochs(t) for t in (a, b, c, d)]
        texts.append(f"{problem} SGD {shown[0]} and {shown[1]}, SCA {shown[2]} and {shown[3]}")
    return Claim(
        "Despite fast initial progress, SGD can take a long time to produce accurate results.",
        "section 2, Kernel SVM Solvers",
        f"Both {tally(met)}. Epochs until P is within {100 * _COARSE:.0f} % and {100 * _FINE:.0f} % of the optimum: {'; '.join(texts)} (rule: {_FAST:g} epochs at most to the former, and {_SLOW:g} or more to the latter, on one at least)",
        "held" if any(met.values()) else "did not hold",
    )


def _ignores(found: _Found) -> Claim:
    """α above C, and what P does meanwhile, in as many epochs as the curves of the paper have."""
    above = {p: _median(found, p, "sgd", "above") for p in _PROBLEMS}
    swings = {
        (p, s): float(np.median([_swing(run) for run in found[p, s]]))
        for p in _PROBLEMS
        for s in _SOLVERS
    }
    over = {p: above[p][-1] > _ABOVE for p in _PROBLEMS}
    large = {
        p: swings[p, "sgd"] > _SWING and swings[p, "sgd"] > _LONG * swings[p, "sca"]
        for p in _PROBLEMS
    }
    shares = ", ".join(f"{p} {100 * above[p][0]:.0f} | {100 * above[p][-1]:.0f}" for p in _PROBLEMS)
    texts = ", ".join(
        f"{p} {100 * swings[p, 'sgd']:.1f} | {100 * swings[p, 'sca']:.1f}" for p in _PROBLEMS
    )
    return Claim(
        "The primal solver effectively ignores the upper bound of the dual variables, resulting in large oscillations.",
        "section 5, Discussion",
        f"Variables are above C at the end {tally(over)}, oscillations are large {tally(large)}. Variables of SGD above C, first | last epoch, in %: {shares}; coordinate ascent has none. Mean change of P from epoch to epoch, in epochs {_WINDOW[0]} to "
        f"{_WINDOW[1]}, in % of its level, SGD | SCA: {texts} (rule: more than {100 * _ABOVE:.0f} % of the variables at the end, and a change of more than {100 * _SWING:.0f} % that is {_LONG:g} times that of SCA, everywhere; in part if one of both somewhere)",
        judge([*over.values(), *large.values()]),
    )


def _swing(run: Result) -> float:
    """Return the mean change of P from one epoch to the next, as a share of its level."""
    P = 1 + np.array(run["primal"][_WINDOW[0] - 1 : _WINDOW[1]])
    return float(np.mean(np.abs(np.diff(P))) / np.mean(P))

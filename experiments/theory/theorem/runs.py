"""The jobs of `theorem_one`: runs of BSCA beside the theorem, and how long they keep moving."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm.monitoring import View
from experiments.running.jobs import Result
from experiments.theory.dual_progress import Gains, truncated_step
from experiments.theory.small_problems import MAKERS, SmallProblem
from experiments.theory.small_qp import Optimum, solve
from experiments.theory.theorem.bounds import SUMS, VARIANTS, Bounds
from experiments.theory.trajectory import Trajectory, follow
from experiments.theory.watching import Setup, watch

Vector = NDArray[np.float64]

_MOST_POINTS = 80
_LARGE = 1e300


def compare(
    *, problem: str, n: int, budget: int | None, merging: str, epochs: int, seeds: int
) -> Result:
    """Run BSCA with several seeds, and look at the theorem after every visit."""
    small = MAKERS[problem](n)
    optimum = solve(small.Q, small.C)
    bounds = Bounds(small, optimum.value)
    runs = [follow(small, optimum, Setup(budget, merging, epochs, seed)) for seed in range(seeds)]
    visits = len(runs[0]["gap"])
    shown = np.unique(np.linspace(0, visits - 1, _MOST_POINTS).round().astype(int))
    return {
        **_facts(small, optimum),
        "epochs": (shown / len(small)).tolist(),
        "series": _series(runs, shown),
        "log10_bounds": {name: _bound(bounds, runs, name, shown) for name in VARIANTS},
        "sums": {name: [_digits(bounds.sums(run, name)[shown]) for run in runs] for name in SUMS},
        "broken": {
            name: _breaks(bounds.broken(runs, name), len(small)) for name in (*VARIANTS, *SUMS)
        },
        "divided": float(bounds.divided(runs)[1:].max() / optimum.value),
        "steps": _steps(bounds, runs),
        "losses": _losses(bounds, runs),
        "errors": _errors(runs, len(small)),
    }


def _facts(problem: SmallProblem, optimum: Optimum) -> Result:
    kappa, largest = problem.spectrum
    return {
        "n": len(problem),
        "C": problem.C,
        "gamma": problem.gamma,
        "kappa": kappa,
        "largest": largest,
        "optimum": optimum.value,
        "relative_duality_gap": optimum.gap / optimum.value,
    }


def _series(runs: list[Trajectory], shown: NDArray[np.int_]) -> dict[str, Any]:
    """What is drawn, one line per seed."""
    names = ("gap", "primal_gap", "worst", "printed", "mean", "departure", "distance")
    names += ("degradation",)
    return {name: [_digits(run[name][shown]) for run in runs] for name in names}


def _digits(values: Vector) -> list[float]:
    """Keep six digits, which halves the files; what is infinite becomes very large, which JSON can hold."""
    return [float(f"{min(value, _LARGE):.6g}") for value in values]


def _bound(
    bounds: Bounds, runs: list[Trajectory], variant: str, shown: NDArray[np.int_]
) -> list[list[float]]:
    logs = [bounds.log_bound(run, variant)[shown] / np.log(10) for run in runs]
    return [_digits(log) for log in logs]


def _breaks(broken: NDArray[np.bool_], n: int) -> Result:
    """How often a bound is broken, and from when on."""
    first = float(np.argmax(broken)) / n if broken.any() else None
    return {"share": float(broken.mean()), "first_epoch": first}


def _steps(bounds: Bounds, runs: list[Trajectory]) -> Result:
    """At which share of the visits a one-step inequality fails, and how much of it where E ≤ 1."""
    shares: Result = {"visits": sum(len(run["gap"]) for run in runs)}
    for variant in SUMS:
        shares[variant] = float(
            np.mean(np.concatenate([bounds.step_fails(run, variant) for run in runs]))
        )
    for variant in VARIANTS:
        fails = np.concatenate([bounds.step_fails(run, variant) for run in runs])
        name = "mean" if variant == "mended" else variant
        small = np.concatenate([run[name] for run in runs]) <= 1
        shares[variant] = float(fails.mean())
        shares[f"{variant}_below_one"] = float((fails & small).mean())
    fails = np.concatenate([bounds.nesterov_fails(run) for run in runs])
    small = np.concatenate([run["worst"] for run in runs]) <= 1
    return {
        **shares,
        "nesterov": float(fails.mean()),
        "nesterov_below_one": float((fails & small).mean()),
    }


def _losses(bounds: Bounds, runs: list[Trajectory]) -> Result:
    """How much of what the budget may cost by the bound it does cost: in the first epoch and in the last one."""
    n = len(bounds.problem)
    found: Result = {"excess": max(float(run["excess"].max()) for run in runs)}
    for when, some in (("first", slice(0, n)), ("last", slice(-n, None))):
        lost = sum(float((run["exact_gain"] - run["gain"])[some].sum()) for run in runs)
        found[when] = {"lost": lost / (n * len(runs))}
        for name in SUMS:
            allowed = sum(float(bounds.losses(run, name)[some].sum()) for run in runs)
            found[when][name] = allowed / (n * len(runs))
    gap = np.mean([run["gap"][-1] for run in runs])
    final = {name: np.mean([bounds.sums(run, name)[-1] for run in runs]) for name in SUMS}
    found["final"] = {name: float(min(value / gap, _LARGE)) for name, value in final.items()}
    return found


def _errors(runs: list[Trajectory], n: int) -> Result:
    """Of all visits of all seeds: how large E is, and when it first reaches 1."""
    joined = {name: np.concatenate([run[name] for run in runs]) for name in runs[0].values}
    first = [int(np.argmax(run["mean"] >= 1)) / n for run in runs if (run["mean"] >= 1).any()]
    return {
        "least": {name: float(joined[name].min()) for name in ("worst", "printed", "mean")},
        "most": {
            name: min(float(joined[name].max()), _LARGE) for name in ("worst", "printed", "mean")
        },
        "printed_below": float((joined["printed"] < 1e-9).mean()),
        "worst_above_one": float((joined["worst"] > 1).mean()),
        "mean_above_one": float((joined["mean"] > 1).mean()),
        "spoils": float(joined["spoils"].mean()),
        "first_mean_one": float(np.median(first)) if len(first) == len(runs) else None,
    }


def settle(
    *, problem: str, n: int, budget: int | None, merging: str, epochs: int, seeds: int
) -> Result:
    """How far α moves per epoch in a long run, and how far apart the ends of several runs are."""
    small = MAKERS[problem](n)
    optimum = solve(small.Q, small.C)
    moved, gaps, visible, ends = [], [], [], []
    for seed in range(seeds):
        looks: list[View] = []
        watch(small, Setup(budget, merging, epochs, seed), looks.append, every=len(small))
        alphas = np.array([np.zeros(len(small)), *(view.alpha for view in looks)])
        moved.append(np.linalg.norm(np.diff(alphas, axis=0), axis=1))
        gaps.append([optimum.value - small.dual(alpha) for alpha in alphas[1:]])
        visible.append([_violation(small, view) for view in looks])
        ends.append(alphas[-1])
    shown = np.unique(np.geomspace(1, epochs, _MOST_POINTS).round().astype(int))
    scale = float(np.linalg.norm(optimum.alpha))
    apart = [np.linalg.norm(a - b) / scale for k, a in enumerate(ends) for b in ends[:k]]
    return {
        **_facts(small, optimum),
        "epochs": shown.tolist(),
        "moved": [_digits(run[shown - 1] / scale) for run in moved],
        "gap": [_digits(np.array(run)[shown - 1]) for run in gaps],
        "visible": [_digits(np.array(run)[shown - 1]) for run in visible],
        "hidden": [_largest_step(small, alpha, small.Q @ alpha) for alpha in ends],
        "apart": float(np.median(apart)),
        "from_optimum": float(np.median([np.linalg.norm(a - optimum.alpha) for a in ends])) / scale,
    }


def _violation(problem: SmallProblem, view: View) -> float:
    """The longest step that BSCA still sees: the KKT violation with w̃ in the place of w."""
    assert view.alpha is not None
    values = problem.kernel(problem.X, np.asarray(view.points, dtype=np.float64)) @ view.coef[0]
    return _largest_step(problem, view.alpha, problem.y * values)


def _largest_step(problem: SmallProblem, alpha: Vector, margin: Vector) -> float:
    return float(abs(truncated_step(alpha, margin, problem.C)).max())


def bend(*, problem: str, n: int, budget: int, visits: int) -> Result:
    """E on the line from w to w̃ and beyond, at a moment of a run: is it continuous, is it linear?"""
    small = MAKERS[problem](n)
    looks: list[View] = []
    watch(small, Setup(budget, "paper", 1 + visits // len(small)), looks.append, every=visits)
    view = looks[0]
    assert view.alpha is not None
    values = small.kernel(small.X, np.asarray(view.points, dtype=np.float64)) @ view.coef[0]
    margin = small.Q @ view.alpha
    away = small.y * values - margin
    found: Result = {}
    for parts in (500, 2000):
        places = np.linspace(0, 1, parts + 1)
        gains = [Gains.of(small, view.alpha, margin, margin + s * away) for s in places]
        errors = np.array([gain.worst_error() for gain in gains])
        curved = abs(np.diff(errors, 2)) > 1e-6 * np.ptp(errors) / parts**2
        found[str(parts)] = {
            "largest_jump": float(abs(np.diff(errors)).max() / np.ptp(errors)),
            "curved": float(curved.mean()),
            "at_w": float(errors[0]),
            "spoils_from": float(places[np.argmax([gain.spoils for gain in gains])]),
            "spoils": any(gain.spoils for gain in gains),
        }
    return found

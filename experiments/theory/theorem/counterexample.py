"""Theorem 1 does not hold for every w̃, whichever of the two definitions of E is meant.

Two points of different classes with k(x_1, x_2) = q, and a w̃ whose margins are so wrong that every
step is η times the exact one. Then J is (2η − η²) times its best value on both coordinates, so
E = (1 − η)² always, minimum and maximum being the same. From α = 0 no iterate leaves the box
[0, 1/(1 − q)], and with d = α − α* the second moments S = E[d dᵀ] obey a linear recursion,

    S ← mean over i of (I − η e_i Q_i) S (I − η e_i Q_i)ᵀ,     D(α*) − E[D(α)] = ½ tr QS,

which gives the left-hand side of the theorem without any sampling.
"""

import numpy as np
from numpy.typing import NDArray

from experiments.running.jobs import Result
from experiments.theory.small_problems import pair
from experiments.theory.small_qp import solve
from experiments.theory.theorem.bounds import Bounds
from experiments.theory.trajectory import follow
from experiments.theory.watching import Setup

Vector = NDArray[np.float64]

_MOST_POINTS = 150


def expected_gaps(Q: Vector, start: Vector, eta: float, visits: int) -> Vector:
    """D(α*) − E[D(α)] after 0, 1, 2 ... visits with steps that are η times the exact one."""
    n = len(Q)
    updates = [np.eye(n) - eta * np.outer(np.eye(n)[i], Q[i]) for i in range(n)]
    S = np.outer(start, start)
    gaps = [np.trace(Q @ S) / 2]
    for _ in range(visits):
        S = sum((update @ S @ update.T for update in updates), np.zeros((n, n))) / n
        gaps.append(np.trace(Q @ S) / 2)
    return np.array(gaps)


def contradict(*, similarity: float, etas: list[float], visits: int) -> Result:
    """Compare exact expectations with the theorem, and look at the first step of the software."""
    problem = pair(2, similarity)
    optimum = solve(problem.Q, problem.C)
    kappa = problem.spectrum[0]
    shown = np.unique(np.linspace(0, visits, _MOST_POINTS).round().astype(int))
    curves = []
    for eta in etas:
        gaps = expected_gaps(problem.Q, -optimum.alpha, eta, visits)
        error, t = (1 - eta) ** 2, np.arange(visits + 1)
        start = optimum.value + 2 * problem.C**2 / 2
        printed = start * (1 - 2 * kappa / (1 + kappa) * (1 - error) / 2) ** t
        mended = optimum.value * (1 - kappa * (1 - error) / 2) ** t
        above = gaps > printed * (1 + 1e-12)
        curves.append(
            {
                "eta": eta,
                "error": error,
                "gap": gaps[shown].tolist(),
                "printed": printed[shown].tolist(),
                "mended": mended[shown].tolist(),
                "first": int(np.argmax(above)) if above.any() else None,
                "mended_holds": bool((gaps <= mended * (1 + 1e-12)).all()),
            }
        )
    return {
        "kappa": kappa,
        "optimum": optimum.value,
        "C": problem.C,
        "visits": shown.tolist(),
        "curves": curves,
        **_first_step(),
    }


def _first_step() -> Result:
    """The gain of the first visit without a budget, exact w̃ = w, beside what the proof promises."""
    problem = pair()
    optimum = solve(problem.Q, problem.C)
    run = follow(problem, optimum, Setup(budget=None, epochs=1))
    bounds = Bounds(problem, optimum.value)
    promised = (1 - bounds.factors(run, "worst")) * run["gap"]
    fails = bounds.nesterov_fails(run)
    return {
        "first_gain": float(run["gain"][0]),
        "first_promise": float(promised[0]),
        "first_error": float(run["worst"][0]),
        "nesterov_holds": not bool(fails.any()),
    }

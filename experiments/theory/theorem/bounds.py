"""Theorem 1 of the paper, as printed and mended: right-hand sides, and the step that its proof takes.

The proof claims, with c = 2κ / (1 + κ) and D alone, that one visit brings on average at least

    E_i[D(α')] − D(α) ≥ c (1 − E) / n · (D(α*) − D(α)).                                        (1)

Nesterov (2012, Theorem 5) has this rate for D(α*) − D(α) + ½‖α − α*‖², not for the first part alone,
and his steps are exact. What holds for D alone: with ΔD = D(α*) − D(α), and λ the largest eigenvalue,

    κ ΔD ≤ Σ_i J(α, i, exact step) ≤ λ ΔD,                                                     (2)

so that with Ē = 1 − Σ_i J(w̃) / Σ_i J(w) a visit multiplies ΔD on average by at most

    1 − κ (1 − Ē) / n  where Ē ≤ 1,    1 + λ (Ē − 1) / n  where Ē > 1.                         (3)

Proof of (2), Q_ii = 1: let d = α* − α and θ = κ ≤ 1. The best of separable concave functions is at
least their value at θd: Σ J ≥ θ ⟨g, d⟩ − θ²/2 ‖d‖², and ⟨g, d⟩ = ΔD + ½ dᵀQd ≥ ΔD + κ/2 ‖d‖².
On the other side, let δ be all exact steps, and go 1/λ of the way together, which stays in the box:
ΔD ≥ ⟨g, δ⟩/λ − δᵀQδ/2λ² ≥ Σ J / λ.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.theory.small_problems import SmallProblem
from experiments.theory.trajectory import Trajectory

Vector = NDArray[np.float64]

#: What is compared: E with the maximum and the paper's rate; with the minimum; Ē and (3).
VARIANTS = ("printed", "worst", "mended")

_ROUNDING = 1e-12  # relative to D(α*): what floating point may add to a difference of two D


@dataclass(frozen=True)
class Bounds:
    """Right-hand sides for a problem whose optimum is known."""

    problem: SmallProblem
    optimum: float

    def factors(self, run: Trajectory, variant: str) -> Vector:
        """By what a visit multiplies the bound, at every moment."""
        kappa, largest = self.problem.spectrum
        error = run["mean" if variant == "mended" else variant]
        rate = np.full(len(error), 2 * kappa / (1 + kappa))
        if variant == "mended":
            rate = np.where(error <= 1, kappa, largest)
        return np.asarray(1 - rate * (1 - error) / len(self.problem))

    def log_bound(self, run: Trajectory, variant: str) -> Vector:
        """The logarithm of the right-hand side after t visits; it may be too large for a float."""
        n, C = len(self.problem), self.problem.C
        start = self.optimum if variant == "mended" else self.optimum + n * C**2 / 2
        logs = np.log(self.factors(run, variant))
        return np.asarray(np.log(start) + np.concatenate([[0.0], np.cumsum(logs[:-1])]))

    def step_fails(self, run: Trajectory, variant: str) -> NDArray[np.bool_]:
        """Where a visit brings less than the factor says: (1) and (3), with exact expectations."""
        promised = (1 - self.factors(run, variant)) * run["gap"]
        return np.asarray(run["gain"] < promised - _ROUNDING * self.optimum)

    def nesterov_fails(self, run: Trajectory) -> NDArray[np.bool_]:
        """Where ΔD + ½‖α − α*‖² falls by less than the paper's factor, E being the worst."""
        promised = (1 - self.factors(run, "worst")) * (run["gap"] + run["half_distance"])
        return np.asarray(run["gain"] - run["drift"] < promised - _ROUNDING * self.optimum)

    def broken(self, runs: list[Trajectory], variant: str) -> NDArray[np.bool_]:
        """When the mean suboptimality over seeds exceeds the mean of the right-hand sides."""
        gap = np.mean([run["gap"] for run in runs], axis=0)
        logs = np.array([self.log_bound(run, variant) for run in runs])
        bound = np.logaddexp.reduce(logs, axis=0) - np.log(len(runs))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(0, gap - _ROUNDING * self.optimum)) > bound)

"""Theorem 1 of the paper, as printed and mended, and a stronger one: right-hand sides, and the steps of their proofs.

The paper's proof claims, with c = 2κ / (1 + κ) and D alone, that one visit brings on average at least

    E_i[D(α')] − D(α) ≥ c (1 − E) / n · (D(α*) − D(α)).                                        (1)

Nesterov (2012, Theorem 5) has this rate for D(α*) − D(α) + ½‖α − α*‖², not for the first part alone,
and his steps are exact. What holds for D alone: with ΔD = D(α*) − D(α), and λ the largest eigenvalue,

    κ ΔD ≤ Σ_i J(α, i, exact step) ≤ λ ΔD,                                                     (2)

so that with Ē = 1 − Σ_i J(w̃) / Σ_i J(w) a visit multiplies ΔD on average by at most

    r = 1 − κ (1 − Ē) / n  where Ē ≤ 1,    r = 1 + λ (Ē − 1) / n  where Ē > 1,                 (3)

and E[ΔD / ∏ r] ≤ D(α*) until α first hits α*, where Ē does not exist. Without ratios, and everywhere,

    J_i(w) − J_i(w̃) ≤ ½ (f̃ − f)(x_i)²,                                                        (4)
    E[ΔD'] ≤ (1 − κ/n) ΔD + (1/2n) Σ_i (f̃ − f)(x_i)² ≤ (1 − κ/n) ΔD + (λ/2n) ‖w̃ − w‖².        (5)

docs/theory.md proves all of this.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.theory.small_problems import SmallProblem
from experiments.theory.trajectory import Trajectory

Vector = NDArray[np.float64]

#: Products of factors: E with the maximum and the paper's rate; with the minimum; Ē and (3).
VARIANTS = ("printed", "worst", "mended")
#: Sums, (5): by the departure Σ (f̃ − f)², and by λ ‖w̃ − w‖².
SUMS = ("departure", "distance")

_ROUNDING = 1e-12  # relative to D(α*): what floating point may add to a difference of two D


@dataclass(frozen=True)
class Bounds:
    """Right-hand sides for a problem whose optimum is known."""

    problem: SmallProblem
    optimum: float

    def factors(self, run: Trajectory, variant: str) -> Vector:
        """By what a visit multiplies the bound, at every moment; infinite: there is no such factor."""
        kappa, largest = self.problem.spectrum
        error = run["mean" if variant == "mended" else variant]
        rate = np.full(len(error), 2 * kappa / (1 + kappa))
        if variant == "mended":
            rate = np.where(error <= 1, kappa, largest)
        if variant == "worst":  # −x/0 at a coordinate that was optimal
            error = np.where(run["spoils"] > 0, np.inf, error)
        return np.asarray(1 - rate * (1 - error) / len(self.problem))

    def log_factors(self, run: Trajectory, variant: str) -> Vector:
        """The logarithm of the product of all factors before a moment."""
        logs = np.log(self.factors(run, variant))
        return np.concatenate([[0.0], np.cumsum(logs[:-1])])

    def log_bound(self, run: Trajectory, variant: str) -> Vector:
        """The logarithm of the right-hand side after t visits; it may be too large for a float."""
        n, C = len(self.problem), self.problem.C
        start = self.optimum if variant == "mended" else self.optimum + n * C**2 / 2
        return np.asarray(np.log(start) + self.log_factors(run, variant))

    def sums(self, run: Trajectory, variant: str) -> Vector:
        """What (5) makes of D(α*) after t visits: b ← (1 − κ/n) b + what a visit may lose."""
        kappa = self.problem.spectrum[0]
        loss = self.losses(run, variant)
        bound = np.empty(len(loss))
        bound[0] = self.optimum
        for t in range(1, len(bound)):
            bound[t] = (1 - kappa / len(self.problem)) * bound[t - 1] + loss[t - 1]
        return bound

    def losses(self, run: Trajectory, variant: str) -> Vector:
        """What a visit may lose on average by (5), at every moment."""
        largest = self.problem.spectrum[1]
        squares = run["departure"] if variant == "departure" else largest * run["distance"]
        return np.asarray(squares / (2 * len(self.problem)))

    def step_fails(self, run: Trajectory, variant: str) -> NDArray[np.bool_]:
        """Where a visit brings less than promised: (1), (3) and (5), with exact expectations."""
        rounding = _ROUNDING * self.optimum
        if variant in SUMS:
            rate = self.problem.spectrum[0] / len(self.problem)
            promised = rate * run["gap"] - self.losses(run, variant)
            # ‖w̃ − w‖² is a difference of squares: rounding of these, not of D
            rounding += 1e-9 * self.losses(run, variant)
            return np.asarray(run["gain"] < promised - rounding)
        with np.errstate(invalid="ignore"):  # an infinite factor at the optimum promises nothing
            promised = (1 - self.factors(run, variant)) * run["gap"]
        return np.asarray(run["gain"] < promised - rounding)

    def nesterov_fails(self, run: Trajectory) -> NDArray[np.bool_]:
        """Where ΔD + ½‖α − α*‖² falls by less than the paper's factor, E being the worst."""
        with np.errstate(invalid="ignore"):
            promised = (1 - self.factors(run, "worst")) * (run["gap"] + run["half_distance"])
        return np.asarray(run["gain"] - run["drift"] < promised - _ROUNDING * self.optimum)

    def broken(self, runs: list[Trajectory], variant: str) -> NDArray[np.bool_]:
        """When the mean of the left-hand sides over seeds exceeds that of the right-hand sides."""
        gap = np.mean([run["gap"] for run in runs], axis=0)
        rounding = _ROUNDING * self.optimum
        if variant == "mended":
            return np.asarray(self.divided(runs) > self.optimum + rounding)
        if variant in SUMS:
            bound = np.mean([self.sums(run, variant) for run in runs], axis=0)
            return np.asarray(gap > bound * (1 + 1e-9) + rounding)
        logs = np.array([self.log_bound(run, variant) for run in runs])
        bound = np.logaddexp.reduce(logs, axis=0) - np.log(len(runs))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(0, gap - rounding)) > bound)

    def divided(self, runs: list[Trajectory]) -> Vector:
        """The mean over seeds of ΔD / ∏ r, whose expectation is at most D(α*)."""
        logs = [self.log_factors(run, "mended") for run in runs]
        values = [run["gap"] * np.exp(-log) for run, log in zip(runs, logs, strict=True)]
        return np.asarray(np.mean(values, axis=0))

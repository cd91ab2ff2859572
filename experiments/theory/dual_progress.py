"""Lemma 1 and the relative approximation error of the paper's section "Analysis of BSCA".

A visit of point i changes α_i by a step δ, and the dual objective by J(α, i, δ) (Lemma 1). The exact
step uses w(α) = Σ α_i y_i φ(x_i), BSCA's step the model w̃ in its place. The relative approximation
error E compares the J of both. The paper defines it as 1 − *max* of the ratios over all coordinates,
which is the coordinate that suffers least. Its theorem needs the one that suffers most, the *minimum*.
A difference in the place of a ratio needs no exceptions: J of an exact step exceeds that of BSCA's by
½ (f̃(x_i) − f(x_i))² at most.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.theory.small_problems import SmallProblem

Vector = NDArray[np.float64]

#: A coordinate fulfils its KKT condition if its exact step is no longer than this: J is at most 5e-19
#: then, and a ratio of two such numbers would be rounding errors.
NO_STEP = 1e-9


def lemma_progress(Q_ii: float, gradient: float, delta: float) -> float:
    """J(α, i, δ) as Lemma 1 has it, with gradient = 1 − Q_i α."""
    best = gradient / Q_ii
    return Q_ii / 2 * (best**2 - (delta - best) ** 2)


def truncated_step(alpha: Vector, margin: Vector, C: float) -> Vector:
    """[α_i + (1 − margin_i) / Q_ii] cut off at 0 and C, minus α_i, for all i (eq. 3); Q_ii = 1."""
    return np.clip(alpha + 1 - margin, 0, C) - alpha


@dataclass(frozen=True)
class Gains:
    """J of all coordinates, by exact steps and by those of BSCA; BSCA makes one of them at random."""

    exact: Vector
    budgeted: Vector
    exact_step: Vector
    budgeted_step: Vector
    departure: Vector  #: (f̃(x_i) − f(x_i))²

    @classmethod
    def of(
        cls, problem: SmallProblem, alpha: Vector, margin: Vector, model_margin: Vector
    ) -> "Gains":
        """From α, the margins y_i ⟨w, φ(x_i)⟩ = (Qα)_i, and those of the model, y_i ⟨w̃, φ(x_i)⟩."""
        exact = truncated_step(alpha, margin, problem.C)
        budgeted = truncated_step(alpha, model_margin, problem.C)
        gradient = 1 - margin
        # J(δ) = δ (gradient − δ/2): Lemma 1 without the difference of two squares
        return cls(
            exact=exact * (gradient - exact / 2),
            budgeted=budgeted * (gradient - budgeted / 2),
            exact_step=exact,
            budgeted_step=budgeted,
            departure=(model_margin - margin) ** 2,
        )

    @property
    def movable(self) -> NDArray[np.bool_]:
        """The coordinates that violate their KKT condition: elsewhere the ratio is 0/0, or −x/0."""
        return abs(self.exact_step) > NO_STEP

    @property
    def spoils(self) -> bool:
        """Whether BSCA would move a coordinate that is optimal already: J < 0 there, and E = ∞.

        0/0 may be left out of E, but −x/0 may not; E that leaves out both understates the harm.
        """
        return bool((~self.movable & (abs(self.budgeted_step) > NO_STEP)).any())

    def worst_error(self) -> float:
        """E as the theorem needs it: 1 − min of the ratios, optimal coordinates left out."""
        ratios = self._ratios()
        return 1 - float(ratios.min()) if len(ratios) else 0.0

    def printed_error(self) -> float:
        """E as the paper prints it: 1 − max of the ratios, optimal coordinates left out."""
        ratios = self._ratios()
        return 1 - float(ratios.max()) if len(ratios) else 0.0

    def mean_error(self) -> float:
        """Ē = 1 − Σ J(w̃) / Σ J(w): all that a bound on the expected progress needs.

        At most `worst_error` where nothing is spoilt, and finite wherever α is not optimal. At an optimal α, where
        nothing can be gained, it is 0 if BSCA stays there and infinite if it may leave: there no rate holds.
        """
        if not self.movable.any():
            return float("inf") if self.spoils else 0.0
        return 1 - float(self.budgeted.sum()) / float(self.exact.sum())

    def excess(self) -> float:
        """By how much the loss of a coordinate exceeds ½ (f̃ − f)² at the most: never, but for rounding."""
        return float((self.exact - self.budgeted - self.departure / 2).max())

    def _ratios(self) -> Vector:
        return self.budgeted[self.movable] / self.exact[self.movable]

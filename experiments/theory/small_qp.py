"""The exact optimum of a small dual problem, with a certificate.

max D(α) = 1ᵀα − ½ αᵀQα over the box 0 ≤ α ≤ C, by coordinate ascent that finds the active set, and
projected Newton steps (Bertsekas 1982) that then take a few iterations to full precision. Gradients
are computed anew wherever they are needed, so that the certificate does not depend on how α was found;
`experiments.exact.projected_newton`, for problems in parts, keeps one up to date instead.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_ROUNDS, _PASSES = 200, 5


@dataclass(frozen=True)
class Optimum:
    """α* with D(α*), which is at most `gap` below the true optimum."""

    alpha: Vector
    value: float
    gap: float


def duality_gap(Q: Vector, alpha: Vector, C: float) -> float:
    """P(w(α)) − D(α), without the cancellation of the two: Σ_i C max(0, g_i) − α_i g_i, g = 1 − Qα.

    Every summand is non-negative, so the sum loses no digits.
    """
    gradient = 1 - Q @ alpha
    return float(np.where(gradient > 0, (C - alpha) * gradient, -alpha * gradient).sum())


def solve(Q: Vector, C: float, tolerance: float = 1e-14) -> Optimum:
    """Solve to a duality gap of `tolerance` relative to D, or as far as rounding allows."""
    best = alpha = np.zeros(len(Q))
    gap = duality_gap(Q, alpha, C)
    for _ in range(_ROUNDS):
        alpha = _newton_step(Q, _ascend(Q, alpha, C), C)
        new = duality_gap(Q, alpha, C)
        if new < gap:
            best, gap = alpha, new
        if gap <= tolerance * _value(Q, best):
            break
    return Optimum(best, _value(Q, best), gap)


def _value(Q: Vector, alpha: Vector) -> float:
    return float(alpha.sum() - alpha @ (Q @ alpha) / 2)


def _ascend(Q: Vector, alpha: Vector, C: float) -> Vector:
    """A few passes of coordinate ascent (eq. 3)."""
    alpha = alpha.copy()
    gradient = 1 - Q @ alpha
    for _ in range(_PASSES):
        for i in range(len(Q)):
            new = min(max(alpha[i] + gradient[i] / Q[i, i], 0.0), C)
            if new != alpha[i]:
                gradient -= (new - alpha[i]) * Q[i]
                alpha[i] = new
    return alpha


def _newton_step(Q: Vector, alpha: Vector, C: float) -> Vector:
    """Maximise over the coordinates that the box does not hold; go as far as the box and D allow."""
    gradient = 1 - Q @ alpha
    held = ((alpha <= 0) & (gradient <= 0)) | ((alpha >= C) & (gradient >= 0))
    free = np.flatnonzero(~held)
    if len(free) == 0:
        return alpha
    # Least squares: where points are close to each other, Q has not full rank in floating point.
    step = np.linalg.lstsq(Q[np.ix_(free, free)], gradient[free], rcond=1e-15)[0]
    before = _value(Q, alpha)
    for length in 0.5 ** np.arange(30):
        new = alpha.copy()
        new[free] = np.clip(alpha[free] + length * step, 0, C)
        if _value(Q, new) >= before:
            return new
    return alpha

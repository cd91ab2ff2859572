"""The SVM with a smoothed hinge loss, and Newton's steps for it.

The hinge max(0, t), t = 1 - y f, is replaced by (t + ε)² / 4ε where |t| < ε. The derivative of the
smooth loss gives a point of the dual, α_i = C_i clip((t_i + ε) / 2ε, 0, 1), so that the certificate
of the true problem holds here, too. Where w solves the smoothed problem, w = w(α), and the gap between
the two is the *excess* Σ_i C_i |t_i| (ε - |t_i|) / 2ε over the rows inside the width ε.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetsvm._features import Matrix
from budgetsvm._hessian import HessianSolver

_SHORTEST_STEP = 1e-12
_BISECTIONS = 5


@dataclass(eq=False)
class SmoothProblem:
    """min over w of ½‖w‖² - <w, fixed> + Σ_i C_i loss(1 - y_i f_i), the loss smoothed over `width`.

    The rows may be a part of all: then `fixed` is what the others pull at w with, Σ α_i y_i g_i.
    """

    matrix: Matrix
    y: NDArray[np.float64]
    box: NDArray[np.float64]
    width: float
    fixed: NDArray[np.float64]

    def alpha(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the dual point that belongs to values f."""
        return smooth_alpha(self.y * f, self.box, self.width)

    def gradient(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient at w, whose values are f."""
        return w - self.fixed - self.matrix.transposed_times(self.alpha(f) * self.y)

    def objective(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> float:
        """Return the objective at w, whose values are f."""
        t = 1 - self.y * f
        inside = np.clip(t + self.width, 0.0, 2 * self.width)
        loss = inside * inside / (4 * self.width) + np.maximum(0.0, t - self.width)
        return float(w @ (0.5 * w - self.fixed) + self.box @ loss)

    def inside(self, f: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return which rows lie inside the width."""
        return np.flatnonzero(abs(1 - self.y * f) < self.width)

    def excess(self, f: NDArray[np.float64]) -> float:
        """Return the duality gap that the smoothing leaves where w is optimal."""
        rows = self.inside(f)
        t = abs(1 - self.y[rows] * f[rows])
        return float(self.box[rows] @ (t * (self.width - t))) / (2 * self.width)


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """What a step led to, and what it was before a line search made it shorter."""

    w: NDArray[np.float64]
    f: NDArray[np.float64]
    length: float  #: at most 1
    change: NDArray[np.float64]  #: of f, for length 1
    decrease: float  #: of the objective, as predicted for length 1


def newton_step(
    problem: SmoothProblem,
    w: NDArray[np.float64],
    f: NDArray[np.float64],
    gradient: NDArray[np.float64],
    solver: HessianSolver,
) -> NewtonStep:
    """One step with a line search."""
    scale = 1 / (2 * problem.width)
    step = -solver.solve(problem.matrix, problem.inside(f), problem.box, scale, gradient)
    change = problem.matrix.times(step)
    length = step_length(problem, w, f, (step, change))
    decrease = -float(gradient @ step)
    return NewtonStep(w + length * step, f + length * change, length, change, decrease)


def smooth_alpha(
    margins: NDArray[np.float64], box: NDArray[np.float64], width: float
) -> NDArray[np.float64]:
    """Return C times the derivative of the smooth loss at margins y f."""
    share = margins * (-0.5 / width)
    share += 0.5 + 0.5 / width
    np.clip(share, 0.0, 1.0, out=share)
    share *= box
    return share


def step_length(
    problem: SmoothProblem,
    w: NDArray[np.float64],
    f: NDArray[np.float64],
    direction: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """Minimise the smoothed objective along a direction (step, change of f), over [0, 1].

    Far from the solution the step may be too long by orders of magnitude, so halve it until the
    derivative at its end is negative; then bisect. α_i is monotone in the length: where it is the
    same at both ends, it need not be looked at again.
    """
    step, change = direction
    margins, rate = problem.y * f, problem.y * change
    linear, square = float((w - problem.fixed) @ step), float(step @ step)
    end = smooth_alpha(margins + rate, problem.box, problem.width)
    if linear + square <= float(end @ rate):
        return 1.0
    rows = np.flatnonzero(end != smooth_alpha(margins, problem.box, problem.width))
    linear -= float(end @ rate) - float(end[rows] @ rate[rows])
    margins, rate, box = margins[rows], rate[rows], problem.box[rows]

    def slope(length: float) -> float:
        alpha = smooth_alpha(margins + length * rate, box, problem.width)
        return linear + length * square - float(alpha @ rate)

    high = 1.0
    while slope(high / 2) > 0 and high > _SHORTEST_STEP:
        high /= 2
    low = high / 2
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) <= 0 else (low, middle)
    return low

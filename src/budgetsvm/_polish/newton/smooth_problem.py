"""The problem with a smooth loss, and one step of Newton's method on it.

Where the loss has kinks it is replaced by one that is quadratic within a width ε of them (losses.py).
The derivative of the smooth loss gives a point of the dual, α_i = C_i φ_ε'(u_i), so that the certificate
of the true problem holds here, too. Where w solves the smoothed problem, w = w(α), and the gap between
the two is the *excess* Σ_i C_i (φ(u_i) + φ*(α_i / C_i)) - α_i u_i, to which only rows within the width
contribute; for the hinge loss, C_i |u_i| (ε - |u_i|) / 2ε each.

Smoothed *around* a dual point α°, α_i = C_i φ_ε'(u_i + s_i), where s_i is such that α_i = α°_i at the kink: for the hinge
loss α = α° + C u / 2ε, clipped to the box. That is the method of multipliers (Hestenes 1969; Powell 1969; Rockafellar 1976:
proximal steps of the dual): where α° is good the excess is small, whatever the width.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._polish.lines.line import Line, rough_length
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.newton.hessian import HessianSolver
from budgetsvm._problem.targets import SingleTarget


class Inside(NamedTuple):
    """The rows inside the width, and C_i φ''(u_i) of all rows, as multiples of `scale`: zero outside."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(eq=False)
class SmoothProblem:
    """min over w of ½‖w‖² - <w, fixed> + Σ_i C_i φ(u_i), the loss smoothed over `width`.

    The rows may be a part of all: then `fixed` is what the others pull at w with, Σ α_i y_i g_i. `own` is what the rows
    ask for, and `offsets` are s_i / 2ε; None: the loss is smoothed around its kinks.
    """

    matrix: Matrix
    own: SingleTarget
    width: float
    fixed: NDArray[np.float64]
    offsets: NDArray[np.float64] | None = None
    #: A width, and the targets that are asked for there.
    _moved: tuple[float, SingleTarget] | None = field(default=None, init=False)
    #: Values, a width, and what rows inside weigh: that of the same values is asked for several times.
    _seen: tuple[NDArray[np.float64], float, "Inside"] | None = field(default=None, init=False)

    @property
    def targets(self) -> SingleTarget:
        """What the rows ask for, moved as the dual point says around which the loss is smoothed."""
        if self.offsets is None:
            return self.own
        if self._moved is None or self._moved[0] != self.width:
            target = self.own.target + 2 * self.width * self.offsets
            self._moved = self.width, replace(self.own, target=target)
        return self._moved[1]

    def smooth_around(self, alpha: NDArray[np.float64], f: NDArray[np.float64]) -> None:
        """Smooth the loss around a dual point from now on, of values like f."""
        self.offsets = self.own.loss.offsets(alpha / self.own.box, self.own.slack(f))
        self._moved = self._seen = None

    def alpha(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the dual point that belongs to values f."""
        return self.targets.alpha_of(f, self.width)

    def gradient(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient at w, whose values are f."""
        costly = self.matrix.basis.costly(w)
        return costly - self.fixed - self.matrix.transposed_times(self.alpha(f) * self.targets.y)

    def objective(self, w: NDArray[np.float64], f: NDArray[np.float64]) -> float:
        """Return the objective at w, whose values are f."""
        loss = self.targets.loss.smoothed(self.targets.slack(f), self.width)
        costly = self.matrix.basis.costly(w)
        return float(0.5 * costly @ costly - w @ self.fixed + self.targets.box @ loss)

    @property
    def scale(self) -> float:
        """What the curvature of all rows inside the width has in common."""
        return 0.5 / self.width if self.targets.loss.has_kinks else 1.0

    def inside(self, f: NDArray[np.float64]) -> "Inside":
        """Return which rows lie inside the width, and their curvature."""
        if self._seen is None or self._seen[0] is not f or self._seen[1] != self.width:
            curvature = self.targets.loss.curvature(self.targets.slack(f), self.width)
            weights = np.divide(curvature, self.scale, out=curvature)
            weights *= self.targets.box
            self._seen = f, self.width, Inside(nonzero_places(weights), weights)
        return self._seen[2]

    def excess(self, f: NDArray[np.float64]) -> float:
        """Return the duality gap that the smoothing leaves where w is optimal."""
        if not self.own.loss.has_kinks:
            return 0.0
        if self.offsets is None:
            rows = self.inside(f).rows
        else:  # what moves a row is no larger than the width
            rows = self.own.near_kinks(f, 2 * self.width)
        some, moved = self.own.some(rows), self.targets.some(rows)
        return some.gap(some.slack(f[rows]), some.loss.slope(moved.slack(f[rows]), self.width))

    def alpha_after(
        self, alpha: NDArray[np.float64], f: NDArray[np.float64], step: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the dual point that belongs to w + step, as far as it is feasible, if no row comes inside or leaves.

        For Newton's step that is w(α) = w + step, but for rows whose α ends at a bound: only these are in the way of a
        certificate, and not the ones that come inside on the way.
        """
        rows, weights = self.inside(f)
        some = self.targets.some(rows)
        change = some.y * self.matrix.some(rows).times(step)
        after = alpha.copy()
        shares = (alpha[rows] - self.scale * weights[rows] * change) / some.box
        after[rows] = some.box * some.loss.feasible(shares)
        return after

    def step_length(
        self,
        w: NDArray[np.float64],
        f: NDArray[np.float64],
        direction: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> float:
        """Return how far to go along a direction (step, change of f), at most all of it."""
        step, change = direction
        costly = self.matrix.basis.costly(step)
        quadratic = float(w @ costly - self.fixed @ step), float(costly @ costly)
        return rough_length(Line(self.targets, self.width, f, change, quadratic))


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """What a step led to, and what it was before a line search made it shorter."""

    w: NDArray[np.float64]
    f: NDArray[np.float64]
    length: float  #: at most 1
    change: NDArray[np.float64]  #: of f, for length 1
    decrease: float  #: of the objective, as predicted for length 1


def newton_direction(
    problem: SmoothProblem,
    f: NDArray[np.float64],
    gradient: NDArray[np.float64],
    solver: HessianSolver,
) -> tuple[NDArray[np.float64], float]:
    """Return the whole step, and by how much it is predicted to decrease the objective."""
    step = -solver.solve(problem.matrix, problem.inside(f).weights, problem.scale, gradient)
    decrease = -float(gradient @ step)
    solver.steps, solver.decrease = solver.steps + 1, decrease
    return step, decrease


def go_along(
    problem: SmoothProblem,
    w: NDArray[np.float64],
    f: NDArray[np.float64],
    direction: tuple[NDArray[np.float64], float],
) -> NewtonStep:
    """Take a step, as much of it as a line search says."""
    step, decrease = direction
    change = problem.matrix.times(step)
    length = problem.step_length(w, f, (step, change))
    return NewtonStep(w + length * step, f + length * change, length, change, decrease)


def newton_step(
    problem: SmoothProblem,
    w: NDArray[np.float64],
    f: NDArray[np.float64],
    gradient: NDArray[np.float64],
    solver: HessianSolver,
) -> NewtonStep:
    """One step with a line search."""
    return go_along(problem, w, f, newton_direction(problem, f, gradient, solver))

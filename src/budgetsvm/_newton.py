"""Newton's method on a smoothed hinge loss: globally fast, but stops short of the optimum.

The hinge max(0, t), t = 1 - y f, is replaced by (t + ε)² / 4ε where |t| < ε. The derivative of the
smooth loss gives a point of the dual, α_i = C_i clip((t_i + ε) / 2ε, 0, 1), so that the certificate
of the true problem holds here, too. A wide ε makes the problem nearly quadratic; narrowing it step by
step leads from least squares to the SVM.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from budgetsvm._span import SpanProblem

_MOST_STEPS = 10  # at one width
_NARROWEST = 1 / 64
_ROWS_PER_INSIDER = 8  # the path ends where at most one row in so many lies inside the width
_THINNEST = 1e-5
_PRECISE = 1e-4  # squared distance of w and w(α), in units of P
_WORTH_ANOTHER = 0.9  # of the gap is left at most: then a smaller width pays
_SHORTEST_STEP = 1e-12
_BISECTIONS = 5
# Predicted relative decrease that is not worth another step at a width: the last one, or one before.
_ENOUGH, _ON_THE_WAY = 1e-2, 0.3


def smooth_alpha(problem: SpanProblem, f: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Return the dual point that belongs to values f under the smoothed loss."""
    t = 1 - problem.y * f
    return problem.box * np.clip((t + width) / (2 * width), 0.0, 1.0)


def newton_path(
    problem: SpanProblem,
    w: NDArray[np.float64],
    width: float,
    finished: Callable[[], bool],
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Follow the smoothed solutions from w, halving the width until few rows lie inside it.

    Every point met is offered to the problem. Returns the last w, its values and the width.
    """
    few = max(len(problem.y) / _ROWS_PER_INSIDER, 2 * len(w))
    f = problem.values(w)
    steps = 0
    while True:
        point = _offer(problem, w, f, width)
        if finished():
            return w, f, width
        w, f, decrease = _newton_step(problem, w, f, width, w - point)
        steps += 1
        narrow = np.count_nonzero(_inside(problem, f, width)) <= few or width <= _NARROWEST
        if decrease < (_ENOUGH if narrow else _ON_THE_WAY) or steps >= _MOST_STEPS:
            if narrow:
                return w, f, width
            width, steps = width / 2, 0


def newton_limit(
    problem: SpanProblem,
    w: NDArray[np.float64],
    width: float,
    finished: Callable[[], bool],
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Solve the smoothed problem precisely, for a width that shrinks as long as this improves the gap.

    The dual point is as good as the smoothing allows only where w and w(α) agree, which takes more
    steps than a good w: for a C so large that coordinate ascent hardly moves, they are worth it.
    """
    f = problem.values(w)
    while True:
        before = problem.gap
        for _ in range(_MOST_STEPS):
            point = _offer(problem, w, f, width)
            gradient = w - point
            if finished():
                return w, f, width
            if gradient @ gradient < _PRECISE * problem.primal:
                break
            w, f, _ = _newton_step(problem, w, f, width, gradient)
        if problem.gap > _WORTH_ANOTHER * before or width < _THINNEST:
            return w, f, width
        width /= 2


def _offer(
    problem: SpanProblem, w: NDArray[np.float64], f: NDArray[np.float64], width: float
) -> NDArray[np.float64]:
    """Offer w and the dual point that belongs to it; return the latter's w(α)."""
    alpha = smooth_alpha(problem, f, width)
    point = problem.point(alpha)
    problem.offer_dual(alpha, point)
    problem.offer_primal(w, f)
    return point


def _inside(problem: SpanProblem, f: NDArray[np.float64], width: float) -> NDArray[np.bool_]:
    return np.asarray(abs(1 - problem.y * f) < width)


def _newton_step(
    problem: SpanProblem,
    w: NDArray[np.float64],
    f: NDArray[np.float64],
    width: float,
    gradient: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """One step with a line search. Returns also the relative decrease that it predicted."""
    band = np.flatnonzero(_inside(problem, f, width))
    weights = problem.box[band] / (2 * width)
    step = -problem.matrix.solve_hessian(band, weights, gradient)
    change = problem.values(step)
    length = _step_length(problem, w, f, (step, change), width)
    decrease = -float(gradient @ step) / max(_smooth_objective(problem, w, f, width), 1e-300)
    return w + length * step, f + length * change, decrease


def _step_length(
    problem: SpanProblem,
    w: NDArray[np.float64],
    f: NDArray[np.float64],
    direction: tuple[NDArray[np.float64], NDArray[np.float64]],
    width: float,
) -> float:
    """Minimise the smoothed objective along a direction (step, change of f), over [0, 1].

    Far from the solution the step may be too long by orders of magnitude, so halve it until the
    derivative at its end is negative; then bisect.
    """
    step, change = direction
    linear, square = float(w @ step), float(step @ step)

    def slope(length: float) -> float:
        alpha = smooth_alpha(problem, f + length * change, width)
        return linear + length * square - float(alpha @ (problem.y * change))

    high = 1.0
    if slope(high) <= 0:
        return high
    while slope(high / 2) > 0 and high > _SHORTEST_STEP:
        high /= 2
    low = high / 2
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) <= 0 else (low, middle)
    return low


def _smooth_objective(
    problem: SpanProblem, w: NDArray[np.float64], f: NDArray[np.float64], width: float
) -> float:
    t = 1 - problem.y * f
    inside = np.clip(t + width, 0.0, 2 * width)
    loss = inside * inside / (4 * width) + np.maximum(0.0, t - width)
    return float(0.5 * w @ w + problem.box @ loss)

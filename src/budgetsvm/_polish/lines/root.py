"""Where a function of one variable changes its sign: Brent's method.

Bisection that takes a step of the secant or of inverse quadratic interpolation wherever that is shorter (R. P. Brent,
Algorithms for Minimization without Derivatives, 1973, chapter 4). It is scipy.optimize.brentq digit by digit, and written
here since importing scipy.optimize takes longer than all that it would do in a fit.
"""

from collections.abc import Callable
from math import frexp, ldexp

_MOST_STEPS = 100  # then it is good enough: bisection alone needs fewer
_RELATIVE = 2.0**-50  # four units in the last place
_LARGEST_POWER = 1000  # of 2


def find_root(function: Callable[[float], float], low: float, high: float, xtol: float) -> float:
    """Return a root between two points at which the function has different signs, up to xtol or rounding."""
    before, now = low, high
    at_before, at_now = function(low), function(high)
    if at_before == 0 or at_now == 0:
        return low if at_before == 0 else high
    # Products of values that are tiny or huge would be 0 or infinite; a power of 2 changes no digit.
    unit = ldexp(1.0, min(-frexp(max(abs(at_before), abs(at_now)))[1], _LARGEST_POWER))
    at_before, at_now = unit * at_before, unit * at_now
    other, at_other, last, step = before, at_before, now - before, now - before
    for _ in range(_MOST_STEPS):
        if (at_before < 0) != (at_now < 0):  # the root is between these two
            other, at_other = before, at_before
            last = step = now - before
        if abs(at_other) < abs(at_now):
            before, now, other = now, other, now
            at_before, at_now, at_other = at_now, at_other, at_now
        least, half = (xtol + _RELATIVE * abs(now)) / 2, (other - now) / 2
        if at_now == 0 or abs(half) < least:
            break
        last, step = _next(
            (before, now, other), (at_before, at_now, at_other), (last, step), half, least
        )
        before, at_before = now, at_now
        now += step if abs(step) > least else (least if half > 0 else -least)
        at_now = unit * function(now)
    return now


_Three = tuple[float, float, float]


def _next(
    points: _Three, values: _Three, steps: tuple[float, float], half: float, least: float
) -> tuple[float, float]:
    """Return the step before, and the next one: by interpolation if it is short, or else half the interval."""
    (a, b, c), (at_a, at_b, at_c), (last, step) = points, values, steps
    if abs(last) <= least or abs(at_b) >= abs(at_a):
        return half, half
    if a == c:
        wanted = -at_b * (b - a) / (at_b - at_a)
    else:
        slope_a, slope_c = (at_a - at_b) / (a - b), (at_c - at_b) / (c - b)
        wanted = -at_b * (at_c * slope_c - at_a * slope_a) / (slope_c * slope_a * (at_c - at_a))
    return (
        (step, wanted) if 2 * abs(wanted) < min(abs(last), 3 * abs(half) - least) else (half, half)
    )

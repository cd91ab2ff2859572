"""Coordinate ascent and Newton's method in turns: where one is stuck, the other may get on."""

from collections.abc import Callable

from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.newton.method import NewtonMethod
from budgetsvm._polish.span_problem import SpanProblem

_PROGRESS, _PATIENCE = 0.9, 2  # of the gap is left, after so many turns of both


def take_turns(
    span: SpanProblem,
    ascent: WorkingSetAscent,
    newton: NewtonMethod,
    finished: Callable[[], bool],
) -> None:
    """Improve the best points of a problem until `finished`, or until neither gets on any more."""
    before, idle = span.gap, 0
    while not finished():
        ascent.round()
        if not ascent.stuck or finished():
            continue
        idle = 0 if span.gap < _PROGRESS * before else idle + 1
        if idle > _PATIENCE:  # what is left of the gap are rounding errors
            return
        before = span.gap
        newton.restart(span.w, span.f)
        newton.run(finished)
        alpha, f = newton.alpha(), newton.f
        if span.dual > 0:  # otherwise there is no good dual point yet
            alpha = span.alpha.copy()
            f = span.values(span.point_of_alpha)
        ascent.restart(alpha, f)

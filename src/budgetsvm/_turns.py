"""Coordinate ascent and Newton's method in turns: where one is stuck, the other may get on."""

from collections.abc import Callable

from budgetsvm._ascent import WorkingSetAscent
from budgetsvm._newton import NewtonMethod
from budgetsvm._span import SpanProblem


def take_turns(
    span: SpanProblem,
    ascent: WorkingSetAscent,
    newton: NewtonMethod,
    finished: Callable[[], bool],
) -> None:
    """Improve the best points of a problem until `finished`."""
    while not finished():
        ascent.round()
        if not ascent.stuck or finished():
            continue
        newton.restart(span.w, span.f)
        newton.run(finished)
        alpha, f = newton.alpha(), newton.f
        if span.dual > 0:  # otherwise there is no good dual point yet
            alpha = span.alpha.copy()
            f = span.values(span.point_of_alpha)
        ascent.restart(alpha, f)

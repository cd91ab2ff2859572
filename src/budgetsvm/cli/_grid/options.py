"""The options of a search: ranges as LIBSVM's grid.py has them, and budgets."""

import math
from collections.abc import Callable
from typing import Any

import click

NULL = "null"
_MOST = 1000  # values of a range
_ROUNDING = 1e-9  # of a step


class _Range(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    """BEGIN,END,STEP of powers of two, or null: no search."""

    name = "begin,end,step|null"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the values, or the word."""
        if value == NULL or isinstance(value, tuple):
            return value
        try:
            begin, end, step = (float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not BEGIN,END,STEP, as in -5,15,2", param, ctx)
        if not all(math.isfinite(number) for number in (begin, end, step)):
            self.fail(f"{value!r} is not finite", param, ctx)
        if step == 0 or (end - begin) / step < 0:
            self.fail(f"{value!r} does not get from {begin:g} to {end:g}", param, ctx)
        count = int((end - begin) / step + _ROUNDING) + 1
        if count > _MOST:
            self.fail(f"{value!r} has {count:,} values, and {_MOST:,} are the most", param, ctx)
        powers = [begin + k * step for k in range(count)]
        if max(map(abs, powers)) > _MOST:  # no number has such a power
            self.fail(f"{value!r} are powers of two that no number is", param, ctx)
        return tuple(2.0**power for power in powers)


class _Budgets(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    """Some numbers, or auto."""

    name = "number,...|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the numbers, or the word."""
        if value == "auto" or isinstance(value, tuple):
            return value
        parts: list[Any] = str(value).split(",")
        return tuple(click.IntRange(1).convert(part, param, ctx) for part in parts)


_OPTIONS = (
    click.option("--grid", is_flag=True, help="Search for the best C and gamma."),
    click.option(
        "--log2c",
        type=_Range(),
        help="Powers of two to try for C; null: that of -c.  [default: ten values from 0.1 to 1000]",
    ),
    click.option(
        "--log2g",
        type=_Range(),
        help="The same for gamma, and -g.  [default: ten values around -g scale]",
    ),
    click.option(
        "--budgets",
        type=_Budgets(),
        help="Budgets to try; auto: the smallest that is as good as the best.  [default: that of -B]",
    ),
    click.option(
        "--halving/--no-halving",
        default=True,
        help="Whether --grid leaves out on the way what does badly.",
    ),
)


def grid_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the options of a search."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

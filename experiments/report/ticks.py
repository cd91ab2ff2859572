"""Axes that can be read: logarithms with ticks such as 0.01 and 20, zero included; per cent; k and M."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib.ticker import (
    EngFormatter,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

Which: TypeAlias = Literal["x", "y"]


def percent(axes: Any, which: Which = "y", *, whole: float = 100.0) -> None:
    """Write values as per cent; `whole` is the value that is 100 %."""
    axis = _axis(axes, which)
    axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value / whole:.10g} %"))


def si(axes: Any, which: Which = "x", *, unit: str = "") -> None:
    """Write values with prefixes: 20k, 3M; with a unit: 5 ms."""
    formatter = EngFormatter(unit, sep=" " if unit else "")
    _axis(axes, which).set_major_formatter(formatter)


def log(axes: Any, which: Which = "y", *, unit: str = "") -> None:
    """Make an axis logarithmic; with a unit, ticks have prefixes: 5 ms."""
    _set_scale(axes, which, "log")
    axis = _axis(axes, which)
    axis.set_major_locator(_LogTicks())
    axis.set_major_formatter(EngFormatter(unit) if unit else FuncFormatter(_plain))
    axis.set_minor_locator(LogLocator(subs="all", numticks=50))
    axis.set_minor_formatter(NullFormatter())


def symlog(axes: Any, which: Which = "y", *, threshold: float) -> None:
    """Make an axis logarithmic beyond ± threshold, and linear between."""
    _set_scale(axes, which, "symlog", linthresh=threshold, linscale=0.6)
    axis = _axis(axes, which)
    axis.set_major_locator(_SymlogTicks(threshold))
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_locator(NullLocator())


def _axis(axes: Any, which: Which) -> Any:
    return axes.xaxis if which == "x" else axes.yaxis


def _set_scale(axes: Any, which: Which, scale: str, **options: Any) -> None:
    setter: Callable[..., None] = axes.set_xscale if which == "x" else axes.set_yscale
    setter(scale, **options)


def _plain(value: float, _place: int | None = None) -> str:
    """Write 0.001 to 100,000 as they are, what is smaller or larger as a power of ten."""
    if value == 0:
        return "0"
    if 0.999e-3 <= abs(value) < 1e6:
        return f"{value:,.10g}".replace("-", "\N{MINUS SIGN}")
    sign = "-" if value < 0 else ""
    power = int(np.floor(np.log10(abs(value)) + 1e-9))
    factor = abs(value) / 10.0**power
    times = "" if abs(factor - 1) < 1e-6 else rf"{factor:.2g}\times "
    return rf"${sign}{times}10^{{{power}}}$"


class _LogTicks(Locator):
    """Powers of ten, with 2 and 5 between where few of them are in sight."""

    axis: Any

    def __call__(self) -> Any:
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        low, high = sorted((vmin, vmax))
        if not 0 < low < high < np.inf:
            return []
        decades = np.log10(high / low)
        first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
        if decades < 0.7:
            ticks = np.asarray(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]).tick_values(low, high))
        else:
            stride = max(1, int(np.ceil(decades / 6)))
            powers = np.arange(first - first % stride, last + 1, stride)
            steps = (1, 2, 5) if decades < 2.2 else (1, 3) if decades < 3.2 else (1,)
            ticks = np.outer(10.0**powers, steps).ravel()
        return ticks[(ticks >= low * (1 - 1e-9)) & (ticks <= high * (1 + 1e-9))]


class _SymlogTicks(Locator):
    """Zero, and every so many powers of ten on both sides."""

    axis: Any

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    def __call__(self) -> Any:
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        low, high = sorted((vmin, vmax))
        first = int(np.ceil(np.log10(self._threshold) - 1e-9))
        last = int(np.ceil(np.log10(max(abs(low), abs(high), 10 * self._threshold))))
        sides = 2 if low < -self._threshold and high > self._threshold else 1
        stride = max(1, -(-(last - first + 1) * sides // 7))
        # The first power is next to zero: where many are in sight, their labels would overlap.
        powers = 10.0 ** np.arange(first + stride - 1, last + 1, stride)
        ticks = np.concatenate([-powers[::-1], [0.0], powers])
        return ticks[(ticks >= low) & (ticks <= high)]

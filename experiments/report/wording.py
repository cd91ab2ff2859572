"""Numbers as they are shown, and verdicts from several cases."""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

import numpy as np

from experiments.report.content import Verdict


def mean_and_spread(values: Sequence[float], digits: int = 2) -> str:
    """Return "mean ± standard deviation", or the value where there is but one."""
    middle = f"{fmean(values):.{digits}f}"
    return f"{middle} ± {stdev(values):.{digits}f}" if len(values) > 1 else middle


def power_of_two(value: float) -> str:
    """Return a power of two as such: 2^-3 with small digits."""
    exponent = round(np.log2(value))
    return "2" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def judge(met: Sequence[bool]) -> Verdict:
    """Return what became of a claim that was met in some cases."""
    if not met:
        return "not tested"
    return "held" if all(met) else "held in part" if any(met) else "did not hold"


def tally(met: Mapping[str, bool]) -> str:
    """Say in which cases something is so: what a verdict rests on."""
    if not met:
        return "nowhere"
    yes, no = (
        [name for name, value in met.items() if bool(value) is wanted] for wanted in (True, False)
    )
    if not no:
        return f"on all {len(yes)}" if len(yes) > 1 else f"on {yes[0]}"
    if not yes:
        return f"on none of {len(no)}" if len(no) > 1 else f"not on {no[0]}"
    return f"on {', '.join(yes)}, not on {', '.join(no)}"


def seconds_text(seconds: float) -> str:
    """Return seconds with two digits that count, or so."""
    if seconds >= 100:
        return f"{seconds:,.0f}"
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def signed(points: float, digits: int = 2) -> str:
    """Return a difference with its sign."""
    return f"{points:+.{digits}f}".replace("-", "−")

"""Drawing what the traces of several seeds saw."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.report.content import Data
from experiments.report.style import draw_band
from experiments.running.jobs import Result

_MOMENTS = 60  # of a curve over time


def column(run: Result, name: str) -> NDArray[np.float64]:
    """Return a column of a trace; NaN is what is not known."""
    return np.array(run["columns"][name], dtype=float)


def in_percent(run: Result) -> Result:
    """Return a trace with its score in %."""
    percent = [float(value) for value in 100 * column(run, "score")]
    return {"columns": {**run["columns"], "score": percent}}


def learning(run: Result) -> NDArray[np.bool_]:
    """Return which observations are of phase 1."""
    return np.array(run["columns"]["phase"]) == "learn"


def draw_over_epochs(axes: Any, runs: Sequence[Result], name: str, **look: Any) -> None:
    """Draw a column against epochs, phase 1 only; all seeds were observed at the same epochs."""
    x = column(runs[0], "epochs")[learning(runs[0])]
    draw_band(axes, x, [column(run, name)[learning(run)] for run in runs], **look)


def draw_over_time(axes: Any, runs: Sequence[Result], name: str, **look: Any) -> None:
    """Draw a column against seconds; a value lasts until the next observation."""
    times = [column(run, "seconds") for run in runs]
    first, last = min(t[0] for t in times), max(t[-1] for t in times)
    moments = np.geomspace(max(first, 1e-6), max(last, 2e-6), _MOMENTS)
    lines = []
    for run, seconds in zip(runs, times, strict=True):
        place = np.searchsorted(seconds, moments, side="right") - 1
        lines.append(np.where(place >= 0, column(run, name)[place], np.nan))
    draw_band(axes, moments, lines, **look)


def final(runs: Sequence[Result], name: str) -> NDArray[np.float64]:
    """Return the last value of a column, for every seed."""
    return np.array([column(run, name)[-1] for run in runs])


def as_data(runs: Mapping[Any, Sequence[Result]], keys: Sequence[str]) -> Data:
    """Return all observations of some runs; `keys` name what the runs are called by."""
    names = list(next(iter(runs.values()))[0]["columns"])
    rows = [
        (*key, seed, *line, run["accuracy"])
        for key, seeds in runs.items()
        for seed, run in enumerate(seeds)
        for line in zip(*(run["columns"][name] for name in names), strict=True)
    ]
    return Data((*keys, "seed", *names, "final_accuracy_on_all_test_rows"), rows)

"""When a run is looked at, and what is written down: rarely all of it, often what costs little."""

from collections.abc import Sequence
from math import nan
from time import process_time
from typing import Any

import numpy as np

from budgetsvm.monitoring import Trace, TrainingData, View
from experiments.problems import Problem

#: Looks at everything, after so many epochs.
_RARE = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40)
_PRIMAL_RATIO = (
    1.2  # P is known at looks that are closer than the rare ones, each so many times the last
)
_EFFORT, _PRIMAL_EFFORT = 5e7, 2e7  # kernel values for an objective
_OFTEN_ROWS = 5000  # test rows of the frequent looks

OFTEN = ("visits", "epochs", "cpu", "score", "primal")


def rare_looks(epochs: float) -> list[float]:
    """Return after how many epochs all is looked at."""
    return [look for look in _RARE if look <= epochs]


def primal_looks(epochs: float) -> list[float]:
    """Return after how many epochs P is looked at."""
    count = int(np.log(epochs / _RARE[0]) / np.log(_PRIMAL_RATIO)) + 1
    return [*(_RARE[0] * _PRIMAL_RATIO ** np.arange(count)), epochs]


class CurveTrace(Trace):
    """A trace with three kinds of looks: at all, at P and the score, at the score only.

    Beside the columns of a trace it writes down seconds of the processor, which other work on the machine does not make
    longer, and 1ᵀα - ½‖w̃‖², which looks like a dual objective and is none: it has the budgeted w̃ where D has w(α), and
    costs next to nothing: what one would plot if α were that of w̃.
    """

    apparent: list[float]
    cpu: list[float]
    often: dict[str, list[float]]

    def __init__(
        self,
        visits: dict[str, Sequence[int]],
        often_rows: tuple[Any, Any],
        **options: Any,
    ) -> None:
        super().__init__(sorted({v for some in visits.values() for v in some}), **options)
        self.visits = visits
        self.often_rows = often_rows

    def begin(self, data: TrainingData) -> None:
        """Prepare for a new fit; forget an earlier one."""
        super().begin(data)
        self.apparent, self.cpu = [], []
        self.often = {name: [] for name in OFTEN}
        self._last, self._looking, self._started = 0, 0.0, process_time()

    def observe(self, view: View) -> None:
        """Write a line, or a part of one."""
        now = process_time()
        seconds = now - self._started - self._looking
        kinds = {kind for kind, visits in self.visits.items() if self._is_due(visits, view.visits)}
        if view.phase == "learn" and kinds:
            self._look_briefly(view, seconds, primal="primal" in kinds)
        if view.phase == "polish" or "all" in kinds or not kinds:  # not kinds: phase 1 is over
            self._look_at_all(view, seconds)
        self._last = view.visits
        self._looking += process_time() - now

    def _is_due(self, visits: Sequence[int], now: int) -> bool:
        return any(self._last < visit <= now for visit in visits)

    def _look_at_all(self, view: View, seconds: float) -> None:
        super().observe(view)
        points, coef = view.points, view.coef[0]
        norm = coef @ view.model.decision(points)[:, 0] if self.objectives else nan
        gain = nan if view.alpha is None else float(view.alpha.sum())
        self.apparent.append(float(gain - 0.5 * norm))
        self.cpu.append(seconds)

    def _look_briefly(self, view: View, seconds: float, *, primal: bool) -> None:
        assert self._of is not None
        value = self._of.primal(view.model).value if primal and self.objectives else nan
        score = float(view.estimator().score(*self.often_rows))
        line = (view.visits, view.visits / self._n, seconds, score, value)
        for name, cell in zip(OFTEN, line, strict=True):
            self.often[name].append(cell)


def curve_trace(
    problem: Problem, epochs: float, every: int, test_rows: int, objectives: Sequence[str]
) -> CurveTrace:
    """Return the trace of a run; `every`: how many visits lie between two scores."""
    n = len(problem.y)
    order = np.random.default_rng(0).permutation(len(problem.y_test))
    some, few = np.sort(order[:test_rows]), np.sort(order[: min(test_rows, _OFTEN_ROWS)])
    last = round(n * epochs)
    visits = {
        "all": [max(1, round(n * look)) for look in rare_looks(epochs)],
        "primal": [max(1, round(n * look)) for look in primal_looks(epochs)],
        "score": list(range(every, last + 1, every)),
    }
    return CurveTrace(
        visits,
        (problem.X_test[few], problem.y_test[few]),
        X_test=problem.X_test[some],
        y_test=problem.y_test[some],
        objectives=objectives,
        effort=_EFFORT if "dual" in objectives else _PRIMAL_EFFORT,
    )

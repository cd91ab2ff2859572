"""The default cell: what a fit without a search would be. It is scored as all others are, and kept unless one of them is better."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from budgetsvm._estimators.tuning.cells.heats import Heats, Task
from budgetsvm._estimators.tuning.grid import Grid
from budgetsvm._estimators.tuning.guard.gain import is_gain
from budgetsvm._estimators.tuning.guard.parts import together
from budgetsvm._estimators.tuning.progress import SearchProgress
from budgetsvm._estimators.tuning.race import first_looks, linear, sample_sizes
from budgetsvm._estimators.tuning.scores import Scores

_SHARE = 0.25  # of the time for a search
_NAME = "defaults"
_FIRST = np.zeros(1, np.int64)  # the only C


class DefaultCell:
    """Scores of the machine as it is without a search, of samples of the rows and of all of them."""

    def __init__(self, heats: Heats, own: Grid) -> None:
        """Take the only cell of a grid of its own."""
        self._heats = replace(heats, grid=own)
        self.scores = Scores(own, len(heats.splits))

    def run(self, progress: SearchProgress) -> None:
        """Score it on all splits or, where the time is limited, on as many rows and splits as a part of it allows for."""
        heats, now = self._heats, perf_counter()
        deadline = now + _SHARE * (heats.deadline - now)
        progress.expect({_NAME: float(len(heats.splits) * heats.most_rows)})
        progress.at(_NAME)
        pace = 0.0  # seconds per row, of splits that are tried together
        for splits, rows in self._rounds():
            begun = perf_counter()
            if begun + pace * rows > deadline:
                return
            tasks = [Task(0, split, _FIRST, rows) for split in splits]
            for heat in replace(heats, deadline=deadline).run(tasks, lambda: None):
                self.scores.add(heat)
            pace = (perf_counter() - begun) / rows

    def between(self, rows: int, more: int) -> float:
        """Return how many times as long as with some rows a fit to more of them took, or linearly where that is not known."""
        known = self.scores.seconds_of_rows
        if rows not in known or more not in known:
            return linear(rows, more)
        return self._times(float(np.mean(known[more])), rows, more)

    def growth(self, seconds: float | None) -> Callable[[int], float]:
        """Return how many times as long as with so many rows a fit to all rows takes: as this one, which took `seconds`, or linearly."""
        n, known = len(self._heats.y), self.scores.seconds_of_rows

        def times(rows: int) -> float:
            if seconds is None or rows not in known:
                return linear(rows, n)
            return self._times(seconds, rows, n)

        return times

    def _times(self, seconds: float, rows: int, more: int) -> float:
        """Return how many times as long as with some rows these seconds are: not less, and no more than linearly."""
        measured = seconds / np.mean(self.scores.seconds_of_rows[rows])
        return float(np.clip(measured, 1.0, linear(rows, more)))

    def _rounds(self) -> Iterator[tuple[list[int], int]]:
        """Yield which splits to try next, and with how many training rows."""
        heats = self._heats
        n_splits, rows = len(heats.splits), heats.most_rows
        if not np.isfinite(heats.deadline):
            yield [*range(n_splits)], rows
            return
        for sample in sample_sizes(rows)[:-1]:
            yield first_looks(n_splits), sample
        step = max(1, heats.n_threads)
        for start in range(0, n_splits, step):
            yield [*range(start, min(n_splits, start + step))], rows

    def is_beaten(self, scores: Scores, best: int) -> bool:
        """Whether others are better, and the best of them, too; by the largest sample on which both were tried.

        Where there was no time for the default cell, not even on a sample, there is none to fit it to all rows either.
        """
        if not self.scores.counts().any():
            return bool(scores.counts().any())
        for rows in sorted(self.scores.parts_of_rows, reverse=True):
            if rows not in scores.parts_of_rows:
                continue
            every = scores.parts_of_rows[rows]
            cells = every.reshape(-1, *every.shape[2:])
            default = self.scores.parts_of_rows[rows][0, 0]
            splits = _common(default, cells, best).any(axis=1)
            if not splits.any():
                continue
            default, others = together(default[splits]), together(cells[:, splits])
            common = _common(default, others, best)
            default, others = default[common], others[:, common]
            known = np.asarray(np.isfinite(others).all(axis=1))
            best_is_better = not known[best] or others[best].mean() > default.mean()
            return bool(best_is_better) and is_gain(others[known], default)
        return False


def _common(
    default: NDArray[np.float64], others: NDArray[np.float64], best: int
) -> NDArray[np.bool_]:
    """Return where the default cell was tried, and the best of the others or, if that was not tried, any."""
    tried = np.isfinite(others)
    rivals = tried[best] if tried[best].any() else tried.any(axis=0)
    return np.asarray(np.isfinite(default) & rivals)

"""Which cells get how many rows and splits: successive halving over lines, from few rows to all, from two splits to all.

K. Jamieson, A. Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter Optimization. AISTATS 2016. A line is
all C with the same terms; the better half of the lines goes on to four times the rows, and there with the C
near their best one. What is left at the end is tried on all splits. Few rows have no samples: scores of still fewer are
noisy. There the better half of the lines goes on from two splits to all.
"""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from budgetsvm._estimators.tuning.cells.heats import Heats, Task
from budgetsvm._estimators.tuning.progress import SearchProgress
from budgetsvm._estimators.tuning.scores import Scores

_FEW_ROWS, _MORE = 4000, 4  # training rows that are not sampled; times the rows of the stage before
_FEWEST_LINES = 4
_FEW_C = 5  # values of C, all of which are tried
_NEAR, _NEAR_AT_LAST = 3, 2  # values of C on either side of the best, that a line goes on with


def linear(rows: int, more: int) -> float:
    """Return how many times as long as with some rows a fit to more of them takes, if nobody knows better."""
    return more / rows


class Race:
    """Fills a table of scores."""

    def __init__(
        self,
        heats: Heats,
        scores: Scores,
        lines: Sequence[int],
        *,
        halving: bool,
        progress: SearchProgress,
        growth: Callable[[int, int], float] = linear,
    ) -> None:
        self._heats, self._scores, self._progress = heats, scores, progress
        many_rows = heats.most_rows > _FEW_ROWS
        self._halving = halving and (many_rows or len(lines) > _FEWEST_LINES)
        self._lines = _from_the_middle(lines)
        # The C that lines are tried with on all splits.
        self._finals: dict[int, NDArray[np.int64]] = {}
        self._growth = growth  # how many times as long heats take with more rows
        self._pace = 0, 0.0  # training rows, and seconds per line and split, in all threads
        self._all_lines = True  # there was time for all that were worth it

    def run(self) -> bool:
        """Try cells until all that are worth it are known, or the time is up; return whether nothing was left out for it."""
        n_splits, rows = len(self._heats.splits), self._heats.most_rows
        looks = first_looks(n_splits)
        self._progress.expect(self._work(len(looks)))
        for sample in self._samples():
            if not self._stage(looks, sample, _looks(sample)):
                return False
            self._lines = self._best_first()[: max(_FEWEST_LINES, -(-len(self._lines) // 2))]
        self._finals = {line: self._Cs(line, rows) for line in self._lines}
        # All at once keeps all threads busy; but where the time may be up, lines are to have the same splits.
        timed = np.isfinite(self._heats.deadline)
        for splits in [[k] for k in range(n_splits)] if timed else [[*range(n_splits)]]:
            if not self._stage(splits, rows, _name(rows, splits[0])):
                return False
            self._lines = self._best_first()
        return self._all_lines

    def _work(self, n_looks: int) -> dict[str, float]:
        """Return the stages that are to come, by their names, with the rows of each."""
        work, lines, rows = {}, len(self._lines), self._heats.most_rows
        for sample in self._samples():
            work[_looks(sample)] = float(lines * n_looks * sample)
            lines = min(lines, max(_FEWEST_LINES, -(-lines // 2)))
        n_splits = len(self._heats.splits)
        if np.isfinite(self._heats.deadline):
            return work | {_name(rows, k): float(lines * rows) for k in range(n_splits)}
        return work | {_name(rows, 0): float(lines * rows * n_splits)}

    def _samples(self) -> list[int]:
        """Return how many training rows there are in one stage after the other, before lines are tried on all splits."""
        sizes = sample_sizes(self._heats.most_rows)
        return (sizes[:-1] or sizes) if self._halving else []

    def _afford(self, n_splits: int, rows: int) -> bool:
        """Leave out lines that there is no time for, the worst first; return whether there are some left."""
        left, (before, seconds) = self._heats.deadline - perf_counter(), self._pace
        if np.isfinite(left) and seconds > 0:
            affordable = int(left / (n_splits * seconds * self._growth(before, rows)))
            self._all_lines &= affordable >= len(self._lines)
            self._lines = self._lines[:affordable]
        return bool(self._lines) and left > 0

    def _stage(self, splits: Sequence[int], rows: int, name: str) -> bool:
        """Try all lines, or those that there is time for; return whether there is time to go on."""
        if not self._afford(len(splits), rows):
            return False
        tasks = [self._task(line, split, rows) for split in splits for line in self._lines]
        tasks = [task for task in tasks if len(task.Cs)]
        begun, done = perf_counter(), 0
        self._progress.at(name)

        def tell() -> None:
            nonlocal done
            done += 1
            self._progress.at(name, done / len(tasks))

        found = self._heats.run(tasks, tell)
        for heat in found:
            self._scores.add(heat)
        if found:
            self._pace = rows, (perf_counter() - begun) / len(found)
        return not self._heats.late()

    def _task(self, line: int, split: int, rows: int) -> Task:
        """Return what is not yet known of a line on a split."""
        Cs, scores = self._Cs(line, rows), self._scores
        known = (scores.rows[Cs, line] == rows) & np.isfinite(scores.values[Cs, line, split])
        return Task(line, split, Cs[~known], rows)

    def _best_first(self) -> list[int]:
        """Return the lines from the best on."""
        means = np.nan_to_num(self._scores.means(), nan=-np.inf)
        return sorted(self._lines, key=lambda line: -float(means[:, line].max()))

    def _Cs(self, line: int, rows: int) -> NDArray[np.int64]:
        """Return the C to try on a line: all, or those near its best one; at first, every other one is enough to tell."""
        if line in self._finals:
            return self._finals[line]
        every, means = np.arange(len(self._scores.grid.Cs)), self._scores.means()[:, line]
        if rows == self._heats.most_rows and not self._halving:
            return every
        if np.isnan(means).all():
            return every[:: 2 if len(every) > _FEW_C else 1]
        tried = self._scores.rows[:, line]
        tried = np.where(np.isfinite(means), tried, -1)
        best = int(np.nanargmax(np.where(tried == tried.max(), means, np.nan)))
        near = _NEAR_AT_LAST if rows == self._heats.most_rows else _NEAR
        return every[abs(every - best) <= near]


def sample_sizes(rows: int) -> list[int]:
    """Return how many training rows there are in one stage after the other; all of them in the last one."""
    stages = [rows]
    while stages[0] > _FEW_ROWS:
        fewer = max(_FEW_ROWS, -(-stages[0] // _MORE))
        stages.insert(0, fewer if fewer >= 2 * _FEW_ROWS else _FEW_ROWS)  # not two that are alike
    return stages


def first_looks(n_splits: int) -> list[int]:
    """Return the splits to begin with: far from each other, as rows may be in the order of time."""
    return sorted({0, n_splits // 2})


def _name(rows: int, split: int) -> str:
    return f"{rows:,} rows, split {split + 1}"


def _looks(rows: int) -> str:
    return f"{rows:,} rows, first looks"


def _from_the_middle(lines: Sequence[int]) -> list[int]:
    """Return lines in an order in which those come first that are likely to be good."""
    middle = (len(lines) - 1) / 2
    return [lines[i] for i in sorted(range(len(lines)), key=lambda i: abs(i - middle))]

"""The budget by its curve: scores on rows held out over growing budgets, and the smallest one that is as good as the best."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from budgetsvm._common.memory import default_limit
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.tuning.cells.heats import Heats, Task
from budgetsvm._estimators.tuning.grid import Grid
from budgetsvm._estimators.tuning.progress import SearchProgress
from budgetsvm._estimators.tuning.scores import Scores
from budgetsvm._estimators.user_input import AUTO
from budgetsvm._exact.budget import LEARNED

_PARTS, _MULTIPLES = (8, 4, 2), (2, 4)  # of the budget that cells are compared with
_MORE = (8, 16)  # multiples that are tried, too, as far as a limit of time allows for them
_FEW_ROWS = 2500  # for which a machine of all of them takes less time than to learn terms
_NEAR = 1  # values of C on either side of the best one: with more terms a smaller one may be better
# What a smaller model may be worse by: as much as the standard error of its difference to the best, and no more than that.
_TOLERANCE = 2e-3  # of the best score
_VALUE_BYTES, _HELD_SHARE = 8, 0.5
_FEWEST_SPLITS = 2
_TELLING = 4  # times the rows of a sample that tells how few terms will do
_GROWTH = 1.5  # with which power of the budget the time grows, roughly


@dataclass(frozen=True)
class Candidates:
    """Budgets to choose from: `first` is the one that cells are compared with."""

    usual: int  #: of a machine that is not tuned
    first: int
    smaller: tuple[int, ...]  #: falling
    larger: tuple[int, ...]  #: rising
    extra: tuple[int, ...] = ()  #: of these, the ones that are tried if there is time for them

    @property
    def all(self) -> tuple[int, ...]:
        """All of them, rising."""
        return (*self.smaller[::-1], self.first, *self.larger)


def candidates(machine: BudgetMachine, X: Any, y: Any, sample_weight: Any) -> Candidates:
    """Return budgets for these data; all rows are among them where the exact machine takes little time."""
    probe: BudgetMachine = clone(machine).set_params(budget=AUTO)
    settings = probe._settings()
    X, encoded, weights = probe._encode(X, y, sample_weight, settings)
    targets = probe._targets(encoded, weights)
    n = len(targets)
    usual = probe._budget_for(X, targets, probe._resolved(settings.kernel, X)) or LEARNED
    if usual == n and targets.count > 1:  # many pairs take much longer in a span than all rows do
        return Candidates(n, n, (), ())
    if usual == n <= _FEW_ROWS:
        return Candidates(n, n, _parts_of(n, min(LEARNED, n)), ())
    first = min(LEARNED, n)
    memory = machine.memory_limit or default_limit()
    most = min(n // 2, int(_HELD_SHARE * memory / (_VALUE_BYTES * n)))
    timed = machine.time_limit is not None
    multiples = (*_MULTIPLES, *_MORE) if timed else _MULTIPLES
    larger = tuple(b for b in (k * first for k in multiples) if b <= most)
    if usual == n:
        larger = (*(larger if timed else ()), n) if n > first else ()
    extra = tuple(b for b in larger if timed and b < n and b > max(_MULTIPLES) * first)
    return Candidates(usual, first, _parts_of(first, first), larger, extra)


def _parts_of(first: int, largest: int) -> tuple[int, ...]:
    """Return budgets below the first one, falling, that are the largest or parts of it."""
    parts = dict.fromkeys(max(1, largest // k) for k in (1, *reversed(_PARTS)))
    return tuple(budget for budget in parts if budget < first)


class BudgetCurve:
    """Tries budgets with the C near the one that has won, and its gamma; larger ones also with the next larger gamma.

    With few terms a wide kernel wins that more of them would make too smooth: the best gamma grows with the budget.
    """

    def __init__(
        self,
        heats: Heats,
        scores: Scores,
        budgets: Candidates,
        best: int,
        *,
        ends: float,
        growth: Callable[[int], float],
    ) -> None:
        """Begin with the best cell, of the first budget; `ends` is when a fit to all rows, which takes longer, has to be done."""
        self._ends = ends
        self._heats, self._scores, self._budgets = heats, scores, budgets
        grid = scores.grid
        C, line = divmod(best, len(grid.lines))
        self._gammas = {budgets.first: line % max(1, len(grid.gammas))}
        every = np.arange(len(grid.Cs))
        self._Cs = every[abs(every - C) <= _NEAR]
        known = np.isfinite(scores.values[C, line])
        self._splits = [int(k) for k in np.flatnonzero(known)]
        self._rows = int(scores.rows[C, line])
        self._best_C = {budgets.first: C}
        self._growth = growth
        self._pace = self._measured(line, budgets.first)
        self.complete = True  # nothing was left out for want of time

    def run(self, progress: SearchProgress) -> int:
        """Try larger budgets as long as they are better, smaller ones as long as they are as good; return the best cell."""
        # A sample of the rows has less to tell: with all of them, more terms may be worth it.
        whole = _TELLING * self._rows >= self._heats.most_rows
        for budgets, wanted in (
            (self._budgets.larger, self._is_best),
            (self._budgets.smaller if whole else (), self._is_good),
        ):
            for budget in budgets:
                if not (self._try(budget, self._nearby(budget), progress) and wanted(budget)):
                    break
        good = [budget for budget in self._best_C if self._is_good(budget)]
        chosen = min(good)
        return self._best_C[chosen] * len(self._scores.grid.lines) + self._line(chosen)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the budgets that were tried, with their C and scores."""
        tried = sorted(self._best_C)
        scores = np.array([self._scores_of(budget) for budget in tried])
        grid: Grid = self._scores.grid
        return {
            "budget": np.array(tried),
            "C": np.array([grid.Cs[self._best_C[budget]] for budget in tried]),
            "mean_test_score": scores.mean(axis=1),
            "std_test_score": scores.std(axis=1),
        }

    def _nearby(self, budget: int) -> list[int]:
        """Return the gammas to try with a budget, by their numbers."""
        if budget < self._budgets.first:
            return [self._gammas[self._budgets.first]]
        gamma = self._gammas[max(self._gammas)]
        return [gamma, gamma + 1] if gamma + 1 < len(self._scores.grid.gammas) else [gamma]

    def _try(self, budget: int, gammas: list[int], progress: SearchProgress) -> bool:
        """Return whether there was time for this budget."""
        if not self._afford(budget, len(gammas)):
            self.complete &= budget in self._budgets.extra
            return False
        lines = [self._line_of(budget, gamma) for gamma in gammas]
        progress.at(f"{budget:,} terms")
        tasks = [Task(line, k, self._Cs, self._rows) for k in self._splits for line in lines]
        heats = replace(self._heats, deadline=self._ends - self._refit_seconds(budget))
        found = heats.run(tasks, lambda: None)
        if len(found) < len(tasks) or any(len(t.scores) < len(self._Cs) for t in found):
            self.complete &= budget in self._budgets.extra
            return False
        for heat in found:
            self._scores.add(heat)
        self._pace = self._measured(lines[0], budget)
        values = self._scores.values[self._Cs][:, lines][:, :, self._splits]
        means = values.mean(axis=2)  # not a number where a score is none
        if np.isnan(means).all():
            return False
        C, gamma = np.unravel_index(np.nanargmax(means), means.shape)
        self._best_C[budget], self._gammas[budget] = int(self._Cs[C]), gammas[gamma]
        return True

    def _measured(self, line: int, budget: int) -> float:
        """Return the seconds of all C on a split, divided by what they grow with."""
        of_splits = np.nansum(self._scores.fit_seconds[self._Cs, line], axis=0)[self._splits]
        return float(of_splits.mean() / float(budget) ** _GROWTH)

    def _afford(self, budget: int, n_lines: int) -> bool:
        """Return whether there is time for a budget, on two splits at least; the others are left out from then on."""
        seconds = n_lines * self._pace * budget**_GROWTH / self._heats.n_threads
        left = self._ends - self._refit_seconds(budget) - perf_counter()
        if not np.isfinite(left) or left > seconds * len(self._splits):
            return True
        some = int(left / seconds) if left > 0 else 0
        if some < min(_FEWEST_SPLITS, len(self._splits)):
            return False
        self._splits = self._splits[:some]
        self.complete &= budget in self._budgets.extra
        return True

    def _refit_seconds(self, budget: int) -> float:
        """Return how long a fit to all rows will take, by the best cell of the budget that was tried last."""
        last = next(reversed(self._best_C))
        seconds = self._scores.alone(self._growth)[self._best_C[last], self._line(last)]
        return float(seconds * (budget / last) ** _GROWTH)

    def _line(self, budget: int) -> int:
        return self._line_of(budget, self._gammas[budget])

    def _line_of(self, budget: int, gamma: int) -> int:
        grid = self._scores.grid
        return grid.budgets.index(budget) * max(1, len(grid.gammas)) + gamma

    def _scores_of(self, budget: int) -> NDArray[np.float64]:
        return np.asarray(
            self._scores.values[self._best_C[budget], self._line(budget), self._splits]
        )

    def _is_best(self, budget: int) -> bool:
        means = {b: self._scores_of(b).mean() for b in self._best_C}
        return max(means, key=lambda b: means[b]) == budget

    def _is_good(self, budget: int) -> bool:
        """Whether a budget is within the tolerance of the best."""
        best = max((self._scores_of(b) for b in self._best_C), key=lambda s: float(s.mean()))
        return as_good(self._scores_of(budget), best)


def as_good(scores: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    """Whether scores are as good as the best ones, of the same splits, up to noise."""
    differences = best - scores
    error = float(differences.std(ddof=1) / np.sqrt(len(best))) if len(best) > 1 else 0.0
    return bool(differences.mean() <= min(error, _TOLERANCE * abs(float(best.mean()))))


def curve_lines(grid: Grid, first: int) -> range:
    """Return the lines of the budget that cells are compared with."""
    n = max(1, len(grid.gammas))
    start = grid.budgets.index(first) * n
    return range(start, start + n)

"""Heats of a search: a machine is trained on one side of a split, and scored on the other, for one C after another."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from budgetsvm._common.threads import map_in_order
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.tuning.cells.fold_path import FoldPath
from budgetsvm._estimators.tuning.cells.held_out import HeldOutRows
from budgetsvm._estimators.tuning.grid import Grid
from budgetsvm._estimators.tuning.guard.parts import scores_of_parts
from budgetsvm._estimators.tuning.scores import Heat

_Indices = NDArray[np.intp]
_Split = tuple[_Indices, _Indices]

_LOOSE = 0.03  # the tolerance of heats on samples of the rows


class Task(NamedTuple):
    """What a heat is to be: a line, a split, which C, and how many training rows at most."""

    line: int
    split: int
    Cs: NDArray[np.int64]  #: their numbers, rising
    most_rows: int


@dataclass(frozen=True, eq=False)
class Heats:
    """Makes heats of a machine on the same data."""

    machine: BudgetMachine
    grid: Grid
    X: Any
    y: Any
    sample_weight: Any
    splits: Sequence[tuple[_Indices, _Indices]]
    scorer: Callable[..., float]
    seed: int
    n_threads: int
    deadline: float  #: a value of the clock
    guarded: bool = False  #: scores of parts of the rows held out are wanted, too

    @property
    def most_rows(self) -> int:
        """The training rows of the largest split."""
        return max(len(train) for train, _ in self.splits)

    def late(self) -> bool:
        """Whether the time is up."""
        return perf_counter() >= self.deadline

    def run(self, tasks: Sequence[Task], tell: Callable[[], None]) -> list[Heat]:
        """Try all of these, several at a time, and `tell` after each; those that there is no time for are left out."""
        inner = max(1, self.n_threads // max(1, len(tasks)))

        def one(task: Task) -> Heat | None:
            found = None if self.late() else self._try(task, inner)
            tell()
            return found

        found = map_in_order(one, tasks, self.n_threads)
        return [heat for heat in found if heat is not None and len(heat.scores)]

    def _try(self, task: Task, n_threads: int) -> Heat:
        """Train once, and solve and score for each C; ends early where the time is up."""
        train, test = self.splits[task.split]
        train = self._sample(train, task.most_rows)
        machine = self._machine(task, n_threads)
        X, y = _safe_split(machine, self.X, self.y, train)
        X_test, y_test = _safe_split(machine, self.X, self.y, test, train)
        weights = None if self.sample_weight is None else _safe_indexing(self.sample_weight, train)
        started, Cs = perf_counter(), [self.grid.Cs[i] for i in task.Cs]
        path = FoldPath(machine, X, y, weights, self.grid.middle)
        shared = (perf_counter() - started) / len(Cs)
        rows = HeldOutRows(machine._validate(X_test, reset=False), n_threads)
        found, parts = [], []
        for C in Cs:
            begun = perf_counter()
            solved = path.solve(C, rows)
            done = perf_counter()
            if done >= self.deadline:  # the solution is not what it would be
                break
            score = _as_number(self.scorer(solved, X_test, y_test))
            score = score if np.isfinite(score) else np.nan  # is not to be compared with others
            found.append((score, shared + done - begun, perf_counter() - done))
            if self.guarded:
                parts.append(scores_of_parts(solved, X_test, y_test))
        path.close()
        scores, fits, looks = np.array(found).reshape(-1, 3).T
        rows_tried = min(task.most_rows, self.most_rows)  # splits may differ by a row or two
        tried, others = task.Cs[: len(found)], (len(Cs) - 1) * shared
        of_parts = np.array(parts) if parts else None
        return Heat(task.line, task.split, tried, rows_tried, scores, fits, looks, others, of_parts)

    def _machine(self, task: Task, n_threads: int) -> BudgetMachine:
        machine: BudgetMachine = clone(self.machine)
        own: dict[str, Any] = {
            "random_state": self.seed,
            "n_jobs": n_threads,
            "verbose": 0,
            "warm_start": False,
            "monitor": None,
        }
        if task.most_rows < self.most_rows:  # a look, to tell what is worth more
            own["tol"] = max(machine.tol, _LOOSE)
        if np.isfinite(self.deadline):
            own["time_limit"] = max(self.deadline - perf_counter(), 1e-3)
        machine.set_params(**own, **self.grid.lines[task.line].parameters())
        return machine

    def _sample(self, train: _Indices, most: int) -> _Indices:
        """Return some training rows, always the same, that have a weight; of a class that is missing among them, one more."""
        if self.sample_weight is not None:
            train = train[np.asarray(_safe_indexing(self.sample_weight, train)) > 0]
        if len(train) <= most:
            return train
        order = np.random.default_rng(self.seed).permutation(train)
        some, y = order[:most], np.asarray(self.y)
        if y.ndim == 1 and hasattr(self.machine, "multi_class"):
            labels, first = np.unique(y[order], return_index=True)
            missing = ~np.isin(labels, y[some])
            some = np.append(some, order[first[missing]])
        return np.sort(some)


def _as_number(score: Any) -> float:
    """Return what a scorer has returned."""
    try:
        return float(score)
    except (TypeError, ValueError) as error:
        message = f"scoring must return a number, not {score!r}"
        raise TypeError(message) from error


def _all_of(classes: NDArray[Any]) -> str:
    return f"are all of class {classes.tolist()[0]!r}" if len(classes) else "have all weight 0"


def checked_splits(
    splits: Iterable[_Split], y: Any, weights: Any, *, classifies: bool, may_be_none: bool = False
) -> list[_Split]:
    """Return all splits, each of which has rows to learn from, of two classes at least, and rows held out."""
    found, labels = list(splits), np.asarray(y)
    if not (found or may_be_none):
        raise ValueError(
            "cv has no splits; give a number of folds, a splitter, or pairs of row numbers"
        )
    for number, (train, test) in enumerate(found, 1):
        if len(train) == 0 or len(test) == 0:
            part = "training rows" if len(train) == 0 else "rows held out"
            message = f"split {number} of cv has no {part}"
            raise ValueError(message)
        learned = train if weights is None else train[weights[train] > 0]
        if classifies and len(classes := np.unique(labels[learned])) < 2:
            message = (
                f"the training rows of split {number} of cv {_all_of(classes)}: a class with few rows "
                "may be held out as a whole. Use fewer folds, or a splitter that is stratified"
            )
            raise ValueError(message)
    return found

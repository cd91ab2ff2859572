"""What a search has found out so far: scores of cells on rows held out, and what they cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._estimators.tuning.grid import Grid

_Array = NDArray[np.float64]

_COLD = 2.0  # times a solution that starts from another
_DIGITS = 12  # of means that rounding has no say in


@dataclass(frozen=True)
class Heat:
    """The scores of some C on one line and one split, with the seconds that fits and scores took."""

    line: int
    split: int
    Cs: NDArray[np.int64]  #: their numbers
    rows: int  #: that were trained on
    scores: _Array
    fit_seconds: _Array  #: with a part of those of the terms, which all C share
    score_seconds: _Array
    other_parts: float = 0.0  #: of the terms: what a fit of a single C would take beyond that
    #: Scores of parts of the rows held out, (C, parts), where a search is guarded.
    of_parts: _Array | None = None


class Scores:
    """Scores of all cells, (C, line, split); not a number where there is none."""

    def __init__(self, grid: Grid, n_splits: int) -> None:
        self.grid, n_lines = grid, len(grid.lines)
        shape = len(grid.Cs), n_lines, n_splits
        self.values, self.fit_seconds, self.score_seconds, self.other_parts = (
            np.full(shape, np.nan) for _ in range(4)
        )
        self.rows = np.zeros(shape[:2], np.int64)  #: of the largest sample that a cell was tried on
        #: Scores of parts, (C, line, split, part), of every sample, by its size; where they are wanted.
        self.parts_of_rows: dict[int, _Array] = {}
        self.seconds_of_rows: dict[int, list[float]] = {}  #: of fits to samples, by their size
        self.n_scores = self.n_undefined = 0  #: that were asked for, and that were no numbers

    def add(self, heat: Heat) -> None:
        """Take down what was found; scores of fewer rows make way for those of more."""
        some = heat.Cs
        self.n_scores += len(heat.scores)
        self.n_undefined += int(np.isnan(heat.scores).sum())
        self.seconds_of_rows.setdefault(heat.rows, []).extend(heat.fit_seconds)
        less = some[self.rows[some, heat.line] < heat.rows]
        for array in (self.values, self.fit_seconds, self.score_seconds, self.other_parts):
            array[less, heat.line] = np.nan
        self.rows[some, heat.line] = heat.rows
        if heat.of_parts is not None:
            shape = *self.values.shape, heat.of_parts.shape[1]
            every = self.parts_of_rows.setdefault(heat.rows, np.full(shape, np.nan))
            every[some, heat.line, heat.split] = heat.of_parts
        for array, new in (
            (self.values, heat.scores),
            (self.fit_seconds, heat.fit_seconds),
            (self.score_seconds, heat.score_seconds),
            (self.other_parts, heat.other_parts),
        ):
            array[some, heat.line, heat.split] = new

    def counts(self) -> NDArray[np.int64]:
        """Return on how many splits each cell was scored, (C, line)."""
        return np.asarray(np.isfinite(self.values).sum(axis=2))

    def means(self) -> _Array:
        """Return the mean scores of cells over the splits they were scored on, (C, line)."""
        return _means(self.values)[0]

    def alone(self, growth: Callable[[int], float]) -> _Array:
        """Return the seconds that a fit of each cell alone to all rows may take, (C, line)."""
        solved, learned = (_means(part)[0] for part in (self.fit_seconds, self.other_parts))
        growths = np.vectorize(growth, otypes=[float])(np.maximum(self.rows, 1))
        return np.asarray(np.nan_to_num(_COLD * solved + learned) * growths)

    def order(self) -> NDArray[np.int64]:
        """Return the cells from the best to the worst, as numbers of C × lines.

        Cells that were tried on more rows come first, and of these the ones on more splits: those that were abandoned
        on the way were worse there, and scores of different rows or splits are not to be compared.
        """
        return _order(self.rows.ravel(), self.counts().ravel(), self.means().ravel())

    def results(self) -> dict[str, Any]:
        """Return them as scikit-learn's searches do, with how many splits and rows every cell was tried on."""
        cells = self.grid.cells()
        found: dict[str, Any] = {}
        for name, seconds in (("fit", self.fit_seconds), ("score", self.score_seconds)):
            mean, deviation = _means(seconds)
            found[f"mean_{name}_time"] = np.nan_to_num(mean).ravel()
            found[f"std_{name}_time"] = np.nan_to_num(deviation).ravel()
        for name in cells[0]:
            values = _column([cell[name] for cell in cells])
            found[f"param_{name}"] = np.ma.MaskedArray(values, mask=np.zeros(len(cells), bool))
        found["params"] = cells
        flat = self.values.reshape(len(cells), -1)
        found |= {f"split{k}_test_score": flat[:, k] for k in range(flat.shape[1])}
        mean, deviation = _means(self.values)
        found["mean_test_score"], found["std_test_score"] = mean.ravel(), deviation.ravel()
        found["n_splits"], found["n_rows"] = self.counts().ravel(), self.rows.ravel().copy()
        found["rank_test_score"] = _ranks(found)
        return found


def with_cells(results: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return results with those of other cells behind them, and ranks of all."""
    found: dict[str, Any] = {}
    for name, values in results.items():
        if name == "params":
            found[name] = [*values, *more[name]]
        elif name.startswith("param_"):
            both = _column([*values.tolist(), *more[name].tolist()])
            found[name] = np.ma.MaskedArray(both, mask=np.zeros(len(both), bool))
        else:
            found[name] = np.concatenate([values, more[name]])
    found["rank_test_score"] = _ranks(found)
    return found


def _column(values: list[Any]) -> NDArray[Any]:
    """Return values of a parameter; numbers stay numbers beside words."""
    words = any(isinstance(value, str) for value in values)
    return np.array(values, dtype=object if words else None)


def _rounded(means: _Array) -> _Array:
    """Return means in which sums of the same scores in another order are the same."""
    return np.array([float(f"{mean:.{_DIGITS}g}") for mean in means])


def _order(rows: NDArray[np.int64], counts: NDArray[np.int64], means: _Array) -> NDArray[np.int64]:
    """Return cells from the best to the worst."""
    known = np.nan_to_num(_rounded(means), nan=-np.inf)
    return np.lexsort((np.arange(len(means)), -known, -counts, -rows))


def _ranks(results: dict[str, Any]) -> NDArray[np.int32]:
    """Return ranks from 1 on, the same for cells that are equally good."""
    rows, splits, means = (results[name] for name in ("n_rows", "n_splits", "mean_test_score"))
    keys = [rows, splits, _rounded(means)]
    order = _order(*keys)
    best_first = np.nan_to_num(np.column_stack(keys)[order], nan=-np.inf)
    worse = np.append(True, (best_first[1:] != best_first[:-1]).any(axis=1))
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.maximum.accumulate(np.where(worse, np.arange(1, len(order) + 1), 0))
    return ranks


def _means(values: _Array) -> tuple[_Array, _Array]:
    """Return means and deviations over the last axis, of what there is."""
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=-1), 1)
    none = ~known.any(axis=-1)
    mean = np.where(known, values, 0.0).sum(axis=-1) / count
    square = np.where(known, values - mean[..., np.newaxis], 0.0) ** 2
    deviation = np.sqrt(square.sum(axis=-1) / count)
    mean[none] = deviation[none] = np.nan
    return mean, deviation

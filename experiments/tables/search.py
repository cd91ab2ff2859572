"""Appendix A: the search for C and gamma, by the exact SVM as in the paper, and by models on a budget."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from budgetsvm import BudgetSVC
from experiments.problems import Spec, load
from experiments.report import style
from experiments.report.content import Cell, Claim, Data, Picture, Section, Table
from experiments.report.wording import judge, power_of_two, seconds_text
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_DATA = "IJCNN"  # of the five, the one where gamma matters most
_FOLDS, _BEST = 5, 5
_BUDGET, _QUICK_BUDGET = 500, 30
_COST = {"svc": 1.6, "budget": 4.2}  # seconds per cell of the grid


@dataclass(frozen=True)
class _Grid:
    """Exponents of two, and how many rows each machine gets; None: all."""

    C: range
    gamma: range
    rows: dict[str, int | None]


_GRID = _Grid(range(-1, 10, 2), range(-5, 6, 2), {"svc": 5000, "budget": None})
_QUICK_GRID = _Grid(range(0, 5, 2), range(-2, 3, 2), {"svc": 200, "budget": 400})
_NAMES = {"svc": "exact SVM", "budget": "BudgetSVC, B = {budget}"}
_ABOUT = (
    (
        "The paper tuned C and γ on an integer grid of exponents of two by cross-validation with LIBSVM, "
        "*i.e., aiming for the best possible performance of the non-budgeted machine*. We repeat that with "
        "every second exponent, for the exact SVM on as many rows as time allows, and with models on a budget "
        "on all rows: do these find the same place?"
    ),
)


def jobs(scope: Scope) -> list[Job]:
    """Return a job per machine and column of the grid."""
    return [_column(scope, kind, gamma) for kind in _NAMES for gamma in _grid(scope).gamma]


def _column(scope: Scope, kind: str, gamma: int) -> Job:
    spec, grid = _spec(scope), _grid(scope)
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "kind": kind,
        "rows": grid.rows[kind],
        "gamma": 2.0**gamma,
        "Cs": [2.0**C for C in grid.C],
        "budget": _budget(scope),
    }
    cost = 0.3 if scope.quick else _COST[kind] * len(grid.C)
    return Job(f"search/{spec.name}-{kind}-{gamma}", validate_column, arguments, cost)


def validate_column(
    name: str,
    folder: str | None,
    kind: str,
    *,
    rows: int | None,
    gamma: float,
    Cs: list[float],
    budget: int,
) -> Result:
    """Cross-validate one gamma with all C; accuracies in %."""
    problem = load(name, folder, rows)
    machine: Any = (
        SVC(gamma=gamma, cache_size=500)
        if kind == "svc"
        else BudgetSVC(gamma=gamma, budget=budget, random_state=0, n_jobs=1, fit_intercept=False)
    )
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(machine, {"C": Cs}, cv=folds, refit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # C beyond reason is part of the grid
        found = search.fit(problem.X, problem.y).cv_results_
    return {
        "rows": len(problem.y),
        "accuracy": (100 * found["mean_test_score"]).tolist(),
        "deviation": (100 * found["std_test_score"]).tolist(),
        "seconds": (_FOLDS * (found["mean_fit_time"] + found["mean_score_time"])).tolist(),
    }


@dataclass(frozen=True)
class _Map:
    """What came out for a machine: arrays with a row per C and a column per gamma."""

    name: str
    grid: _Grid
    rows: int
    accuracy: NDArray[np.float64]
    deviation: NDArray[np.float64]
    seconds: NDArray[np.float64]

    def best(self, n: int) -> list[tuple[int, int]]:
        """Return the n best cells, as row and column."""
        order = np.argsort(-self.accuracy, axis=None, kind="stable")[:n]
        return [divmod(int(place), self.accuracy.shape[1]) for place in order]

    def cell(self, spec: Spec) -> tuple[int, int]:
        """Return the paper's choice."""
        C, gamma = round(np.log2(spec.C)), round(np.log2(spec.gamma))
        return self.grid.C.index(C), self.grid.gamma.index(gamma)

    def loss(self, spec: Spec) -> tuple[float, float]:
        """Return what the paper's choice lacks to the best, and the standard error of that."""
        best, paper = self.best(1)[0], self.cell(spec)
        return (
            float(self.accuracy[best] - self.accuracy[paper]),
            float(self.deviation[best] / np.sqrt(_FOLDS)),
        )


def section(scope: Scope, results: Results) -> Section:
    """Show both maps, their best cells, and the paper's choice."""
    spec = _spec(scope)
    maps = [_map(scope, kind, results) for kind in _NAMES]
    parts = (_picture(maps, spec), _table(maps, spec))
    title = "Appendix A: the search for hyper-parameters"
    claims = (
        [_claim(maps, spec)] if spec.paper_rows else []
    )  # made problems have no choice of the paper
    return Section(title, _ABOUT, parts, claims)


def _map(scope: Scope, kind: str, results: Results) -> _Map:
    grid = _grid(scope)
    columns = [results[_column(scope, kind, gamma).name] for gamma in grid.gamma]
    arrays = [
        np.array([column[what] for column in columns]).T
        for what in ("accuracy", "deviation", "seconds")
    ]
    name = _NAMES[kind].format(budget=_budget(scope))
    return _Map(name, grid, columns[0]["rows"], *arrays)


def _picture(maps: Sequence[_Map], spec: Spec) -> Picture:
    rows: list[tuple[Cell, ...]] = [
        (m.name, C, gamma, *(float(array[i, j]) for array in (m.accuracy, m.deviation, m.seconds)))
        for m in maps
        for i, C in enumerate(m.grid.C)
        for j, gamma in enumerate(m.grid.gamma)
    ]
    columns = ("machine", "log2 C", "log2 gamma", "accuracy in %", "deviation", "seconds")
    caption = (
        f"Accuracy in % by {_FOLDS}-fold cross-validation on {spec.name}. Star: the best cell; square: the paper's "
        f"choice. {_times(maps)}"
    )
    title = f"Search for C and γ on {spec.name}"
    return Picture("search", title, caption, partial(_draw, maps, spec), Data(columns, rows))


def _times(maps: Sequence[_Map]) -> str:
    texts = [
        f"{m.name}: {m.rows:,} rows, {seconds_text(float(m.seconds.sum()))} s for the whole grid, one thread"
        for m in maps
    ]
    return "; ".join(texts) + "."


def _draw(maps: Sequence[_Map], spec: Spec) -> Any:
    figure, panels = style.new_figure(len(maps), panel=(4.2, 3.4))
    with style.context():
        for axes, found in zip(panels, maps, strict=True):
            _draw_map(axes, found, spec)
    style.add_legend(figure, panels)
    return figure


def _draw_map(axes: Any, found: _Map, spec: Spec) -> None:
    values = found.accuracy
    least = max(values.min(), values.max() - 10)  # the differences that matter are near the best
    axes.imshow(values, origin="lower", cmap="cividis", vmin=least, aspect="auto")
    middle = (least + values.max()) / 2
    for (i, j), value in np.ndenumerate(values):
        colour = "black" if value > middle else "white"
        axes.text(j, i - 0.2, f"{value:.1f}", ha="center", va="center", fontsize=7, color=colour)
    shapes = (("best", found.best(1)[0], "*"), ("paper's choice", found.cell(spec), "s"))
    for label, (i, j), shape in shapes:
        look = {"facecolor": "none" if shape == "s" else "red", "edgecolor": "red"}
        axes.scatter(j, i + 0.2, s=45, marker=shape, label=label, zorder=3, **look)
    axes.set_xticks(range(len(found.grid.gamma)), [power_of_two(2.0**g) for g in found.grid.gamma])
    axes.set_yticks(range(len(found.grid.C)), [power_of_two(2.0**C) for C in found.grid.C])
    axes.set(xlabel="γ", ylabel="C", title=f"{found.name}, {found.rows:,} rows")
    axes.grid(visible=False)


def _table(maps: Sequence[_Map], spec: Spec) -> Table:
    columns = ("machine", "rank", "C", "γ", "accuracy", "seconds")
    shown: list[tuple[Cell, ...]] = []
    numbers: list[tuple[Cell, ...]] = []
    for found in maps:
        cells: list[tuple[Cell, Any]] = [
            *enumerate(found.best(_BEST), start=1),
            ("paper's choice", found.cell(spec)),
        ]
        for rank, (i, j) in cells:
            C, gamma = 2.0 ** found.grid.C[i], 2.0 ** found.grid.gamma[j]
            mean, deviation = float(found.accuracy[i, j]), float(found.deviation[i, j])
            seconds = float(found.seconds[i, j])
            exponents = (power_of_two(C), power_of_two(gamma))
            texts = (f"{mean:.2f} ± {deviation:.2f}", seconds_text(seconds))
            shown.append((found.name, str(rank), *exponents, *texts))
            numbers.append((found.name, rank, C, gamma, mean, deviation, seconds))
    names = ("machine", "rank", "C", "gamma", "accuracy", "deviation", "seconds")
    caption = (
        "The best cells of the grid, and the paper's choice. Accuracy in %, mean ± standard deviation over "
        f"{_FOLDS} folds; seconds of all folds."
    )
    title = f"The best hyper-parameters on {spec.name}"
    return Table("search-best", title, caption, Data(columns, shown), Data(names, numbers))


def _claim(maps: Sequence[_Map], spec: Spec) -> Claim:
    losses = [found.loss(spec) for found in maps]
    texts = [
        f"{found.name}: {lost:.3f} points below the best cell (standard error of that one: {error:.3f})"
        for found, (lost, error) in zip(maps, losses, strict=True)
    ]
    choice = f"C = {power_of_two(spec.C)}, γ = {power_of_two(spec.gamma)}"
    return Claim(
        f"{choice} is best on {spec.name} by cross-validation",
        "table 1 and appendix A",
        f"{'; '.join(texts)} (rule: within one standard error of the best, by both)",
        judge([lost <= error for lost, error in losses]),
    )


def _spec(scope: Scope) -> Spec:
    return next((spec for spec in scope.specs if spec.name == _DATA), scope.specs[0])


def _grid(scope: Scope) -> _Grid:
    return _QUICK_GRID if scope.quick else _GRID


def _budget(scope: Scope) -> int:
    return _QUICK_BUDGET if scope.quick else _BUDGET

"""Appendix A: the search for C and gamma on all data sets, near the paper's choice and as fine as its grid."""

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
from experiments.report.wording import judge, power_of_two, seconds_text, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_FOLDS = 5
_BUDGET, _QUICK_BUDGET = 500, 30
_AROUND, _QUICK_AROUND = range(-2, 3), range(-1, 2)  # exponents of two beside the paper's
_ROWS = {"svc": 5000, "budget": 20_000}  # exact machines take long on more
_QUICK_ROWS = {"svc": 200, "budget": 400}
_NAMES = {"svc": "exact SVM", "budget": "BudgetSVC, B = {budget}"}
_COST = {"svc": 2.0, "budget": 2.0}  # seconds per cell of the grid
_ERRORS = 2.0  # standard errors of a difference: what is no farther apart may be luck
_ABOUT = (
    "The paper tuned C and γ on an integer grid of exponents of two by cross-validation with LIBSVM, *i.e., aiming for the best possible performance of the non-budgeted machine*. We "
    f"repeat that on the cells around its choice, for the exact SVM on {_ROWS['svc']:,} rows and for models on a budget on {_ROWS['budget']:,}: does the choice stand? The best of so many cells is in part the luckiest, "
    "so for every fold we take the cell that is best on the others, and compare it with the choice on this one; the standard error of the differences counts that training rows of different folds overlap (Nadeau & Bengio 2003)."
)


def jobs(scope: Scope) -> list[Job]:
    """Return a job per data set, machine and column of the grid."""
    return [
        _column(scope, spec, kind, gamma)
        for spec in scope.specs
        for kind in _NAMES
        for gamma in _exponents(scope, spec.gamma)
    ]


def _exponents(scope: Scope, centre: float) -> list[int]:
    return [round(np.log2(centre)) + e for e in (_QUICK_AROUND if scope.quick else _AROUND)]


def _column(scope: Scope, spec: Spec, kind: str, gamma: int) -> Job:
    Cs = _exponents(scope, spec.C)
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "kind": kind,
        "rows": (_QUICK_ROWS if scope.quick else _ROWS)[kind],
        "gamma": 2.0**gamma,
        "Cs": [2.0**C for C in Cs],
        "budget": _budget(scope),
    }
    cost = 0.3 if scope.quick else _COST[kind] * len(Cs)
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
    """Cross-validate one gamma with all C; accuracies in % per fold."""
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
    scores = np.array([found[f"split{fold}_test_score"] for fold in range(_FOLDS)])
    return {
        "rows": len(problem.y),
        "folds": (100 * scores.T).tolist(),
        "seconds": (_FOLDS * (found["mean_fit_time"] + found["mean_score_time"])).tolist(),
    }


@dataclass(frozen=True)
class Grid:
    """What came out for a data set and a machine: arrays with a row per C and a column per gamma."""

    spec: Spec
    machine: str
    C: list[int]
    gamma: list[int]
    rows: int
    folds: NDArray[np.float64]  #: accuracies, with a third axis
    seconds: NDArray[np.float64]

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Means over the folds."""
        return np.asarray(self.folds.mean(axis=2))

    @property
    def best(self) -> tuple[int, int]:
        """The cell with the best mean."""
        return divmod(int(np.argmax(self.accuracy)), len(self.gamma))

    @property
    def choice(self) -> tuple[int, int]:
        """The paper's cell."""
        C, gamma = round(np.log2(self.spec.C)), round(np.log2(self.spec.gamma))
        return self.C.index(C), self.gamma.index(gamma)

    @property
    def rank(self) -> int:
        """The rank of the paper's cell."""
        return 1 + int((self.accuracy > self.accuracy[self.choice]).sum())

    def loss(self) -> tuple[float, float]:
        """Return what the paper's choice lacks to the best cell, and the standard error of that.

        The best of so many cells is in part the luckiest. So it is chosen anew for every fold, by the others,
        and compared on the one that it has not seen.
        """
        differences = np.array([self._loss_on(fold) for fold in range(_FOLDS)])
        variance = float(differences.var(ddof=1)) * (1 / _FOLDS + 1 / (_FOLDS - 1))
        return float(differences.mean()), float(np.sqrt(variance))

    def _loss_on(self, fold: int) -> float:
        others = np.delete(self.folds, fold, axis=2).mean(axis=2)
        best = divmod(int(np.argmax(others)), len(self.gamma))
        return float(self.folds[best][fold] - self.folds[self.choice][fold])

    def stands(self) -> bool:
        """Whether the paper's choice may be the best."""
        lost, error = self.loss()
        return lost <= _ERRORS * error


def section(scope: Scope, results: Results) -> Section:
    """Show all grids, their best cells, and the paper's choice."""
    grids = {kind: [_grid(scope, spec, kind, results) for spec in scope.specs] for kind in _NAMES}
    parts = (
        *(_picture(kind, found) for kind, found in grids.items()),
        _table([grid for found in grids.values() for grid in found]),
    )
    title = "Appendix A: the search for hyper-parameters"
    # Made problems have no choice of the paper.
    claims = [] if scope.quick else [_claim(grids)]
    return Section(title, [_ABOUT], parts, claims)


def _grid(scope: Scope, spec: Spec, kind: str, results: Results) -> Grid:
    gammas = _exponents(scope, spec.gamma)
    columns = [results[_column(scope, spec, kind, gamma).name] for gamma in gammas]
    folds = np.array([column["folds"] for column in columns]).transpose(1, 0, 2)
    seconds = np.array([column["seconds"] for column in columns]).T
    name = _NAMES[kind].format(budget=_budget(scope))
    own = (_exponents(scope, spec.C), gammas)
    return Grid(spec, name, *own, columns[0]["rows"], folds, seconds)


def _picture(kind: str, grids: Sequence[Grid]) -> Picture:
    rows: list[tuple[Cell, ...]] = [
        (g.spec.name, g.machine, C, gamma, fold, float(g.folds[i, j, fold]), float(g.seconds[i, j]))
        for g in grids
        for i, C in enumerate(g.C)
        for j, gamma in enumerate(g.gamma)
        for fold in range(_FOLDS)
    ]
    columns = ("data", "machine", "log2 C", "log2 gamma", "fold", "accuracy in %", "seconds")
    seconds = seconds_text(float(sum(g.seconds.sum() for g in grids)))
    caption = (
        f"Accuracy in % by {_FOLDS}-fold cross-validation, {grids[0].machine}. Star: the best cell; square: the paper's choice. Rows: "
        f"{', '.join(f'{g.spec.name} {g.rows:,}' for g in grids)}; {seconds} s for all, one thread."
    )
    title = f"Search for C and γ, {grids[0].machine}"
    return Picture(f"search-{kind}", title, caption, partial(_draw, grids), Data(columns, rows))


def _draw(grids: Sequence[Grid]) -> Any:
    figure, panels = style.new_figure(len(grids), panel=(3.6, 3.0))
    with style.context():
        for axes, found in zip(panels, grids, strict=True):
            _draw_grid(axes, found)
    style.add_legend(figure, panels)
    return figure


def _draw_grid(axes: Any, found: Grid) -> None:
    values = found.accuracy
    least = max(values.min(), values.max() - 10)  # the differences that matter are near the best
    axes.imshow(values, origin="lower", cmap="cividis", vmin=least, aspect="auto")
    middle = (least + values.max()) / 2
    for (i, j), value in np.ndenumerate(values):
        colour = "black" if value > middle else "white"
        axes.text(j, i - 0.2, f"{value:.1f}", ha="center", va="center", fontsize=7, color=colour)
    for label, (i, j), shape in (("best", found.best, "*"), ("paper's choice", found.choice, "s")):
        look = {"facecolor": "none" if shape == "s" else "red", "edgecolor": "red"}
        axes.scatter(j, i + 0.2, s=45, marker=shape, label=label, zorder=3, **look)
    axes.set_xticks(range(len(found.gamma)), [power_of_two(2.0**g) for g in found.gamma])
    axes.set_yticks(range(len(found.C)), [power_of_two(2.0**C) for C in found.C])
    axes.set(xlabel="γ", ylabel="C", title=found.spec.name)
    axes.grid(visible=False)


def _table(grids: Sequence[Grid]) -> Table:
    columns = (
        "data",
        "machine",
        "best C, γ",
        "accuracy",
        "paper's C, γ",
        "accuracy",
        "rank",
        "difference",
    )
    shown, numbers = [], []
    for g in grids:
        lost, error = g.loss()
        cells = [_cell(g, *place) for place in (g.best, g.choice)]
        texts = (f"{g.rank} of {g.accuracy.size}", f"{lost:.2f} ± {error:.2f}")
        shown.append((g.spec.name, g.machine, *cells[0], *cells[1], *texts))
        best = (2.0 ** g.C[g.best[0]], 2.0 ** g.gamma[g.best[1]])
        accuracies = (float(g.accuracy[g.best]), float(g.accuracy[g.choice]))
        numbers.append((g.spec.name, g.machine, g.rows, *best, *accuracies, g.rank, lost, error))
    names = (
        "data",
        "machine",
        "rows",
        "best_C",
        "best_gamma",
        "best",
        "choice",
        "rank",
        "difference",
        "error",
    )
    caption = f"The best cell of each grid and the paper's choice: accuracy in %, mean of {_FOLDS} folds. Difference: of the cell that is best on four folds and of the paper's choice, on the fifth, with its standard error."
    title = "The best hyper-parameters"
    return Table("search-best", title, caption, Data(columns, shown), Data(names, numbers))


def _cell(grid: Grid, i: int, j: int) -> tuple[str, str]:
    place = f"{power_of_two(2.0 ** grid.C[i])}, {power_of_two(2.0 ** grid.gamma[j])}"
    return place, f"{grid.accuracy[i, j]:.2f}"


def _claim(grids: dict[str, list[Grid]]) -> Claim:
    names = [grid.spec.name for grid in grids["svc"]]
    stands = {grid.spec.name: grid.stands() for grid in grids["svc"]}
    texts = [
        f"{name} "
        + " | ".join("{:.2f} ± {:.2f}".format(*found[place].loss()) for found in grids.values())
        for place, name in enumerate(names)
    ]
    return Claim(
        "C and γ were tuned with grid search and cross-validation, aiming for the best possible performance of the non-budgeted machine.",
        "section 5; table 1; appendix A",
        f"The choice stands {tally(stands)}. What it lacks to the best of 25 cells, chosen by other folds, exact SVM | budget, in points: {'; '.join(texts)} (rule: no more than {_ERRORS:g} standard errors of the difference, which count that folds share training rows, by the exact SVM, on {_ROWS['svc']:,} rows)",
        judge([*stands.values()]),
    )


def _budget(scope: Scope) -> int:
    return _QUICK_BUDGET if scope.quick else _BUDGET

"""LIBSVM's whole grid of C and gamma on five small data sets, beside exact SVMs: where is it worse?"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks.models.exact import ExactSVM
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.problems.grid import GridProblem, grid_problems
from benchmarks.report.record import Column, Record, status
from budgetsvm import BudgetSVC

TITLE = "LIBSVM's grid"
#: Exponents of 2, as LIBSVM's grid.py has them.
EXPONENTS_C, EXPONENTS_GAMMA = range(-5, 16, 2), range(-15, 4, 2)
_MOST_WORSE = 0.02
_RANK_TOLERANCE = 1e-7  # of the largest eigenvalue
_SUMMARY = (
    Column("data", "data", width=14, left=True),
    Column("model", "model", width=13, left=True),
    Column("against", "against", width=8, left=True),
    Column("cells", "cells"),
    Column("not converged", "unconverged"),
    Column("worst, points", "worst", "+.1f"),
    Column("mean, points", "mean", "+.2f"),
    Column("converged, 2 points worse", "bad"),
    Column("", "verdict", width=6, left=True),
)
_NOTE = (
    "Test accuracy of BudgetSVC less that of the exact SVM, in points. By default its problem is that of SVC. With --full: "
    "also without a bias, each class against the rest, against the same solved exactly. Only cells whose kernel matrix "
    "has a rank below the budget count."
)
_GRID_NOTE = "Rows: gamma, columns: C. * not converged, (..) the rank exceeds the budget, ! more than 2 points worse."


@dataclass(frozen=True)
class Cell:
    """One pair of hyper-parameters: accuracies of an exact machine and of ours."""

    C: int  #: its exponent
    gamma: int
    exact: float
    score: float
    converged: bool
    ample: bool  #: whether the budget exceeds the rank

    @property
    def difference(self) -> float:
        """How much better ours is."""
        return self.score - self.exact

    @property
    def bad(self) -> bool:
        """Whether it is worse, claims to be optimal, and has no excuse."""
        return self.converged and self.ample and self.difference < -_MOST_WORSE

    def text(self) -> str:
        """Write the difference with its marks."""
        number = f"{100 * self.difference:+.1f}{'' if self.converged else '*'}"
        return f"{number if self.ample else f'({number})'}{'!' if self.bad else ''}"


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured: it has its own."""
    return False


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Go through the grid for every data set; the summary comes last."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for problem in grid_problems():
        cells = measure(
            problem, EXPONENTS_C, EXPONENTS_GAMMA, threads=options.threads, full=options.full
        )
        for (model, against), some in cells.items():
            found[problem.name, model, against] = some
            _show(record, f"{problem.name}: {model} against {against}", some)
    table = record.table(f"{TITLE}: summary", _SUMMARY, _NOTE)
    for names, some in found.items():
        row = {**dict(zip(("data", "model", "against"), names, strict=True)), **summary(some)}
        row["verdict"] = record.target(
            row["bad"] == 0,
            f"{', '.join(names)}: {row['bad']} cells are converged and 2 points worse",
        )
        table.add(row)


def measure(
    problem: GridProblem,
    exponents_C: Sequence[int],
    exponents_gamma: Sequence[int],
    *,
    threads: int = 1,
    full: bool = False,
) -> dict[tuple[str, str], list[Cell]]:
    """Return cells by our model and what it is compared with; `full`: without a bias, too."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for g in exponents_gamma:
        ample = _rank(problem, 2.0**g) < problem.budget or problem.budget >= len(problem.y)
        for c in exponents_C:
            status(f"{problem.name}: gamma = 2^{g}, C = 2^{c}")
            for (name, against), (model, exact) in _pairs(
                problem, c, g, threads, full=full
            ).items():
                other = _score(exact, problem)
                if isinstance(exact, ExactSVM) and not exact.is_solved:
                    continue  # hardly, where C is huge and the kernel flat
                cell = Cell(c, g, other, _score(model, problem), bool(model.converged_), ample)
                found.setdefault((name, against), []).append(cell)
    return found


def summary(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return what all cells have in common; the worst is one that counts."""
    counted = [cell.difference for cell in cells if cell.ample and cell.converged]
    return {
        "cells": len(cells),
        "unconverged": sum(not cell.converged for cell in cells),
        "worst": 100 * min(counted, default=0.0),
        "mean": 100 * float(np.mean(counted or [0.0])),
        "bad": sum(cell.bad for cell in cells),
        "bad_cells": [(cell.gamma, cell.C, cell.exact, cell.score) for cell in cells if cell.bad],
    }


def _pairs(
    problem: GridProblem, c: int, g: int, threads: int, *, full: bool
) -> dict[tuple[str, str], tuple[BudgetSVC, Any]]:
    """Return our machines and their exact twins, by their names."""
    C, gamma = 2.0**c, 2.0**g
    common: dict[str, Any] = {
        "C": C,
        "gamma": gamma,
        "budget": problem.budget,
        "random_state": 0,
        "n_jobs": threads,
    }
    pairs: dict[tuple[str, str], tuple[BudgetSVC, Any]] = {
        ("BudgetSVC", "SVC"): (BudgetSVC(**common), SVC(C=C, gamma=gamma))
    }
    if full:
        plain = BudgetSVC(**common, multi_class="ovr", fit_intercept=False)
        pairs["without bias", "the same"] = plain, ExactSVM(C, gamma)
    return pairs


def _score(model: Any, problem: GridProblem) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(problem.X, problem.y)
    return float(model.score(problem.X_test, problem.y_test))


def _rank(problem: GridProblem, gamma: float) -> int:
    """Return the numerical rank of the kernel matrix."""
    values = np.linalg.eigvalsh(rbf_kernel(problem.X, gamma=gamma))
    return int(np.sum(values > _RANK_TOLERANCE * values[-1]))


def _show(record: Record, title: str, cells: Sequence[Cell]) -> None:
    columns = sorted({cell.C for cell in cells})
    width = max(len(cell.text()) for cell in cells)
    shown = [Column(f"2^{c}", f"C{c}", width=width) for c in columns]
    table = record.table(
        f"{TITLE}: {title}", (Column("gamma", "gamma", width=5), *shown), _GRID_NOTE
    )
    for g in sorted({cell.gamma for cell in cells}):
        row = {f"C{cell.C}": cell.text() for cell in cells if cell.gamma == g}
        table.add({"gamma": f"2^{g}", **row})

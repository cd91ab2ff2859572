"""The cost of an iteration: linear in the budget, independent of the number of rows (section 3)."""

from collections.abc import Sequence
from time import process_time
from typing import Any, TypeAlias

import numpy as np

from budgetsvm import BudgetSVC
from budgetsvm.monitoring import Monitor, TrainingData, View
from experiments.curves.runs import METHODS
from experiments.problems import Spec, load, spec_of
from experiments.report import style, ticks
from experiments.report.content import Cell, Claim, Data, Picture, Section, Table
from experiments.report.wording import judge, signed, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_METHODS = ("bsgd", "bsca", "bsca-golden")
_UNLIMITED = ("sgd", "sca")
_BUDGETS, _QUICK_BUDGETS = (50, 100, 200, 400, 800, 1600), (10, 20, 40, 80)
_ROWS, _QUICK_ROWS = (7500, 15_000, 30_000, 60_000, 120_000, 240_000, 464_810), (500, 1000, 2000)
_FIXED, _QUICK_FIXED = (200, 30_000), (20, 2000)  # budget and rows, where the other one varies
_DATA = "COVTYPE"  # the one with the most rows
_VISITS, _GOLDEN_VISITS, _QUICK_VISITS = 20_000, 3000, 1000
_REPEATS = 3
_WARM = 8  # times the budget: visits before the clock starts
# An exponent of at most this counts as linear, or as none.
_LINEAR, _NONE = 1.1, 0.1
_ABOUT_LINEAR = 0.25  # an exponent that is no farther from 1


class _Clock(Monitor):
    """Seconds of the processor at some visits, and the terms."""

    aligned = True

    def __init__(self, visits: Sequence[int]) -> None:
        self.visits = visits

    def begin(self, data: TrainingData) -> None:  # noqa: ARG002 - it only counts
        """Forget an earlier fit."""
        self.seen: list[tuple[int, int, float, int]] = []

    def next_visit(self, visits: int) -> int:
        """Return the next of them."""
        return min((v for v in self.visits if v > visits), default=np.iinfo(np.int64).max)

    def observe(self, view: View) -> None:
        """Write down the time; reading the terms comes after it, and so belongs to the next look."""
        now = process_time()
        self.seen.append((view.visits, view.merges, now, len(view.points)))


def measure(
    *, name: str, folder: str | None, method: str, budget: int, rows: int, visits: int
) -> Result:
    """Time visits once the budget is full: seconds of the processor per visit, and the share that merges, per run."""
    problem, spec = load(name, folder, rows), spec_of(name)
    warm = _WARM * budget
    epochs = (warm + visits + 1) / len(problem.y)
    found = []
    for seed in range(_REPEATS):
        model = BudgetSVC(
            spec.C,
            gamma=spec.gamma,
            budget=budget,
            random_state=seed,
            n_jobs=1,
            fit_intercept=False,
            monitor=_Clock([warm, warm + visits]),
            epochs=epochs if epochs < 1 else int(np.ceil(epochs)),
            **METHODS[method],
        ).fit(problem.X, problem.y)
        first, second = np.array(model.monitor_.seen[:2])
        visited, merged, seconds, _ = second - first
        found.append((seconds / visited, merged / visited))
    return {"seconds": [t for t, _ in found], "merging": [m for _, m in found]}


def measure_unlimited(
    *, name: str, folder: str | None, method: str, rows: int, visits: list[int]
) -> Result:
    """Time visits without a budget, between looks: terms, and seconds of the processor per visit, least of all runs."""
    problem, spec = load(name, folder, rows), spec_of(name)
    found = []
    for seed in range(_REPEATS):
        model = BudgetSVC(
            spec.C,
            gamma=spec.gamma,
            budget=None,
            random_state=seed,
            n_jobs=1,
            fit_intercept=False,
            monitor=_Clock(visits),
            epochs=visits[-1] / len(problem.y),
            **METHODS[method],
        ).fit(problem.X, problem.y)
        visited, _, seconds, terms = np.array(model.monitor_.seen)[: len(visits)].T
        middle = (terms[1:] + terms[:-1]) / 2
        found.append((middle, np.diff(seconds) / np.diff(visited)))
    terms, seconds = (np.array(part) for part in zip(*found, strict=True))
    return {"terms": np.median(terms, axis=0).tolist(), "seconds": seconds.min(axis=0).tolist()}


def jobs(scope: Scope) -> list[Job]:
    """Vary the budget, and the rows; without a budget, the terms."""
    limited = [_job(scope, method, *size) for method in _METHODS for size in _sizes(scope)]
    return [*limited, *(_unlimited_job(scope, method) for method in _UNLIMITED)]


def _unlimited_job(scope: Scope, method: str) -> Job:
    """One epoch, in which the number of terms grows all the time."""
    rows = _QUICK_FIXED[1] if scope.quick else _FIXED[1]
    arguments = {
        "name": _spec(scope).name,
        "folder": scope.folder,
        "method": method,
        "rows": rows,
        "visits": [round(v) for v in np.geomspace(rows / 60, rows - 1, 8)],
    }
    return Job(f"iteration/{method}-unlimited", measure_unlimited, arguments, 2 + 1e-8 * rows**2)


def _spec(scope: Scope) -> Spec:
    return next((spec for spec in scope.specs if spec.name == _DATA), scope.specs[0])


def _sizes(scope: Scope) -> list[tuple[int, int]]:
    """Return budgets and rows, in the order of both lines; what both have comes once."""
    budget, rows = _QUICK_FIXED if scope.quick else _FIXED
    found = [(B, rows) for B in _varied(scope)[0]] + [(budget, n) for n in _varied(scope)[1]]
    return list(dict.fromkeys(found))


def _varied(scope: Scope) -> tuple[Sequence[int], Sequence[int]]:
    return (_QUICK_BUDGETS, _QUICK_ROWS) if scope.quick else (_BUDGETS, _ROWS)


def _job(scope: Scope, method: str, budget: int, rows: int) -> Job:
    spec = _spec(scope)
    visits = _GOLDEN_VISITS if method.endswith("golden") else _VISITS
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "method": method,
        "budget": budget,
        "rows": rows,
        "visits": _QUICK_VISITS if scope.quick else visits,
    }
    cost = 2 + 1e-8 * (12 if method.endswith("golden") else 1) * budget * visits
    return Job(f"iteration/{method}-{budget}-{rows}", measure, arguments, cost)


def section(scope: Scope, results: Results) -> Section:
    """Draw both lines, and their exponents."""
    found = {
        (method, *size): results[_job(scope, method, *size).name]
        for method in _METHODS
        for size in _sizes(scope)
    }
    text = (
        "Section 3 says that an iteration takes O(B) operations and does not depend on the number of rows. We time visits once the budget is "
        f"full, in seconds of the processor, on random parts of {_job(scope, 'bsca', *_sizes(scope)[0]).arguments['name']}: the least of {_REPEATS} runs. "
        "Evaluation and maintenance are both in it; *golden* ranks partners by golden section search, as the paper does."
    )
    lines = {(m, what): _line(scope, found, m, what) for m in _METHODS for what in ("B", "n")}
    exponents = {key: _exponent(*line) for key, line in lines.items()}
    unlimited = {m: results[_unlimited_job(scope, m).name] for m in _UNLIMITED}
    parts = (_picture(scope, found, lines, exponents), _unlimited_table(unlimited))
    claims = [_claim(exponents, lines), _unlimited_claim(unlimited)]
    return Section("The cost of an iteration", [text], parts, claims)


_Line: TypeAlias = tuple[list[int], list[float]]


def _line(scope: Scope, found: dict[Any, Result], method: str, what: str) -> _Line:
    budget, rows = _QUICK_FIXED if scope.quick else _FIXED
    budgets, sizes = _varied(scope)
    keys = [(b, rows) for b in budgets] if what == "B" else [(budget, n) for n in sizes]
    times = [1e6 * min(found[method, *key]["seconds"]) for key in keys]
    return [key[0 if what == "B" else 1] for key in keys], times


def _exponent(x: Sequence[float], times: Sequence[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(times), 1)[0])


def _picture(
    scope: Scope,
    found: dict[Any, Result],
    lines: dict[tuple[str, str], _Line],
    exponents: dict[tuple[str, str], float],
) -> Picture:
    budget, rows = _QUICK_FIXED if scope.quick else _FIXED

    def draw() -> Any:
        figure, panels = style.new_figure(2)
        for axes, what in zip(panels, ("B", "n"), strict=True):
            for method in _METHODS:
                style.draw_band(
                    axes, lines[method, what][0], [lines[method, what][1]], **_look(method)
                )
            ticks.log(axes, "x")
            ticks.log(axes)
            axes.set(ylabel="µs per visit", xlabel="budget" if what == "B" else "rows")
            axes.set_title(f"{rows:,} rows" if what == "B" else f"B = {budget}")
        style.add_legend(figure)
        return figure

    texts = [
        f"{_look(m)['label']} {exponents[m, 'B']:.2f} in B, {signed(exponents[m, 'n'])} in n"
        for m in _METHODS
    ]
    caption = (
        "Seconds of the processor per visit with a full budget, least of three runs. Exponents of fitted powers: "
        f"{'; '.join(texts)}. Small budgets have a share that does not grow, so that an exponent may be below 1."
    )
    data: list[tuple[Cell, ...]] = [
        (method, b, n, run, seconds, merging)
        for (method, b, n), result in found.items()
        for run, (seconds, merging) in enumerate(
            zip(result["seconds"], result["merging"], strict=True)
        )
    ]
    columns = ("method", "budget", "rows", "run", "seconds_per_visit", "merging")
    title = "Cost of a visit over budget and rows"
    return Picture("iteration-cost", title, caption, draw, Data(columns, data))


def _look(method: str) -> dict[str, Any]:
    if method.endswith("golden"):
        return style.look("sca", label="BSCA, golden section")
    return style.look(method)


def _claim(exponents: dict[tuple[str, str], float], lines: dict[tuple[str, str], _Line]) -> Claim:
    linear = max(exponents[m, "B"] for m in _METHODS)
    rows = max(exponents[m, "n"] for m in _METHODS)
    growth = max(lines[m, "n"][1][-1] / lines[m, "n"][1][0] for m in _METHODS)
    met = [linear <= _LINEAR, rows <= _NONE]
    x = lines["bsca", "n"][0]
    return Claim(
        "An iteration takes O(B) operations, maintenance included, and is independent of the number of rows n.",
        "section 3; section 6",
        f"Time per visit grows as B to the power of {linear:.2f} at the most (BSGD, BSCA, BSCA with golden section), and as n to the power of {signed(rows)}: from {x[0]:,} to {x[-1]:,} rows "
        f"it takes {growth:.2f} times as long (rule: exponents of at most {_LINEAR:g} and {_NONE:g}; in part if one of both)",
        judge(met),
    )


def _unlimited_table(unlimited: dict[str, Result]) -> Table:
    rows = [
        (method, round(terms), seconds)
        for method, found in unlimited.items()
        for terms, seconds in zip(found["terms"], found["seconds"], strict=True)
    ]
    shown = [(m.upper(), f"{terms:,}", f"{1e6 * seconds:.1f}") for m, terms, seconds in rows]
    caption = f"Seconds of the processor per visit in the first epoch, while terms are added; least of {_REPEATS} runs."
    return Table(
        "iteration-unlimited",
        "Cost of a visit without a budget",
        caption,
        Data(("solver", "terms", "µs per visit"), shown),
        Data(("solver", "terms", "seconds_per_visit"), rows),
    )


def _unlimited_claim(unlimited: dict[str, Result]) -> Claim:
    """The upper half of the terms: where there are few, a visit has other costs."""
    exponents = {}
    for method, found in unlimited.items():
        half = len(found["terms"]) // 2
        exponents[method.upper()] = _exponent(found["terms"][half:], found["seconds"][half:])
    linear = {name: abs(value - 1) <= _ABOUT_LINEAR for name, value in exponents.items()}
    return Claim(
        "Without a budget the iteration complexity is linear in the number of non-zero coefficients.",
        "section 1; section 2, Kernel SVM Solvers",
        f"Linear {tally(linear)}. Exponent of the time per visit in the number of terms, over the upper half of these looks: {', '.join(f'{n} {v:.2f}' for n, v in exponents.items())} (rule: 1 up to "
        f"{_ABOUT_LINEAR:g}, both)",
        judge([*linear.values()]),
    )

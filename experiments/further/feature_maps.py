"""Learned terms beside fixed and sampled feature maps, and how few terms suffice (sections 1 and 2)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler

from budgetsvm import BudgetSVC
from experiments.curves.runs import budgets
from experiments.exact.solution import exact_job
from experiments.problems import Spec, load, spec_of
from experiments.report.content import Claim, Data, Section, Table
from experiments.report.error_bars import RULE, Difference, difference
from experiments.report.wording import judge, mean_and_spread, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_WAYS = {"learned": "learned terms", "random": "random rows", "fourier": "Fourier features"}
_MOST_SEEDS = 3
_BETTER = 1.01  # times the P of learned terms: features that are worse
_PART, _QUICK_PART = 5000, 500  # rows of the smaller problem
_NEARLY = 1.0  # points: what is no farther from the exact SVM is close to it


def fit_in_span(
    *, name: str, folder: str | None, way: str, budget: int, rows: int, seed: int
) -> Result:
    """Return the least P in the span of some features, certified, and the test accuracy in %."""
    problem, spec = load(name, folder, rows), spec_of(name)
    X, X_test = problem.X, problem.X_test
    options: dict[str, Any] = {"gamma": spec.gamma, "budget": budget}
    if way == "fourier":
        sampler = RBFSampler(gamma=spec.gamma, n_components=budget, random_state=seed).fit(X)
        X, X_test = (sampler.transform(part) for part in (X, X_test))
        options = {"kernel": "linear", "budget": budget, "basis": np.eye(budget)}
    elif way == "random":
        options["basis"] = "random"
    model = BudgetSVC(spec.C, tol=1e-3, random_state=seed, n_jobs=1, fit_intercept=False, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, problem.y)
    return {
        "primal": float(model.objective_[0]),
        "bound": float(model.objective_[1]),
        "accuracy": 100 * float(model.score(X_test, problem.y_test)),
        "rows": len(problem.y),
    }


def jobs(scope: Scope) -> list[Job]:
    """List the fits by way, budget and seed, those of a part of the rows, and the exact solutions of both."""
    fits = [
        _job(scope, spec, seed, way=way, budget=budget, rows=_rows(spec))
        for spec in scope.specs
        for way in _WAYS
        for budget in budgets(scope)[:2]
        for seed in _seeds(scope)
    ]
    parts = [
        _job(scope, spec, seed, way="learned", budget=budgets(scope)[1], rows=_part(scope))
        for spec in scope.specs
        for seed in _seeds(scope)
    ]
    exact = [exact_job(scope, spec, rows) for spec in scope.specs for rows in (None, _part(scope))]
    return [*fits, *parts, *exact]


def _seeds(scope: Scope) -> range:
    return range(min(scope.seeds, _MOST_SEEDS))


def _part(scope: Scope) -> int:
    return _QUICK_PART if scope.quick else _PART


def _rows(spec: Spec) -> int:
    """Return as many rows as are solved exactly, so that both are of the same problem."""
    return spec.exact_rows or spec.rows


def _job(scope: Scope, spec: Spec, seed: int, *, way: str, budget: int, rows: int) -> Job:
    arguments = {
        "name": spec.name,
        "folder": scope.folder,
        "way": way,
        "budget": budget,
        "rows": rows,
        "seed": seed,
    }
    name = f"feature-maps/{spec.name}-{way}-{budget}-{rows}-{seed}"
    return Job(name, fit_in_span, arguments, 0.5 + 2e-7 * rows * budget)


@dataclass(frozen=True)
class _Found:
    """Fits of a problem, per seed: of all rows by way and budget, and of a part; and the exact solutions of both."""

    fits: dict[tuple[str, int], list[Result]]
    part: list[Result]
    exact: Result
    exact_part: Result

    def gain(self, way: str, budget: int) -> Difference:
        """Return ln P of another way minus that of learned terms."""
        logs = [
            [float(np.log(f["primal"])) for f in self.fits[w, budget]] for w in (way, "learned")
        ]
        return difference(*logs)

    def excess(self, fits: Sequence[Result], exact: Result) -> float:
        """Return by how much the least P exceeds that of the exact SVM, relative to it, median over seeds."""
        return float(np.median([fit["primal"] for fit in fits]) / exact["primal"] - 1)


def section(scope: Scope, results: Results) -> Section:
    """Compare the least P in the span of as many features."""
    found = {spec.name: _gather(scope, results, spec) for spec in scope.specs}
    text = (
        "The introduction names random Fourier features, which are fixed, and Nyström's method, which takes random rows: merging *goes beyond the above techniques by adapting the feature space representation during training*. "
        "We let each of them have as many features as a budget, and solve the paper's problem in their span with a certificate: so only the features differ. Learned terms are those of phase 1 by our defaults. "
        f"Then we ask whether few terms suffice, and whether they do better where there are more rows: all that are solved exactly, and {_part(scope):,} of them."
    )
    parts = (_maps_table(scope, found), _rows_table(scope, found))
    claims = [_goes_beyond(scope, found), _suffices(scope, found)]
    return Section("Learned terms and other feature maps", [text], parts, claims)


def _gather(scope: Scope, results: Results, spec: Spec) -> _Found:
    def fits(way: str, budget: int, rows: int) -> list[Result]:
        own = {"way": way, "budget": budget, "rows": rows}
        return [results[_job(scope, spec, seed, **own).name] for seed in _seeds(scope)]

    of_all = {(w, b): fits(w, b, _rows(spec)) for w in _WAYS for b in budgets(scope)[:2]}
    part = fits("learned", budgets(scope)[1], _part(scope))
    exact = [results[exact_job(scope, spec, rows).name] for rows in (None, _part(scope))]
    return _Found(of_all, part, *exact)


def _maps_table(scope: Scope, found: dict[str, _Found]) -> Table:
    columns = ("data", "rows", "B", *(f"P, {n}" for n in _WAYS.values()), *_WAYS.values())
    shown, numbers = [], []
    for name, one in found.items():
        for budget in budgets(scope)[:2]:
            fits = [one.fits[way, budget] for way in _WAYS]
            P = [f"{np.median([fit['primal'] for fit in some]):.4g}" for some in fits]
            scores = [mean_and_spread([fit["accuracy"] for fit in some]) for some in fits]
            shown.append((name, f"{fits[0][0]['rows']:,}", str(budget), *P, *scores))
            numbers += [
                (name, budget, way, seed, *(fit[key] for key in _FIGURES))
                for way, some in zip(_WAYS, fits, strict=True)
                for seed, fit in enumerate(some)
            ]
    caption = f"Median of the least P in the span, and mean ± standard deviation of the test accuracy in %, {len(_seeds(scope))} seeds."
    title = "The best model with as many features of three kinds"
    names = ("data", "budget", "features", "seed", *_FIGURES)
    return Table("feature-maps", title, caption, Data(columns, shown), Data(names, numbers))


_FIGURES = ("rows", "primal", "bound", "accuracy")


def _rows_table(scope: Scope, found: dict[str, _Found]) -> Table:
    columns = ("data", "rows", "P / P*", "lost points", "rows", "P / P*", "lost points")
    shown, numbers = [], []
    for name, one in found.items():
        cells: list[str] = []
        for fits, exact in _sizes(scope, one):
            lost = exact["accuracy"] - float(np.mean([fit["accuracy"] for fit in fits]))
            excess = one.excess(fits, exact)
            cells += [f"{exact['rows']:,}", f"{1 + excess:.3f}", f"{lost:.2f}"]
            numbers.append((name, exact["rows"], exact["primal"], excess, exact["accuracy"], lost))
        shown.append((name, *cells))
    caption = f"B = {budgets(scope)[1]}, learned terms, {len(_seeds(scope))} seeds: the least P in their span (median) by that of the exact SVM of as many rows, and points of accuracy lost (mean)."
    names = ("data", "rows", "exact_primal", "excess", "exact_accuracy", "lost_points")
    title = "What a budget costs, by the number of rows"
    return Table("small-basis", title, caption, Data(columns, shown), Data(names, numbers))


def _sizes(scope: Scope, one: _Found) -> list[tuple[list[Result], Result]]:
    usual = budgets(scope)[1]
    return [(one.part, one.exact_part), (one.fits["learned", usual], one.exact)]


def _goes_beyond(scope: Scope, found: dict[str, _Found]) -> Claim:
    gains = {
        f"{name} B = {budget}": [one.gain(way, budget) for way in ("random", "fourier")]
        for name, one in found.items()
        for budget in budgets(scope)[:2]
    }
    met = {
        key: all(gain.above and gain.mean > np.log(_BETTER) for gain in some)
        for key, some in gains.items()
    }
    texts = ", ".join(
        f"{key} {' | '.join(f'{np.exp(gain.mean):.4g}' for gain in some)}"
        for key, some in gains.items()
    )
    return Claim(
        "Merging goes beyond fixed (random Fourier features) and data-dependent (Nyström sampling) approximations by adapting the feature space representation during training.",
        "section 1",
        f"It does {tally(met)}. Least P in the span of as many random rows | Fourier features, divided by that in the span of the learned terms, merged by our defaults: {texts} (rule: both above {_BETTER:g}, and above 1 by over {RULE}, everywhere)",
        judge([*met.values()]),
    )


def _suffices(scope: Scope, found: dict[str, _Found]) -> Claim:
    enough, better, texts = {}, {}, []
    for name, one in found.items():
        (part, exact_part), (fits, exact) = _sizes(scope, one)
        lost = exact["accuracy"] - float(np.mean([fit["accuracy"] for fit in fits]))
        excess = [one.excess(part, exact_part), one.excess(fits, exact)]
        enough[name], better[name] = lost <= _NEARLY, excess[1] <= excess[0]
        texts.append(f"{name} {lost:.2f} points, {100 * excess[0]:.1f} → {100 * excess[1]:.1f} %")
    return Claim(
        "B ≪ n basis functions are sufficient to represent a model that is sufficiently close to the optimal one; this is very reasonable, in particular for large n.",
        "section 2, SVMs on a Budget",
        f"Close to the exact SVM {tally(enough)}; closer with more rows {tally(better)}. What the best model of B = {budgets(scope)[1]} learned terms loses, and its P above the optimum, {_part(scope):,} rows → all that are solved "
        f"exactly: {'; '.join(texts)} (rule: {_NEARLY:g} point lost at most, and no more of P than with fewer rows, everywhere; in part if one of both somewhere)",
        judge([*enough.values(), *better.values()]),
    )

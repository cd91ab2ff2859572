"""The figures themselves: fits of large budgets against kernel values, each other, and exact machines."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC, SVR

from benchmarks.large.figures import Figures, Target, cpu, fit_in_one_thread, numpy_block
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec, data_folder, load
from budgetsvm import BudgetSVC, BudgetSVR

# Fits against NumPy's kernel values, by data set: budgets and the most that they may take.
_BLOCKS = {
    "COVTYPE-G8": ((500, 2000, 4000), Target(5)),
    **dict.fromkeys(("IJCNN", "SUSY", "ADULT"), ((200, 500, 1000, 2000), Target(6))),
}
_NARROW_GAMMA, _FEWER, _MORE = 16.0, 1000, 4000
# Where a virtual machine gets its memory when it is touched first, a gigabyte takes seconds: not those of the second fit.
_BIG_REPEAT = 2
_GROWTH, _PREDICTION = Target(4.5), Target(0.1)
_SUSY_ROWS, _SUSY_C, _SUSY_GAMMA, _SUSY_TARGET = 13_000, 1.0, 0.05, Target(0.8)
_CADATA_ROWS, _CADATA_TARGET = 16_500, Target(0.2)
_ALL_ROWS, _ALL_TARGET = (1000, 2000, 3000), Target(2)


def takes(spec: Spec) -> bool:
    """Whether a data set is measured."""
    return spec.name in _BLOCKS


def of_problem(figures: Figures, problem: Problem, options: Options) -> None:
    """Add all figures of one data set."""
    _against_blocks(figures, problem, options)
    if problem.name == "SUSY":
        _against_svc(figures, problem)
    if problem.name == "COVTYPE-G8":
        _narrow_kernels(figures, problem, options)


def of_made_and_other_data(figures: Figures) -> None:
    """Add the figures of regression, and where every row may be a term."""
    _against_svr(figures)
    for n in _ALL_ROWS:
        _all_rows(figures, n)


def machine(problem: Problem, budget: int) -> BudgetSVC:
    """Return a classifier with the parameters of a problem."""
    return BudgetSVC(C=problem.C, gamma=problem.gamma, budget=budget, random_state=0)


def with_parameters(problem: Problem, **parameters: float) -> Problem:
    """Return a problem with another C or gamma."""
    return replace(problem, spec=replace(problem.spec, **parameters))


def _against_blocks(figures: Figures, problem: Problem, options: Options) -> None:
    budgets, target = _BLOCKS[problem.name]
    repeat = _BIG_REPEAT if problem.spec.big else options.repeat
    for budget in budgets:
        block = numpy_block(problem.X, budget, problem.gamma, min(3, options.repeat))
        fit = fit_in_one_thread(machine(problem, budget), problem.usual_form(), repeat)
        figures.compare(f"{problem.name}, B={budget}: fit / NumPy", fit, block, target)


def _against_svc(figures: Figures, problem: Problem) -> None:
    some = with_parameters(problem.first_rows(_SUSY_ROWS), C=_SUSY_C, gamma=_SUSY_GAMMA)
    svc = fit_in_one_thread(SVC(C=some.C, gamma=some.gamma, cache_size=1000), some)
    fit = fit_in_one_thread(machine(some, _MORE), some, 2)
    what = f"{problem.name}, {_SUSY_ROWS} rows, B={_MORE}: fit / SVC ({svc.score:.4f})"
    figures.compare(what, fit, svc.seconds, _SUSY_TARGET)


def _narrow_kernels(figures: Figures, problem: Problem, options: Options) -> None:
    narrow = with_parameters(problem, gamma=_NARROW_GAMMA)
    fewer = fit_in_one_thread(machine(narrow, _FEWER), narrow, _BIG_REPEAT)
    more = fit_in_one_thread(machine(narrow, _MORE), narrow, _BIG_REPEAT)
    name = f"COVTYPE, gamma={_NARROW_GAMMA:g}"
    figures.compare(f"{name}: fit, B={_MORE} / B={_FEWER}", more, fewer.seconds, _GROWTH)
    block = numpy_block(narrow.X_test, _MORE, narrow.gamma, options.repeat)
    seconds = min(cpu(lambda: more.model.predict(narrow.X_test)) for _ in range(options.repeat))
    what = f"{name}, B={_MORE}: prediction / NumPy"
    figures.add(what, seconds / block, _PREDICTION, seconds=seconds, against=block)


@dataclass(frozen=True)
class _Regression:
    """Standardised rows and targets."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def _against_svr(figures: Figures) -> None:
    raw = load(data_folder(), Spec.of("cadata", scaling="standard"))
    X, y = np.vstack([raw.X, raw.X_test]), np.append(raw.y, raw.y_test)
    y, n = (y - y.mean()) / y.std(), _CADATA_ROWS
    problem = _Regression("CADATA", X[:n], y[:n], X[n:], y[n:])
    parameters = {"C": 10.0, "gamma": 0.5, "epsilon": 0.1}
    svr = fit_in_one_thread(SVR(**parameters, cache_size=1000), problem)
    fit = fit_in_one_thread(BudgetSVR(**parameters, budget=_MORE, random_state=0), problem)
    what = f"CADATA, {n} rows, B={_MORE}: fit / SVR ({svr.score:.4f})"
    figures.compare(what, fit, svr.seconds, _CADATA_TARGET)


def _all_rows(figures: Figures, n: int) -> None:
    X, y = make_classification(2 * n, 20, n_informative=10, random_state=0)
    problem = _Regression(f"made, n={n}", X[:n], y[:n], X[n:], y[n:])
    svc = fit_in_one_thread(SVC(cache_size=1000), problem, 3)
    fit = fit_in_one_thread(BudgetSVC(gamma="scale", budget=n, random_state=0), problem, 3)
    what = f"make_classification, n=B={n}: fit / SVC ({svc.score:.4f})"
    figures.compare(what, fit, svc.seconds, _ALL_TARGET)

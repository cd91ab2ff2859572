"""A search on the command line, with the machine, the files and the folds of ``budgetsvm cv``."""

import warnings
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from budgetsvm._estimators.tuning.budget_curve import candidates
from budgetsvm._problem.target_scale import TargetScale
from budgetsvm.cli._data import last_of
from budgetsvm.cli._grid.options import NULL
from budgetsvm.cli._machine import make_machine
from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV

_VALUES = 10  # of C, and of gamma, where nobody says which


def search(X: Any, y: Any, folds: int, options: dict[str, Any]) -> dict[str, Any]:
    """Return the best cell and all others, with C as the command line means it."""
    kind, seed = options["svm_type"], options["seed"]
    if options["scale"] == "relevance":
        message = (
            "--scale relevance sees the labels, and --grid scales features before it makes folds, so that scores would be too good: "
            "search with --scale standard, or look at a few cells by cv without --grid"
        )
        raise click.UsageError(message)
    machine = make_machine(options, X, y, verbose=0)
    if hasattr(machine, "steps"):  # the ranges of features, which know no labels, are of all rows
        X = machine[:-1].fit_transform(X)
    machine, unit = last_of(machine), _unit_of_C(kind, y)
    cv = (StratifiedKFold if kind == "svc" else KFold)(folds, shuffle=True, random_state=seed)
    found = (BudgetSVCCV if kind == "svc" else BudgetSVRCV)(
        _Cs(options, machine, unit),
        _gammas(options),
        budget=_budget(options, machine, X, y),
        cv=cv,
        refit=False,
        halving=options["halving"],
        verbose=0 if options["quiet"] else 1,
        **_given(machine),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="time_limit=.* was over before")  # an error here
        found.fit(X, y)
    if not np.isfinite(found.best_score_):
        message = f"--time-limit {options['time_limit']:g} was over before a cell had a score: allow for more time, or try fewer values"
        raise click.ClickException(message)
    facts = _facts(found.cv_results_, found.best_index_, unit)
    measure = "accuracy" if kind == "svc" else "R²"
    return {"measure": measure, "complete": bool(found.search_complete_), **facts}


def _given(machine: Any) -> dict[str, Any]:
    """Return the parameters of a machine that a search takes as they are."""
    kind = BudgetSVCCV if hasattr(machine, "class_weight") else BudgetSVRCV
    own = {*kind._get_param_names()} - {"budget", "verbose"}
    given = machine.get_params(deep=False)
    return {name: value for name, value in given.items() if name in own}


def _unit_of_C(kind: str, y: Any) -> float:
    """Return what C has to be multiplied by to be that of LIBSVM: there it is in the units of the targets."""
    if kind == "svc":
        return 1.0
    targets = np.asarray(y, float)[:, np.newaxis]
    return float(TargetScale.of(targets, np.ones(len(targets))).scale[0])


def _Cs(options: dict[str, Any], machine: Any, unit: float) -> Any:
    wanted = options["log2c"]
    if wanted is None:
        return _VALUES
    return [machine.C] if wanted == NULL else [C / unit for C in wanted]


def _gammas(options: dict[str, Any]) -> Any:
    wanted = options["log2g"]
    if options["kernel"] == "linear":
        if wanted not in (None, NULL):
            raise click.UsageError("--log2g is for kernels with a gamma, and -t 0 has none")
        return None
    if wanted is None:
        return _VALUES
    return [options["gamma"]] if wanted == NULL else [*wanted]


def _budget(options: dict[str, Any], machine: Any, X: Any, y: Any) -> Any:
    """Return the budgets to search among, or the only one: if nobody says it, that for these rows."""
    wanted = options["budgets"]
    if wanted is not None:
        return wanted if wanted == "auto" else [*wanted]
    given = options["budget"]
    return candidates(machine, X, y, None).usual if given == "auto" else given


def _facts(results: dict[str, Any], best: int, unit: float) -> dict[str, Any]:
    cells = [_cell(results, k, unit) for k in range(len(results["params"]))]
    return {"best": cells[best], "cells": cells}


def _cell(results: dict[str, NDArray[Any]], k: int, unit: float) -> dict[str, Any]:
    own = results["params"][k]
    cell = {"C": float(own["C"]) * unit}
    cell |= {name: own[name] for name in ("gamma", "budget") if name in own}
    return cell | {
        "score": float(results["mean_test_score"][k]),
        "deviation": float(results["std_test_score"][k]),
        "folds": int(results["n_splits"][k]),
        "rows": int(results["n_rows"][k]),
    }

"""Tables that the defaults of a classifier rest on.

    BUDGETSVM_DATA=... python -m experiments.defaults bias      # two classes: a bias, or none
    BUDGETSVM_DATA=... python -m experiments.defaults classes   # many classes: which problem, loss and bias
    BUDGETSVM_DATA=... python -m experiments.defaults grid      # C × gamma against SVC
    BUDGETSVM_DATA=... python -m experiments.defaults ties      # what decides where classes win equally many pairs

Accuracies on test rows in percent, with C = 1 and, under --tuned, the best of some C by cross-validation on
a part of the rows; CPU seconds of a fit and of a prediction, in one thread.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from itertools import product
from time import process_time
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before NumPy is there
    os.environ.setdefault(_name, "1")

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from budgetsvm import BudgetSVC
from experiments.defaults.data import GRID, MANY, TWO, Split
from experiments.defaults.tied import print_rules
from experiments.defaults.tied_sets import SETS

_SEEDS = 3
_CS = [0.1, 1.0, 10.0, 100.0]
_TUNING_ROWS = 2000
_EXPONENTS = range(-3, 4)


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=["bias", "classes", "grid", "ties"])
    parser.add_argument("--tuned", action="store_true", help="choose C, too")
    parser.add_argument(
        "--only", default="", help="data sets, e.g. letter,usps; of ties, with semicolons"
    )
    parser.add_argument("--budget", type=int, default=500, help="of the grid")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sets: dict[str, Any] = {"bias": TWO, "classes": MANY, "grid": GRID, "ties": SETS}[given.table]
    separator = ";" if given.table == "ties" else ","
    only = given.only.split(separator)
    chosen = {name: make for name, make in sets.items() if not given.only or name in only}
    for name, make in chosen.items():
        if given.table == "ties":
            print_rules(name, *make())
        elif given.table == "grid":
            print_grid(name, make(), given.budget)
        else:
            print_machines(name, make(), machines(given.table), tuned=given.tuned)


def machines(table: str) -> dict[str, Any]:
    """Return what is compared."""
    found: dict[str, Any] = {"SVC": SVC()}
    kinds = ("ovr", "ovo") if table == "classes" else ("ovo",)
    for kind, loss, bias in product(kinds, ("hinge", "squared_hinge"), (False, True)):
        options: dict[str, Any] = {"multi_class": kind, "loss": loss, "fit_intercept": bias}
        found[f"{kind} {loss}{' bias' if bias else ''}"] = BudgetSVC(n_jobs=1, **options)
    if table == "classes":
        joint = BudgetSVC(n_jobs=1, multi_class="weston-watkins")
        found["weston-watkins"] = joint.set_params(fit_intercept=False)
        found["weston-watkins bias"] = clone(joint).set_params(fit_intercept=True)
    return found


def print_machines(name: str, data: Split, given: dict[str, Any], *, tuned: bool) -> None:
    """Print a line for every machine."""
    print(f"\n{name}: {data.X.shape[0]} x {data.X.shape[1]}, {len(np.unique(data.y))} classes")
    for title, machine in given.items():
        accuracy, seconds, prediction, terms = measured(machine, data, tuned=tuned)
        print(
            f"  {title:24} {accuracy:6.2f} {seconds:7.2f} s {prediction:6.2f} s {terms:6d} terms",
            flush=True,
        )


def measured(machine: Any, data: Split, *, tuned: bool) -> tuple[float, float, float, int]:
    """Return accuracy, seconds of a fit and a prediction, and terms; the means over some seeds."""
    if tuned:
        few = np.random.default_rng(0).permutation(len(data.y))[:_TUNING_ROWS]
        search = GridSearchCV(machine, {"C": _CS}, cv=3).fit(data.X[few], data.y[few])
        machine = clone(machine).set_params(**search.best_params_)
    results = []
    for seed in range(_SEEDS if isinstance(machine, BudgetSVC) else 1):
        one = clone(machine).set_params(random_state=seed)
        times = [process_time()]
        one.fit(data.X, data.y)
        times.append(process_time())
        accuracy = 100 * float(np.mean(one.predict(data.T) == data.t))
        times.append(process_time())
        results.append((accuracy, *np.diff(times), len(one.support_vectors_)))
    accuracy, seconds, prediction, terms = np.mean(results, axis=0)
    return accuracy, seconds, prediction, int(terms)


def print_grid(name: str, data: Split, budget: int) -> None:
    """Print how much better than SVC the default is, in points; rows: gamma, columns: C."""
    print(f"\n{name}, points better than SVC; C from 1e-3 to 1e3, gamma downwards from 1e-3 to 1e3")
    cells = np.array(list(differences(data, budget))).reshape(len(_EXPONENTS), len(_EXPONENTS))
    for row in cells:
        print("  " + " ".join(f"{cell:+6.1f}" for cell in row))
    print(f"  worst {cells.min():+.1f}, mean {cells.mean():+.2f}", flush=True)


def differences(data: Split, budget: int) -> Iterator[float]:
    """Compare with SVC, for one gamma and C after the other."""
    for gamma, C in product(_EXPONENTS, _EXPONENTS):
        options = {"C": 10.0**C, "gamma": 10.0**gamma}
        theirs, ours = SVC(**options), BudgetSVC(budget=budget, random_state=0, n_jobs=1, **options)
        scores = [machine.fit(data.X, data.y).score(data.T, data.t) for machine in (theirs, ours)]
        yield 100 * (scores[1] - scores[0])


if __name__ == "__main__":
    main()

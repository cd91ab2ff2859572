"""Small data and single rows, where what surrounds the work takes longer than the work: against SVC."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.measuring.timing import alternate, clock_with_threads, load_average
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record
from budgetsvm import BudgetSVC

TITLE = "Small data"
_FEW_ROWS, _RATIO_OF_FEW, _RATIO = 2000, 3.0, 1.0
_MOST_US = 150  # for a row
_RUNS_PER_REPEAT, _PREDICTIONS = 3, 200
_COLUMNS = (
    Column("data", "data", width=10, left=True),
    Column("rows", "rows", width=6),
    Column("fit ms", "fit_ms", ".1f", width=7),
    Column("SVC ms", "svc_ms", ".1f", width=7),
    Column("ratio", "ratio", ".2f"),
    Column("at most", "target"),
    Column("", "verdict", width=6, left=True),
    Column("µs for a row", "row_us", ".0f"),
    Column("SVC", "svc_row_us", ".0f"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "fit with all defaults but n_jobs=1 on standardised features, and predict of one row, again and again; "
    "SVC with all defaults. Runs in turn; the fastest counts."
)
_Data = tuple[Any, Any]


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set of the folder is measured: none is."""
    return False


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Measure what comes with scikit-learn, and some of its artificial data."""
    table = record.table(TITLE, _COLUMNS, _NOTE)
    for name, load in _DATA.items():
        row = _measure(record, name, load(), options.repeat)
        few = row["rows"] <= _FEW_ROWS
        row["target"] = _RATIO_OF_FEW if few else _RATIO
        fits = row["ratio"] <= row["target"] and row["row_us"] <= _MOST_US
        row["verdict"] = record.target(
            fits,
            f"{name}: {row['ratio']:.2f} of the time of SVC, at most {row['target']:g}; "
            f"{row['row_us']:.0f} µs for a row, at most {_MOST_US}",
        )
        table.add(row)


def _artificial(rows: int) -> _Data:
    return make_classification(rows, 20, random_state=0)  # type: ignore[no-any-return]


_DATA: dict[str, Callable[[], _Data]] = {
    "iris": partial(load_iris, return_X_y=True),
    "cancer": partial(load_breast_cancer, return_X_y=True),
    "digits": partial(load_digits, return_X_y=True),
    **{f"{rows} × 20": partial(_artificial, rows) for rows in (1000, 2000, 5000)},
}


def _measure(record: Record, name: str, data: _Data, repeat: int) -> dict[str, Any]:
    X, y = StandardScaler().fit_transform(data[0]), data[1]
    ours, theirs = BudgetSVC(n_jobs=1, random_state=0).fit(X, y), SVC().fit(X, y)
    worse = theirs.score(X, y) - ours.score(X, y)
    record.check(worse < 0.02, f"{name}: SVC is right {worse:.1%} more often")
    actions: dict[str, Callable[[], object]] = {
        "budgetsvm": partial(ours.fit, X, y),
        "SVC": partial(theirs.fit, X, y),
        "budgetsvm, a row": partial(_predict_one, ours, X[:1]),
        "SVC, a row": partial(_predict_one, theirs, X[:1]),
    }
    clocks = {key: partial(clock_with_threads, action, 1) for key, action in actions.items()}
    times = alternate(clocks, _RUNS_PER_REPEAT * repeat, name)
    best = {key: one.best for key, one in times.items()}
    return {
        "data": name,
        "rows": len(y),
        "fit_ms": 1e3 * best["budgetsvm"],
        "svc_ms": 1e3 * best["SVC"],
        "ratio": best["budgetsvm"] / best["SVC"],
        "row_us": 1e6 * best["budgetsvm, a row"] / _PREDICTIONS,
        "svc_row_us": 1e6 * best["SVC, a row"] / _PREDICTIONS,
        "load": load_average(),
    }


def _predict_one(model: Any, row: Any) -> Any:
    labels = [model.predict(row) for _ in range(_PREDICTIONS)]
    return np.concatenate(labels)

"""The defaults against those of SVC and SVR, in cross-validation on fifty data sets: scores and seconds."""

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from benchmarks.defaults.data import DataSet, all_sets
from benchmarks.measuring.memory import keep_memory
from benchmarks.measuring.timing import limited_threads, load_average
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record, status
from budgetsvm import BudgetSVC, BudgetSVR

TITLE = "Defaults"
_FOLDS = 5
_MOST_LOST, _OF_MANY_CLASSES, _MANY_CLASSES = 0.5, 0.7, 10  # points; and of more classes than that
_TIE = 0.1  # points
_MOST_TIME = 0.2  # of the seconds of the others, over all
_COLUMNS = (
    Column("data", "data", width=17, left=True),
    Column("rows", "rows", width=6),
    Column("features", "features"),
    Column("classes", "classes"),
    Column("SVC", "exact", ".2f", width=6),
    Column("budgetsvm", "score", ".2f"),
    Column("difference", "difference", "+.2f"),
    Column("±", "error", ".2f", width=4),
    Column("", "verdict", width=6, left=True),
    Column("SVC s", "exact_seconds", ".2f", width=6),
    Column("s", "seconds", ".2f", width=6),
    Column("ratio", "ratio", ".2f"),
    Column("predict", "predict_ratio", ".2f"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    f"All defaults on both sides, behind a StandardScaler; regression (no classes): SVR, targets standardised. Means over {_FOLDS} "
    "folds, shuffled, the same for both. Points: 100 × accuracy or R²; ±: the standard error of the difference. "
    "Processor seconds of a fit, one thread, in a process that keeps the memory that it has had; predict: the ratio of those of predictions."
)


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set of the usual ones is measured: none is."""
    return False


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Measure all data sets that are at hand."""

    def missing(text: str) -> None:
        record.missing.append(text)
        print(f"MISSING: {text}")

    if not keep_memory():
        print("memory is given back after each fit")
    named = os.environ.get("BUDGETSVM_DATA")
    rows, table = [], record.table(TITLE, _COLUMNS, _NOTE)
    for data in all_sets(Path(named) if named else None, missing):
        row = measure(data)
        row["verdict"] = _judge(record, row)
        table.add(row)
        rows.append(row)
    _summarise(record, rows)


def measure(data: DataSet) -> dict[str, Any]:
    """Return the scores of both machines in all folds, and their means."""
    X, y = data.read()
    folds = (KFold if data.regression else StratifiedKFold)(_FOLDS, shuffle=True, random_state=0)
    found: dict[str, list[tuple[float, float, float]]] = {"exact": [], "ours": []}
    with limited_threads(1):
        for k, (train, test) in enumerate(folds.split(X, y)):
            for who, results in found.items():
                status(f"{data.name}: {who}, fold {k + 1} of {_FOLDS}")
                model = machine(exact=who == "exact", regression=data.regression, seed=k)
                results.append(_trained(model, X[train], y[train], X[test], y[test]))
    exact, ours = (np.array(found[who]) for who in ("exact", "ours"))
    differences = ours[:, 0] - exact[:, 0]
    _, fit_ratio, predict_ratio = ours.sum(axis=0) / exact.sum(axis=0)
    return {
        "data": data.name,
        "rows": len(y),
        "features": X.shape[1],
        "classes": None if data.regression else len(np.unique(y)),
        "exact": float(exact[:, 0].mean()),
        "score": float(ours[:, 0].mean()),
        "difference": float(differences.mean()),
        "error": float(differences.std(ddof=1) / np.sqrt(_FOLDS)),
        "exact_seconds": float(exact[:, 1].mean()),
        "seconds": float(ours[:, 1].mean()),
        "ratio": float(fit_ratio),
        "predict_ratio": float(predict_ratio),
        "load": load_average(),
        "folds": found,
    }


def machine(*, exact: bool, regression: bool, seed: int) -> Any:
    """Return a machine as a newcomer makes it: a scaler, and defaults; the seed makes figures come out again.

    Ours has one thread, as theirs has: two of them would take more seconds of the processor, though less of a clock.
    """
    ours = {"random_state": seed, "n_jobs": 1}
    if not regression:
        return make_pipeline(StandardScaler(), SVC() if exact else BudgetSVC(**ours))
    inner = make_pipeline(StandardScaler(), SVR() if exact else BudgetSVR(**ours))
    return TransformedTargetRegressor(inner, transformer=StandardScaler())


def _trained(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, float, float]:
    """Return the points of a model on test rows, and the seconds of its fit and of the predictions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = process_time()
        model.fit(X, y)
        fitted = process_time()
    score = 100 * float(model.score(X_test, y_test))
    return score, fitted - start, process_time() - fitted


def _judge(record: Record, row: dict[str, Any]) -> str:
    """Mark a data set on which too much is lost."""
    most = _OF_MANY_CLASSES if (row["classes"] or 0) > _MANY_CLASSES else _MOST_LOST
    lost = -row["difference"]
    return record.target(
        lost <= most, f"{row['data']}: {lost:.2f} points less than SVC or SVR, at most {most}"
    )


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return what is to be said of all data sets together."""
    differences = np.array([row["difference"] for row in rows])
    seconds, exact = (sum(row[key] for row in rows) for key in ("seconds", "exact_seconds"))
    return {
        "wins": int((differences > _TIE).sum()),
        "ties": int((abs(differences) <= _TIE).sum()),
        "losses": int((differences < -_TIE).sum()),
        "worst": float(differences.min()),
        "mean": float(differences.mean()),
        "ratio": seconds / exact,
    }


def _summarise(record: Record, rows: Sequence[dict[str, Any]]) -> None:
    """Add all data sets together."""
    found = summary(rows)
    columns = (
        Column("wins", "wins"),
        Column(f"ties (≤ {_TIE})", "ties"),
        Column("losses", "losses"),
        Column("worst", "worst", "+.2f"),
        Column("mean", "mean", "+.3f"),
        Column("", "mean_verdict", width=6, left=True),
        Column("seconds, of SVC's", "ratio", ".3f"),
        Column("", "ratio_verdict", width=6, left=True),
    )
    mean, ratio = found["mean"], found["ratio"]
    table = record.table(f"{TITLE}: all {len(rows)} data sets", columns)
    table.add(
        {
            **found,
            "mean_verdict": record.target(mean >= 0, f"{mean:+.3f} points on average, at least 0"),
            "ratio_verdict": record.target(
                ratio <= _MOST_TIME, f"{ratio:.2f} of the seconds, at most {_MOST_TIME}"
            ),
        }
    )

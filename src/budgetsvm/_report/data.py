"""The section of the data: rows, features, classes or targets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._diagnosis.subject import Subject
from budgetsvm._report.html import Html, element, facts, join, note, section, table
from budgetsvm._report.numbers import share, short, whole

_SAMPLE = 20_000  # rows
_FEATURES, _CLASSES = 12, 30  # shown


def data_section(subject: Subject) -> Html:
    """Return what the rows are."""
    inside = facts(_shape(subject))
    if subject.classifies:
        both = (element("div", part) for part in (inside, _classes(subject)))
        inside = element("div", *both, class_="columns")
    targets = _targets(subject) if subject.regresses else join()
    return section(
        "data", "Data", inside, targets, _features(subject) if subject.has_features else join()
    )


def _shape(subject: Subject) -> list[tuple[str, object]]:
    X, machine = subject.X, subject.machine
    found: list[tuple[str, object]] = [("rows of this report", whole(len(subject)))]
    found.append(("rows of training", whole(machine.shape_fit_[0])))
    if not subject.has_features:
        return [*found, ("features", "none: kernel values, or objects")]
    found.append(("features", whole(X.shape[1])))
    if sparse.issparse(X):
        entries = X.nnz / max(1, X.shape[0] * X.shape[1])
        found.append(("storage", f"sparse, {share(entries)} of all values"))
    else:
        found.append(("storage", f"dense, {X.dtype}"))
    if subject.scaled_by:
        found.append(("scaled by", subject.scaled_by))
    return found


def _classes(subject: Subject) -> Html:
    """Return how many rows classes have, and how many of them are found."""
    assert subject.y is not None
    labels = subject.labels
    true, told = (np.searchsorted(labels, one) for one in (subject.y, subject.predicted))
    rows, said = (np.bincount(one, minlength=len(labels)) for one in (true, told))
    right = np.bincount(true[true == told], minlength=len(labels))
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, precision = right / rows, right / said
    order = np.argsort(np.nan_to_num(recall, nan=2.0), kind="stable")
    shown = np.sort(order[:_CLASSES])
    lines = [
        (
            str(labels[k]),
            whole(rows[k]),
            share(rows[k] / len(subject)),
            _rate(recall[k]),
            _rate(precision[k]),
        )
        for k in shown
    ]
    rest = len(labels) - len(shown)
    more = (
        note(f"The {len(shown)} classes with the lowest recall; {rest} more.") if rest else join()
    )
    return join(table(("class", "rows", "share", "recall", "precision"), lines, kind="tight"), more)


def _rate(value: float) -> str:
    return share(value) if np.isfinite(value) else "–"


def _targets(subject: Subject) -> Html:
    """Return where targets lie."""
    columns = np.atleast_2d(np.asarray(subject.y, float).T)
    lines = [
        (f"{k}", *(short(one) for one in (y.mean(), y.std(), y.min(), np.median(y), y.max())))
        for k, y in enumerate(columns[:_CLASSES])
    ]
    return table(("target", "mean", "deviation", "least", "median", "largest"), lines)


def _features(subject: Subject) -> Html:
    """Return the features with the largest spreads."""
    rows = subject.sample(_SAMPLE)
    mean, deviation, least, most, zeros = _columns(subject.X[rows])
    order = np.argsort(-deviation, kind="stable")[:_FEATURES]
    lines = [
        (
            subject.names[k] if subject.names else str(k),
            *(short(float(one[k])) for one in (mean, deviation, least, most)),
            share(float(zeros[k])),
        )
        for k in order
    ]
    words = (
        "Features"
        if len(lines) == len(mean)
        else f"The {len(lines)} features with the largest deviation"
    )
    behind = f", behind {subject.scaled_by}" if subject.scaled_by else ""
    return join(
        element("h3", f"{words}{behind}"),
        table(("feature", "mean", "deviation", "least", "largest", "zeros"), lines),
    )


def _columns(X: Any) -> tuple[NDArray[Any], ...]:
    """Return mean, deviation, least, largest value and share of zeros of every feature."""
    n = max(1, X.shape[0])
    if not sparse.issparse(X):
        wide = np.asarray(X, np.float64)
        return (
            wide.mean(axis=0),
            wide.std(axis=0),
            wide.min(axis=0),
            wide.max(axis=0),
            (wide == 0).mean(axis=0),
        )
    columns = sparse.csc_array(X, dtype=np.float64)
    mean = np.asarray(columns.sum(axis=0)).ravel() / n
    square = np.asarray((columns * columns).sum(axis=0)).ravel() / n
    ends = (np.asarray(one.todense()).ravel() for one in (columns.min(axis=0), columns.max(axis=0)))
    return (
        mean,
        np.sqrt(np.maximum(0.0, square - mean**2)),
        *ends,
        1 - np.diff(columns.indptr) / n,
    )

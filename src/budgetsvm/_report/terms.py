"""The section of the terms that matter most on the rows of the report."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._diagnosis.subject import Subject
from budgetsvm._problem.pair_targets import pairs_of
from budgetsvm._report.html import Html, join, note, section, table
from budgetsvm._report.numbers import share, whole

_SAMPLE, _TERMS, _FEATURES = 2000, 10, 3  # rows to look at, terms and features to show


def terms_section(subject: Subject) -> Html:
    """Return the terms with the largest part in the values of the model."""
    size = len(subject.model)
    if size == 0:
        return section(
            "terms", "Terms that matter", note("The model has no terms: it is a constant.")
        )
    parts = _parts(subject)
    order = np.argsort(-parts, kind="stable")
    half = int(np.searchsorted(np.cumsum(parts[order]), 0.5)) + 1
    words = (
        f"Half of all that terms add to the values of the model comes from {whole(min(half, size))} of {whole(size)} terms. "
        "Part: the mean of |β k(x, z)| over rows, as a share of that of all terms."
    )
    shown = order[:_TERMS]
    support = getattr(subject.machine, "support_", None)
    favours, points = _favours(subject), _deviations(subject, shown)
    head = ["term", "part", "speaks for", *(["training row"] if support is not None else [])]
    head += ["where it stands out"] if points else []
    lines = []
    for k, term in enumerate(shown):
        line = [str(int(term)), share(float(parts[term])), favours[int(term)]]
        line += [str(int(support[term]))] if support is not None else []
        lines.append([*line, *([points[k]] if points else [])])
    explained = note(
        "Features in which the point of the term is farthest from the mean row, in deviations."
    )
    return section(
        "terms",
        "Terms that matter",
        note(words),
        table(head, lines),
        explained if points else join(),
    )


def _parts(subject: Subject) -> NDArray[np.float64]:
    """Return the share that every term has in the values of the model."""
    model = subject.model
    values = model.kernel_values(subject.X[subject.sample(_SAMPLE)], subject.threads)
    sizes = np.linalg.norm(model.coef, axis=0) * abs(values.astype(np.float64)).mean(axis=0)
    return np.asarray(sizes / max(float(sizes.sum()), np.finfo(float).tiny))


def _favours(subject: Subject) -> list[str]:
    """Return which class, or direction, every term speaks for where its kernel value is positive."""
    coef, machine = subject.model.coef, subject.machine
    if subject.classifies:
        return [str(machine.classes_[k]) for k in _votes(subject).argmax(axis=0)]
    if not subject.regresses:
        return ["like training" if one > 0 else "outlier" for one in coef[0]]
    if len(coef) > 1:
        return [f"target {k}" for k in abs(coef).argmax(axis=0)]
    return ["more" if one > 0 else "less" for one in coef[0]]


def _votes(subject: Subject) -> NDArray[np.float64]:
    """Return how much every term adds to every class, (classes, terms)."""
    coef, count = subject.model.coef, len(subject.machine.classes_)
    if len(coef) == 1:
        return np.vstack([-coef, coef])
    if not subject.machine._pairwise:
        return coef
    votes = np.zeros((count, coef.shape[1]))
    for (first, second), one in zip(pairs_of(count), coef, strict=True):
        votes[first] += one
        votes[second] -= one
    return votes


def _deviations(subject: Subject, terms: NDArray[Any]) -> list[str]:
    """Return the features in which the points of terms are farthest from the mean row; none where there are no features."""
    if not subject.has_features:
        return []
    X = subject.X[subject.sample(_SAMPLE)]
    points = subject.model.original_points()[terms]
    if sparse.issparse(X):
        return [_largest_entries(subject, points, k) for k in range(len(terms))]
    X = np.asarray(X, np.float64)
    points = points.toarray() if sparse.issparse(points) else points
    spread = X.std(axis=0)
    away = np.where(spread > 0, (points - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), 0.0)
    found = []
    for row in away:
        farthest = np.argsort(-abs(row), kind="stable")[:_FEATURES]
        found.append(
            ", ".join(f"{_name(subject, k)} {row[k]:+.1f}σ".replace("-", "−") for k in farthest)
        )
    return found


def _largest_entries(subject: Subject, points: Any, k: int) -> str:
    """Return the largest entries of a point, of rows that are sparse."""
    row = (
        sparse.csr_array(points[[k]])
        if sparse.issparse(points)
        else sparse.csr_array(points[k : k + 1])
    )
    farthest = np.argsort(-abs(row.data), kind="stable")[:_FEATURES]
    return ", ".join(f"{_name(subject, row.indices[j])} = {row.data[j]:.3g}" for j in farthest)


def _name(subject: Subject, feature: int) -> str:
    return subject.names[feature] if subject.names else f"feature {feature}"

"""Checks of the data: features on common scales, classes that are rare, labels that are wrong."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from budgetsvm._diagnosis.finding import Finding, percent, short
from budgetsvm._diagnosis.subject import Subject
from budgetsvm._estimators.familiar.scaling import feature_spreads

_SPREAD_ROWS = 2000
_DWARFS = (
    100.0  # in squared distances, a typical feature then counts a ten thousandth of the largest one
)

_RARE = 0.3  # of an equal share of the rows
_FEWEST = 10  # rows of a class that a recall can be told from
_HALF = 0.5

_REFERENCE, _QUERIES, _EFFORT = 8000, 4000, 1.6e10  # rows, rows to ask about, products of numbers
_MANY, _MORE = 10, 20  # neighbours
_WRONG, _WRONG_MORE, _WRONG_ALONE = 0.05, 0.04, 0.08  # shares; the last where no row has 20 alike
_FEWEST_WRONG, _FEWEST_ALIKE = 10, 30  # rows
_PART = (
    0.4  # of the rows that most neighbours differ from: these are many more where classes overlap
)
_SHOWN = 100


def check_features(subject: Subject) -> Finding | str:
    """Compare the spread of the largest feature with that of a typical one."""
    if not subject.has_features:
        return "rows are known by kernel values alone"
    if subject.X.shape[1] < 2:
        return "there is but one feature"
    found = feature_spreads(subject.X[subject.sample(_SPREAD_ROWS)])
    used = found[found > 0]
    if len(used) < 2:
        return "at most one feature varies"
    largest = int(np.argmax(found))
    others = np.delete(found, largest)
    typical = float(np.median(others[others > 0]))
    ratio = float(found[largest]) / typical
    sentence = f"feature {subject.name(largest)} has a spread of {short(found[largest], 3)}, {short(ratio, 3)} times that of a typical one"
    if ratio < _DWARFS:
        return Finding("features", ratio, sentence)
    remedy = (
        "scale the features first, e.g. by make_pipeline(StandardScaler(), ...): the kernel hardly sees those with small "
        "spreads"
    )
    return Finding("features", ratio, sentence, remedy)


def check_balance(subject: Subject) -> Finding | str:
    """Look for a class that is rare, and hardly ever found, or that has too few rows to tell."""
    if not subject.classifies:
        return "there are no classes"
    assert subject.y is not None
    if len(subject) <= 2 * _FEWEST:
        return "there are too few rows"
    labels = subject.labels  # a class of the model may have no rows here
    codes = np.searchsorted(labels, subject.y)
    counts = np.bincount(codes, minlength=len(labels))
    right = np.bincount(codes, weights=subject.predicted == subject.y, minlength=len(labels))
    shares, recalls = counts / len(subject), right / np.maximum(counts, 1)
    rarest = int(np.argmin(counts))
    rare = shares < _RARE / len(labels)
    missed = rare & (recalls < _HALF) & (counts >= _FEWEST)
    if counts[rarest] < _FEWEST and not missed.any():
        return _scarce(labels, counts, is_rare=bool(rare[rarest]))
    worst = int(np.argmin(np.where(missed, recalls, np.inf))) if missed.any() else rarest
    sentence = (
        f"class {_plain(labels[worst])} has {percent(shares[worst])} of the rows, and of these {percent(recalls[worst])} are "
        "found"
    )
    number = float(shares[worst])
    if not missed.any():
        return Finding("balance", number, sentence)
    remedy = "class_weight='balanced' finds more of them, at the price of false alarms"
    if (getattr(subject.machine, "class_weight_", np.ones(1)) != 1).any():
        remedy = "a larger weight in class_weight finds more of them, at the price of false alarms"
    return Finding("balance", number, sentence, remedy)


def _scarce(labels: NDArray[Any], counts: NDArray[np.int64], *, is_rare: bool) -> Finding | str:
    """Say that classes have too few rows; where all have few it is the sample that is small, and there is no advice."""
    rarest, total = int(np.argmin(counts)), int(counts.sum())
    others = np.count_nonzero(counts < _FEWEST) - 1
    sentence = f"class {_plain(labels[rarest])} has {counts[rarest]} of {total:,} rows, too few to learn or judge anything from"
    if others:
        sentence += f"; {others:,} more have fewer than {_FEWEST}"
    if not is_rare:
        return sentence
    remedy = (
        "collect more rows of it, join it with another class, or leave it out; if training had more of them, look at more "
        "rows"
    )
    return Finding("balance", float(counts[rarest] / total), sentence, remedy)


def check_labels(subject: Subject) -> Finding | str:
    """Estimate the share of wrong labels: of rows whose neighbours all agree, those that do not.

    Where neighbours differ, classes may overlap, and nobody can tell. Where ten of them agree the share of wrong
    labels is what it is elsewhere; what overlap there is vanishes with twenty.
    """
    if not subject.classifies:
        return "there are no labels"
    if not subject.has_features:
        return "rows are known by kernel values alone"
    assert subject.y is not None
    rows = subject.sample(_REFERENCE)
    if len(rows) <= 2 * _MORE:
        return "there are too few rows"
    effort = len(rows) * max(1, subject.X.shape[1])
    asked = _spaced(rows, min(len(rows), _QUERIES, int(_EFFORT / effort) + 1))
    found = _neighbours(subject.X[rows], subject.X[asked], np.searchsorted(rows, asked))
    labels, own = subject.y[rows][found], subject.y[asked]
    alike, share, wrong = _disagreeing(labels[:, :_MANY], own)
    sentence = f"of {alike:,} rows whose {_MANY} nearest neighbours have one label, {percent(share)} have another"
    if wrong.sum() < _FEWEST_WRONG or not _is_noise(labels, own):
        return Finding("labels", share, sentence)
    remedy = (
        f"about {percent(share)} of the labels seem to be wrong: look at those of `rows`, and prefer a small C, which minds "
        "them less"
    )
    return Finding("labels", share, sentence, remedy, tuple(map(int, asked[wrong][:_SHOWN])))


def _is_noise(labels: NDArray[Any], own: NDArray[Any]) -> bool:
    """Whether rows differ from neighbours that agree for want of right labels, and not since classes overlap."""
    alike, share, _ = _disagreeing(labels[:, :_MANY], own)
    least = share - 2 * float(np.sqrt(share * (1 - share) / max(1, alike)))
    outvoted = ((labels[:, :_MANY] == own[:, np.newaxis]).mean(axis=1) < _HALF).mean()
    if share < _PART * outvoted:
        return False
    more, more_share, _ = _disagreeing(labels, own)
    return (
        least > _WRONG_ALONE
        if more < _FEWEST_ALIKE
        else least > _WRONG and more_share > _WRONG_MORE
    )


def _plain(label: Any) -> str:
    """Return a label as users write it."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def _spaced(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return so many of the rows, from all over."""
    return rows[np.linspace(0, len(rows) - 1, count).astype(np.intp)]


def _neighbours(X: Any, asked: Any, own: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the nearest rows of X, without the row itself, whose number is `own`."""
    search = NearestNeighbors(n_neighbors=_MORE + 1, algorithm="brute", n_jobs=1).fit(X)
    found = search.kneighbors(asked, return_distance=False)
    # Of several equal rows, the row itself need not be the first; then the last one is left out.
    itself = found == own[:, np.newaxis]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(found[~itself].reshape(len(found), _MORE))


def _disagreeing(labels: NDArray[Any], own: NDArray[Any]) -> tuple[int, float, NDArray[np.bool_]]:
    """Return how many rows have neighbours of one label, the share of these with another, and which they are."""
    alike = (labels == labels[:, :1]).all(axis=1)
    wrong = alike & (labels[:, 0] != own)
    count = int(alike.sum())
    return count, float(wrong.sum() / max(1, count)), wrong

"""Checks of the budget: whether the curve of scores still rises, or more terms help on rows held out."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from budgetsvm._diagnosis.finding import Finding, percent
from budgetsvm._diagnosis.subject import Subject
from budgetsvm._estimators.fitting.training import FULL

_FULL_UP = 0.9  # of the budget: a model that has fewer terms needs no more
_SAMPLE = 6000  # rows, half of them to train on
_FEWEST = 100  # rows to train on
_TIMES, _LEAST_MORE, _MOST_MORE = (
    4,
    200,
    1000,
)  # as many terms; so many beside them, at least and at most
_MOST_OUTPUTS = 1000  # of pairs of classes, each of which takes its time
_GAIN, _ERRORS = 0.005, 3  # of the rows, or of the variance; in standard errors
_RISING = 0.002  # of the score


def check_budget(subject: Subject) -> Finding | str:
    """Go by the curve of a search if there is one, or else by a trial."""
    if getattr(subject.machine, "certifies_", None) == FULL:
        return Finding(
            "budget", 0.0, f"{len(subject.model):,} terms are all that the full problem needs"
        )
    curve = getattr(subject.search, "budget_curve_", None)
    if curve is not None and len(curve["budget"]) > 1:
        return _of_curve(curve)
    return _of_trial(subject)


def _of_curve(curve: dict[str, NDArray[Any]]) -> Finding:
    """Whether the largest budget was the best, and by how much."""
    budgets, scores = curve["budget"], curve["mean_test_score"]
    last, before = float(scores[-1]), float(scores[:-1].max())
    rise = last - before
    sentence = f"from {budgets[-2]:,} to {budgets[-1]:,} terms, the score on rows held out goes from {scores[-2]:.4g} to {last:.4g}"
    if rise <= _RISING * max(abs(last), 0.5):
        return Finding("budget", rise, sentence)
    remedy = f"the curve still rises: try a budget of {2 * int(budgets[-1]):,}"
    return Finding("budget", rise, sentence, remedy)


def _of_trial(subject: Subject) -> Finding | str:
    """Solve the problem with the terms and with several times as many, and compare both on rows held out."""
    size = len(subject.model)
    why = _no_trial(subject, size)
    if why:
        return why
    if size < _FULL_UP * subject.machine.budget_:
        return Finding(
            "budget",
            0.0,
            f"{size:,} terms, fewer than the budget of {subject.machine.budget_:,}, are enough",
        )
    rows = np.random.default_rng(0).permutation(subject.sample(_SAMPLE))
    halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    if subject.classifies and not all(_has_all_classes(subject, half) for half in halves):
        return "there are too few rows of some classes"
    both = [_gains(subject, *halves), _gains(subject, *halves[::-1])]
    gains = np.concatenate([found for found, _ in both])
    gain, error = float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
    return _told(subject, gain, error, both[0][1])


def _has_all_classes(subject: Subject, rows: NDArray[np.int64]) -> bool:
    assert subject.y is not None
    return bool(np.isin(subject.machine.classes_, subject.y[rows]).all())


def _gains(
    subject: Subject, used: NDArray[np.int64], held: NDArray[np.int64]
) -> tuple[NDArray[np.float64], int]:
    """Return what more terms gain on every row held out, and how many there are then."""
    own, size = subject.machine.support_vectors_, len(subject.model)
    wanted = min(max((_TIMES - 1) * size, _LEAST_MORE), _MOST_MORE)
    count = min(wanted, len(used) // 2)
    more = _joined(own, subject.X[used[:count]])
    with_own, with_more = (_correctness(subject, Z, used, held) for Z in (own, more))
    return with_more - with_own, int(more.shape[0])


def _told(subject: Subject, gain: float, error: float, count: int) -> Finding:
    """Put the gain in words."""
    size = len(subject.model)
    what = (
        "of the rows held out are right" if subject.classifies else "of the variance is explained"
    )
    word = "more" if gain >= 0 else "less"
    sentence = f"with {count:,} terms in the place of {size:,}, {percent(abs(gain))} {word} {what}"
    merges = sum(one["merges"] for one in subject.machine.history_)
    visits = sum(one["visits"] for one in subject.machine.history_)
    if visits:
        sentence += f"; maintenance ran in {percent(merges / visits)} of the visits of phase 1"
    if gain <= max(_GAIN, _ERRORS * error):
        return Finding("budget", gain, sentence)
    return Finding("budget", gain, sentence, f"raise the budget: try {count:,}")


def _no_trial(subject: Subject, size: int) -> str:
    """Return why there can be no trial, if so."""
    machine = subject.machine
    if not (subject.classifies or subject.regresses):
        return "of one class, there is no score to go by"
    if not subject.has_features or subject.model.kernel.in_python:
        return "the kernel is a function in Python, or precomputed"
    if machine.budget_ is None:
        return "there is none"
    if size == 0:
        return "the model has no terms"
    if min(len(subject), _SAMPLE) < 2 * _FEWEST:
        return "there are too few rows"
    return "there are too many outputs" if len(subject.model.coef) > _MOST_OUTPUTS else ""


def _joined(points: Any, rows: Any) -> Any:
    """Return both as points."""
    if sparse.issparse(points) or sparse.issparse(rows):
        return sparse.vstack([sparse.csr_array(points), sparse.csr_array(rows)]).tocsr()
    return np.concatenate([points, rows])


def _correctness(
    subject: Subject, points: Any, used: NDArray[np.int64], held: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return of every row held out whether it is right or, in a regression, its share of what is explained."""
    assert subject.y is not None
    changed = {
        "kernel": subject.model.kernel,
        "C": getattr(subject.machine, "C_", subject.machine.C),
        "basis": points,
        "budget": int(points.shape[0]),
    }
    kind: Any = type(subject.machine)
    machine = kind(**{**subject.machine.get_params(deep=False), **_PLAIN, **changed})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(subject.X[used], subject.y[used])
    found, y = machine.predict(subject.X[held]), subject.y[held]
    if subject.classifies:
        return np.asarray(found == y, np.float64)
    unit = np.where(y.any(axis=0), np.abs(y).max(axis=0), 1.0)  # whose squares are numbers
    y, found = y / unit, found / unit
    errors, spread = (found - y) ** 2, np.maximum(y.var(axis=0), np.finfo(float).tiny)
    return -np.asarray(np.atleast_2d((errors / spread).T).mean(axis=0))


_PLAIN: dict[str, Any] = {
    "gamma": "scale",  # that of the kernel is known
    "polish": True,
    "early_stopping": False,
    "warm_start": False,
    "monitor": None,
    "random_state": 0,
    "verbose": 0,
}

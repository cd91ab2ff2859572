"""Checks of the kernel: whether it tells rows apart, and whether terms see all rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._diagnosis.finding import Finding, percent
from budgetsvm._diagnosis.subject import Subject
from budgetsvm._problem.points import points_of
from budgetsvm._problem.rows import Rows
from budgetsvm.kernels import Kernel

_QUERIES, _REFERENCE = 400, 16_000  # rows, and rows that they are compared with
_EQUAL = 1 - 1e-6  # a kernel value of rows that are the same, in single precision, too
_ISLANDS = 0.01  # the kernel value of a typical row and the one that is nearest to it
_FLAT = 0.9  # of nearly all pairs
_NEARLY_ALL = 0.05  # of the pairs may have less

_SEEN = 0.01  # a kernel value: of the largest coefficient, it adds a hundredth
_LOOKED_AT = 20_000  # rows
_UNSEEN = 0.05
_SHOWN = 100

_FEW, _TRIES, _READABLE, _HALF = 200, 20, 1e-3, 0.5  # rows, gammas, of a kernel value

_NO_DISTANCE = "the kernel is no function of a distance"


def check_gamma(subject: Subject) -> Finding | str:
    """Look at kernel values of pairs of rows: where all are 0 or all are 1, there is nothing to learn from."""
    kernel = subject.model.kernel
    if not kernel.translation_invariant:
        return _NO_DISTANCE
    if len(subject) < 3:
        return "there are too few rows"
    values = _pairs(subject)
    least = float(np.quantile(values[np.isfinite(values)], _NEARLY_ALL))
    if least > _FLAT:
        sentence = f"95 % of the pairs of rows have kernel values above {least:.4g}: gamma={_gamma(kernel)} is small"
        remedy = f"try a larger gamma, {_better(subject)} for a start, or kernel='linear': the kernel is nearly constant"
        return Finding("gamma", least, sentence, remedy)
    nearest = float(np.median(_largest(np.where(values < _EQUAL, values, -np.inf))))
    sentence = f"a typical row and the nearest other one have a kernel value of {nearest:.2g}"
    if nearest >= _ISLANDS:
        return Finding("gamma", nearest, sentence)
    sentence += f": gamma={_gamma(kernel)} is large"
    remedy = (
        f"try a smaller gamma, {_better(subject)} for a start: no row tells anything about others"
    )
    return Finding("gamma", nearest, sentence, remedy)


def check_sight(subject: Subject) -> Finding | str:
    """Count rows of which no term has a kernel value worth mentioning."""
    if not subject.model.kernel.translation_invariant:
        return _NO_DISTANCE
    if not (subject.classifies or subject.regresses):
        return "rows that are far from all others are what a one-class machine is for"
    if len(subject.model) == 0:
        return "the model has no terms"
    rows = subject.sample(_LOOKED_AT)
    unseen = np.zeros(len(rows), np.bool_)
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        values = subject.model.kernel_values(subject.X[part], subject.threads)
        unseen[start : start + 1000] = values.max(axis=1) < _SEEN
    share = float(unseen.mean())
    sentence = f"no term has a kernel value of {_SEEN} or more for {percent(share)} of the rows"
    if share <= _UNSEEN:
        return Finding("sight", share, sentence)
    remedy = (
        "a smaller gamma or a larger budget reach them, if they are like the rows of training: of these rows the model knows "
        "its bias and nothing else"
    )
    return Finding("sight", share, sentence, remedy, tuple(map(int, rows[unseen][:_SHOWN])))


def _pairs(subject: Subject) -> NDArray[np.float64]:
    """Return kernel values of some rows with many others; nan of a row with itself."""
    others = subject.sample(_REFERENCE)
    asked = others[np.linspace(0, len(others) - 1, min(_QUERIES, len(others))).astype(np.intp)]
    values = _kernel_values(subject, subject.model.kernel, asked, others)
    values[np.arange(len(asked)), np.searchsorted(others, asked)] = np.nan
    return values


def _kernel_values(
    subject: Subject, kernel: Kernel, asked: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return k(x, x') of some rows with others."""
    model = subject.model
    rows = Rows(subject.X[asked], model.points.dtype.type, model.centre, model.sparse_points)
    of_rows = replace(model, kernel=kernel).with_points(points_of(rows, np.arange(len(asked))))
    values: NDArray[np.float64] = of_rows.kernel_values(subject.X[others], subject.threads).T
    return values.astype(np.float64)


def _largest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest value of every row, 1 where there is none: all others are the same."""
    largest = np.max(values, axis=1)
    return np.where(np.isfinite(largest), largest, 1.0)


def _gamma(kernel: Any) -> str:
    return f"{kernel.gamma:.3g}"


def _better(subject: Subject) -> str:
    """Return the gamma with which typical rows have a kernel value of exp(-1): k = exp(-gamma t)."""
    kernel: Any = subject.model.kernel
    some, gamma = subject.sample(_FEW), float(kernel.gamma)
    for _ in range(_TRIES):  # until values can be told from 0 and from 1
        values = _kernel_values(subject, replace(kernel, gamma=gamma), some, some)
        middle = float(np.median(values[~np.eye(len(some), dtype=np.bool_)]))
        if _READABLE < middle < 1 - _READABLE:
            break
        gamma *= 100.0 if middle > _HALF else 0.01
    else:
        return "of another order"
    return f"{gamma / -np.log(middle):.2g}"

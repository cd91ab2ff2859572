"""How many terms a model may have where nobody says it, ``budget="auto"``: by how much work the exact machine is.

A fixed number is wrong for somebody's data: where noise makes nearly every row a support vector, and features
that mean nothing make all rows differ, a model of 500 terms lacks what a machine of all rows has, however well the terms are
chosen. But there the machine of all rows takes little time as long as there are not too many of them, and in a span that
has most of the kernel nothing is missing. docs/theory.md, *The default budget*, has figures.
"""

from typing import Any

import numpy as np

from budgetsvm._common.limits import Limits
from budgetsvm._common.memory import LARGEST_LIMIT
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.captured import captured_share
from budgetsvm._problem.pair_targets import PairTargets
from budgetsvm._problem.points import points_of, sparse_pays
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets, Targets
from budgetsvm.kernels import Kernel, Sigmoid
from budgetsvm.losses import EpsilonInsensitive, Hinge

#: Terms that are learned where the number does not depend on the data, as of a stream.
LEARNED = 500
_MORE = 2000  # terms, where those that are learned otherwise have too little of the kernel
# Kernel values of the exact machine, 4 bytes each: so many are nothing to think about, and so many can be had.
_FEW_VALUES, _MOST_VALUES = 5000**2, 20_000**2
_MOST_COEFFICIENTS = 1 << 23  # rows times outputs, of a model that has all rows
_MOST_UNKNOWN = 2000  # rows, of a kernel that has to be looked at whether it is one
# Of the kernel, in the span of some random rows: where nothing is missing, and where a model of all rows cannot be had.
_ALL, _ENOUGH = 0.999, 0.85


def default_budget(X: Any, targets: Targets, kernel: Kernel) -> int:
    """Return the budget for these rows; the same for the same rows and targets, whatever the seed."""
    n = X.shape[0]
    exact = _can_be_exact(targets, kernel)
    if n <= LEARNED or (exact and _of_classes(targets) <= _FEW_VALUES):
        return int(n)
    if not exact or kernel.in_python:
        return LEARNED
    share = _share_of_random_rows(X, kernel)
    if share < _ALL and _values(targets) <= _MOST_VALUES:
        return int(n)
    return LEARNED if share >= _ENOUGH else _MORE


def _can_be_exact(targets: Targets, kernel: Kernel) -> bool:
    """Whether the exact machine is worth it, if there are not too many rows."""
    n = len(targets)
    coupled = isinstance(targets, ClassTargets) and targets.coupled
    known = isinstance(targets.loss, Hinge | EpsilonInsensitive) and not coupled
    # Of fewer rows than twice the terms that would be learned, a model of these is hardly smaller.
    few = n * targets.count <= _MOST_COEFFICIENTS or n <= 2 * LEARNED
    definite = not isinstance(kernel, Sigmoid) and (not kernel.in_python or n <= _MOST_UNKNOWN)
    return known and few and definite


def _values(targets: Targets) -> float:
    """Return how many kernel values the exact machine evaluates, of rows that come into a working set once."""
    shared = isinstance(targets, PairTargets)
    return (1 if shared else targets.count) * float(len(targets)) ** 2


def _of_classes(targets: Targets) -> float:
    """Return how many of them are within a class, and between two: of many pairs, each is a small problem."""
    if not isinstance(targets, PairTargets):
        return _values(targets)
    counts = np.bincount(targets.labels).astype(np.float64)
    return float(counts @ counts + 2 * np.sort(counts)[-2:].prod())


def _share_of_random_rows(X: Any, kernel: Kernel) -> float:
    """Return how much of the kernel lies in the span of as many random rows as terms would be learned."""
    rows = Rows(X, np.float64, None, sparse_pays(X, kernel))
    # Always the same rows, so that the budget is the same for the same data.
    chosen = np.sort(np.random.default_rng(1).choice(len(rows), LEARNED, replace=False))
    limits = Limits(1.0, 1, np.inf, LARGEST_LIMIT, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        return captured_share(rows, Basis.of(points_of(rows, chosen), kernel), limits)

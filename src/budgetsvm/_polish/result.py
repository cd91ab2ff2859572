"""What a polish is asked, what it answers, and what it leaves for whoever wants to check it."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import Limits
from budgetsvm._common.public import public_in
from budgetsvm._polish.basis import Basis
from budgetsvm._problem.points import Points
from budgetsvm._problem.targets import Targets
from budgetsvm.monitoring._observer import FitObserver


@dataclass(frozen=True, eq=False)
class Evidence:
    """Values that the polish worked with, and what the terms left out of its basis would contribute."""

    rows: NDArray[np.int64]  #: a random sample
    values: NDArray[np.float64]  #: f of these rows, (rows, outputs), as the polish computed them
    scale: float  #: what the gap is measured by: nearly always P
    pull: float  #: see `audit.py`
    basis: Basis | None = None  #: of the span, where there is a single output


class StartPoint(NamedTuple):
    """Where to begin with one output: orthonormal coordinates, and a dual point that may not be feasible."""

    w: NDArray[np.float64]
    alpha: NDArray[np.float64] | None
    rough: bool = False  #: it is of another problem, and no more than a direction


@dataclass(frozen=True, eq=False)
class Guess:
    """A function of a single output to begin with that solves no such problem, as that of phase 1."""

    w: NDArray[np.float64]

    def of_output(self, basis: Basis, c: int) -> StartPoint:  # noqa: ARG002 - as of Start
        """Return where to begin."""
        return StartPoint(self.w, None, rough=True)


@dataclass(frozen=True, eq=False)
class Start:
    """Where an earlier polish ended: coefficients of the points it was given, and its dual point."""

    coef: NDArray[np.float64]
    bias: NDArray[np.float64]
    alpha: NDArray[np.float64] | None

    def of_output(self, basis: Basis, c: int) -> StartPoint:
        """Return where to begin with output c."""
        coef, constant = self.coef[c, basis.kept], basis.dimension > len(basis)
        w = basis.coordinates(np.append(coef, self.bias[c]) if constant else coef)
        return StartPoint(w, self.alpha)


@public_in("budgetsvm")
@dataclass(frozen=True, eq=False)
class Polished:
    """The result of phase 2, as :func:`polish` returns it: the model f = Σ_j coef_j k(·, points_j) + bias and its certificate.

    Attributes
    ----------
    points : ndarray or sparse array of shape (n_terms, n_features)
        A linearly independent subset of the points given.
    coef : ndarray of shape (n_outputs, n_terms), or (n_terms,) of a single output from ``polish()``
        Their coefficients.
    bias : ndarray of shape (n_outputs,)
        The constants; zero where there is none.
    alpha : ndarray of shape (n_samples,) or None
        The dual point behind the certificate, where there is a single output.
    primal, dual : float
        P of the model, and D of the dual point: the optimum in the span lies between them. Of several
        outputs, the sums.
    gap : float
        (primal - dual) / primal; infinity where nothing is certified.
    converged : bool
        Whether gap is at most tol; and where even the best model saves little of what a trivial one costs,
        whether the gap is little beside that.
    passes : int
        How often all rows were gone through.
    evidence : None
        What an audit looks at while a fit is running.
    """

    points: Points
    coef: NDArray[np.float64]
    bias: NDArray[np.float64]
    alpha: NDArray[np.float64] | None
    primal: float
    dual: float
    gap: float
    converged: bool
    passes: int
    evidence: Evidence | None = field(default=None, repr=False)


def no_model(targets: Targets, points: Points, *, optimal: bool) -> Polished:
    """Return the model without any of these terms, which is optimal where no term can add anything."""
    total, count = 0.0, targets.count
    for c in range(count):
        single = targets.of_output(c)
        slack = single.slack(np.zeros(len(single)))
        total += single.cost(slack)
    dual, gap = (total, 0.0) if optimal else (0.0, 1.0)
    alpha = single.alpha(slack, 0.0) if optimal and count == 1 else None
    none, coef = points[:0].astype(np.float64), np.zeros((count, 0))
    return Polished(none, coef, np.zeros(count), alpha, total, dual, gap, optimal, 0)


@dataclass(frozen=True, eq=False)
class Solving:
    """How to solve a problem in a span."""

    limits: Limits
    rng: np.random.Generator
    observer: FitObserver = field(default_factory=FitObserver)
    start: Start | Guess | None = None

"""What the theory speaks of, after every visit of a run."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from budgetsvm.monitoring import View
from experiments.theory.dual_progress import Gains
from experiments.theory.small_problems import SmallProblem
from experiments.theory.small_qp import Optimum
from experiments.theory.watching import KernelValues, Setup, watch

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Moment:
    """One state (α, w̃), and what one visit more would bring on average."""

    gap: float  #: D(α*) − D(α)
    primal_gap: float  #: P(w̃) − D(α*): how good the model is
    gain: float  #: expected change of D by the next visit: the mean of J over all coordinates
    exact_gain: float  #: the same, had that visit the exact w(α)
    drift: float  #: expected change of ½‖α − α*‖² by the next visit
    half_distance: float  #: ½‖α − α*‖²
    worst: float  #: E with the minimum of the ratios
    printed: float  #: E with the maximum of the ratios
    mean: float  #: Ē, from sums
    spoils: float  #: whether a visit may spoil a coordinate that is optimal: 1 or 0
    departure: float  #: Σ_i (f̃ − f)(x_i)²
    excess: float  #: largest J(w) − J(w̃) − ½ (f̃ − f)² of a coordinate
    distance: float  #: ‖w̃ − w‖²
    degradation: float  #: sum of the ‖Δw‖² of all merges so far


@dataclass(frozen=True)
class Trajectory:
    """One array per field of `Moment`, from α = 0 on."""

    values: dict[str, Vector]

    def __getitem__(self, name: str) -> Vector:
        return self.values[name]


class _Recorder:
    """Turns what is seen into moments."""

    def __init__(self, problem: SmallProblem, optimum: Optimum) -> None:
        self._problem, self._optimum = problem, optimum
        self._kernel = KernelValues(problem)
        self._alpha = np.zeros(len(problem))
        start = np.empty((0, problem.X.shape[1])), np.empty(0)
        self.moments = [self._moment(self._alpha, *start, 0.0)]

    def look(self, view: View) -> None:
        """Add a moment; a visit that did not move α has not changed the model, either."""
        assert view.alpha is not None
        if np.array_equal(view.alpha, self._alpha):
            self.moments.append(self.moments[-1])
            return
        self._alpha = view.alpha
        points = np.asarray(view.points, dtype=np.float64)
        self.moments.append(self._moment(view.alpha, points, view.coef[0], view.degradation))

    def _moment(self, alpha: Vector, points: Vector, coef: Vector, degradation: float) -> Moment:
        problem, optimum = self._problem, self._optimum
        rows, terms = self._kernel.update(points)
        margin, model_margin = problem.Q @ alpha, problem.y * (rows @ coef)
        gains = Gains.of(problem, alpha, margin, model_margin)
        norm, squared_norm = float(alpha @ margin), float(coef @ terms @ coef)
        away, step = alpha - optimum.alpha, gains.budgeted_step
        hinge = np.maximum(0, 1 - model_margin).sum()
        return Moment(
            gap=optimum.value - (alpha.sum() - norm / 2),
            primal_gap=squared_norm / 2 + problem.C * hinge - optimum.value,
            gain=gains.budgeted.mean(),
            exact_gain=gains.exact.mean(),
            drift=(step * (away + step / 2)).mean(),
            half_distance=float(away @ away) / 2,
            worst=gains.worst_error(),
            printed=gains.printed_error(),
            mean=gains.mean_error(),
            spoils=float(gains.spoils),
            departure=float(gains.departure.sum()),
            excess=gains.excess(),
            distance=max(0.0, norm - 2 * float(alpha @ model_margin) + squared_norm),
            degradation=degradation,
        )


def follow(problem: SmallProblem, optimum: Optimum, setup: Setup) -> Trajectory:
    """Run BSCA and look at every visit."""
    recorder = _Recorder(problem, optimum)
    watch(problem, setup, recorder.look)
    names = [field.name for field in fields(Moment)]
    moments = recorder.moments
    return Trajectory({name: np.array([getattr(m, name) for m in moments]) for name in names})

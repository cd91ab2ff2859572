"""Small problems in the span of a basis, for the tests of phase 2."""

from typing import Any

import numpy as np
from oracles.problems import noisy_xor, weights

from budgetsvm import kernels
from budgetsvm._common.limits import Limits
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.newton.smooth_problem import SmoothProblem
from budgetsvm._polish.polish import kernel_matrix
from budgetsvm._polish.result import Polished, Solving
from budgetsvm._polish.solve import polish_in_span
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets, ManyTargets, SingleTarget, Targets
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredHinge
from budgetsvm.monitoring._observer import FitObserver, PolishMoment

PLENTY, LITTLE = 1e9, 1e4  # bytes: hold the kernel values, compute them in every pass
GAMMA = 0.8
KINDS: dict[str, Loss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "insensitive": EpsilonInsensitive(0.1),
}


class Seen(FitObserver):
    """Writes down all moments of phase 2."""

    def __init__(self) -> None:
        self.moments: list[PolishMoment] = []

    def in_polish(self, moment: PolishMoment) -> None:
        self.moments.append(moment)


def solve_in_span(problem: Problem, basis: Basis, limits: Limits, **options: Any) -> Polished:
    """Solve a problem as the polish of a model does, with random numbers that are always the same."""
    matrix = kernel_matrix(problem, basis, limits)
    return polish_in_span(problem, matrix, Solving(limits, np.random.default_rng(0), **options))


def span_problem(
    C: float = 5.0, seed: int = 0, n: int = 400, memory: float = PLENTY
) -> SpanProblem:
    """Two classes that overlap, with weights, in the span of thirty terms."""
    X, y = noisy_xor(n, seed)
    basis = Basis.of(X[:30].copy(), kernels.Gaussian(0.7))
    matrix = KernelMatrix(Rows(X, np.float64, None), basis, 1, memory)
    box = C * np.random.default_rng(seed).uniform(0.5, 1.5, n)
    return SpanProblem(matrix, SingleTarget.of_labels(y, box))


def smoothed(problem: SpanProblem, width: float) -> SmoothProblem:
    """The smoothed problem of all rows."""
    nothing = np.zeros(problem.matrix.basis.dimension)
    return SmoothProblem(problem.matrix, problem.targets, width, nothing)


def several_outputs(name: str = "hinge", n: int = 300, C: float = 1.0) -> Problem:
    """Four classes, or three targets, around the origin."""
    rng = np.random.default_rng(7)
    X, box = rng.standard_normal((n, 2)), C * weights(n, 3)
    loss = KINDS[name]
    targets: Targets
    if isinstance(loss, EpsilonInsensitive):
        values = np.column_stack([X[:, 0] ** 2, np.sin(2 * X[:, 1]), X[:, 0] * X[:, 1]])
        targets = ManyTargets(box, loss, values + 0.2 * rng.standard_normal((n, 3)))
    else:
        noisy = X + 0.3 * rng.standard_normal((n, 2))
        labels = (2 * (noisy[:, 0] > 0) + (noisy[:, 1] > 0)).astype(np.int32)
        targets = ClassTargets(box, loss, labels, 4)
    return Problem(Rows(X, np.float64, None), targets)


def basis_of(problem: Problem, constant: bool = True) -> Basis:
    """Twenty-five rows of a problem as terms."""
    return Basis.of(problem.rows.X[:25].copy(), kernels.Gaussian(GAMMA), constant=constant)

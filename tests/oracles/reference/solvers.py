"""The solvers: Algorithm 1 (BSCA) and eq. 4 (BSGD)."""

from dataclasses import dataclass, field

import numpy as np
from oracles.reference.maintenance import Maintenance
from oracles.reference.models import (
    Choose,
    Kernel,
    Model,
    Vector,
    argmin,
    decision,
    squared_distance,
)


@dataclass
class Solver:
    """Visits training points one by one. `budget=None` is no limit: one term per training point."""

    kernel: Kernel
    X: Vector
    y: Vector
    C: Vector
    budget: int | None
    maintenance: Maintenance
    model: Model = field(default_factory=list)
    owner: list[int] = field(default_factory=list)  # without a budget: the point behind each term
    t: int = 0
    degradation: float = 0.0  # of the last visit

    def __post_init__(self) -> None:
        self.alpha = np.zeros(len(self.y))

    def margin(self, i: int) -> float:
        """y_i f(x_i)."""
        if not self.model:
            return 0.0
        return float(self.y[i] * decision(self.model, self.kernel, self.X[i])[0])

    def insert(self, i: int, beta: float, choose: Choose, pick: Choose) -> None:
        """M ← M ∪ {(β, x_i)}, then budget maintenance if |M| > B."""
        if self.budget is None:
            if i in self.owner:
                j = self.owner.index(i)
                self.model[j] = (self.model[j][0] + beta, self.X[i])
            else:
                self.owner.append(i)
                self.model.append((beta, self.X[i]))
            return
        self.model.append((beta, self.X[i]))
        if len(self.model) > self.budget:
            before = self.model
            self.model = self.maintenance.reduce(before, self.kernel, choose, pick)
            self.degradation = squared_distance(before, self.model, self.kernel)


class BSCA(Solver):
    """Algorithm 1: budgeted stochastic coordinate ascent."""

    def visit(self, i: int, choose: Choose = argmin, pick: Choose = argmin) -> bool:
        """Lines 4 to 12 for index i. Returns whether there was a step."""
        self.t += 1
        self.degradation = 0.0
        Q_ii = float(self.kernel(self.X[i], self.X[i])[0, 0])
        gradient = 1 - self.margin(i)
        if abs(gradient) <= 1e-12:  # rounding: the point was visited just before
            return False
        clipped = min(max(self.alpha[i] + gradient / Q_ii, 0.0), self.C[i])
        delta = clipped - self.alpha[i]
        if delta == 0:
            return False
        self.alpha[i] = clipped  # not += delta: at its bound it must be equal to the bound
        self.insert(i, self.y[i] * delta, choose, pick)
        return True


class BSGD(Solver):
    """Eq. 4: budgeted stochastic gradient descent."""

    def visit(self, i: int, choose: Choose = argmin, pick: Choose = argmin) -> bool:
        """α ← α − α/t + 1{y f(x_i) < 1} (n C_i / t) e_i, and likewise the model."""
        self.t += 1
        self.degradation = 0.0
        violation = self.margin(i) < 1
        shrink = 1 - 1 / self.t
        self.alpha *= shrink
        self.model = [(shrink * beta, z) for beta, z in self.model]
        if violation:
            gain = len(self.y) * self.C[i] / self.t
            self.alpha[i] += gain
            self.insert(i, self.y[i] * gain, choose, pick)
        return violation

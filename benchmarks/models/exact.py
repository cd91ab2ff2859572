"""An SVM without a bias, solved exactly on a small kernel matrix in float64."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from experiments.exact.projected_newton import BoxProblem, violations
from sklearn.metrics.pairwise import rbf_kernel

# Relative gaps: of a solution that is aimed at, and of one that counts. Where C is huge and the kernel flat, neither
# is reached.
_GAP, _ENOUGH = 1e-5, 1e-3
_MOST_ROUNDS = 5


@dataclass(eq=False)
class ExactSVM:
    """Each class against the rest."""

    C: float
    gamma: float
    gaps: list[float] = field(default_factory=list)

    def fit(self, X: Any, y: Any) -> Self:
        """Solve the dual of every class."""
        self.X, self.classes = X, np.unique(y)
        K = rbf_kernel(X, gamma=self.gamma)
        named = self.classes[1:] if len(self.classes) == 2 else self.classes
        self.coef = np.array([self._solve(K, np.where(y == name, 1.0, -1.0)) for name in named])
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy."""
        # What single precision takes for zero has no sign: far from all rows, double precision still has one.
        values = (rbf_kernel(X, self.X, gamma=self.gamma) @ self.coef.T).astype(np.float32)
        codes = values.argmax(axis=1) if values.shape[1] > 1 else (values[:, 0] > 0).astype(int)
        return float(np.mean(self.classes[codes] == y))

    @property
    def is_solved(self) -> bool:
        """Whether it is close to the optimum."""
        return max(self.gaps) < _ENOUGH

    def _solve(self, K: Any, signs: Any) -> Any:
        Q = signs[:, np.newaxis] * K * signs
        alpha = np.zeros(len(signs))
        for _ in range(_MOST_ROUNDS):
            gradient = 1 - Q @ alpha
            gap = float(violations(alpha, gradient, self.C).sum())
            primal = float(0.5 * alpha @ (1 + gradient)) + gap
            if gap <= _GAP * primal:
                break
            problem = BoxProblem(Q, alpha.copy(), gradient, self.C)
            problem.solve(0.1 * _GAP * primal)
            alpha = problem.a
        self.gaps.append(gap / primal)
        return alpha * signs

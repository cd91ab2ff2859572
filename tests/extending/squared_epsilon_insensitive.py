"""The example of docs/losses.md: a loss as the Python side has it."""
# ruff: noqa: ARG002 - a loss that is smooth does not need all that it is given

from dataclasses import dataclass

import numpy as np

from budgetsvm.losses import Loss


# docs: from here
@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """max(0, |u| - ε)²: regression in which large errors count more."""

    epsilon: float = 0.1
    name = "squared_epsilon_insensitive"
    of_regression = True
    has_kinks = False
    slopes = (-np.finfo(np.float64).max, np.finfo(np.float64).max)

    def value(self, u):
        return np.maximum(0.0, abs(u) - self.epsilon) ** 2

    def slope(self, u, width):
        return 2 * np.sign(u) * np.maximum(0.0, abs(u) - self.epsilon)

    def smoothed(self, u, width):
        return self.value(u)

    def curvature(self, u, width):
        return np.where(abs(u) > self.epsilon, 2.0, 0.0)

    def conjugate(self, share):
        return self.epsilon * abs(share) + share**2 / 4

    def distance(self, u):  # how far u is from where the slope is not constant
        return np.maximum(0.0, self.epsilon - abs(u))

    def unsettled(self, alpha, u, box):  # which rows coordinate ascent has to visit
        return (alpha != 0) | (abs(u) > self.epsilon)

    def core(self):
        return self.name, float(self.epsilon)

"""All losses, and one step of the core for them. A new loss belongs into this list."""

import numpy as np

from budgetsvm import _core
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredHinge

LOSSES: dict[str, Loss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "insensitive": EpsilonInsensitive(0.3),
    "absolute": EpsilonInsensitive(0.0),
}


def epsilon_of(loss: Loss) -> float:
    """The width within which there is no loss; 0 for most."""
    return loss.core()[1]


def core_step(loss: Loss, alpha: float, u: float, curvature: float, C: float) -> float:
    """One step of coordinate ascent, on a problem with one row."""
    variable, one = np.array([alpha]), np.ones(1)
    arrays = (np.ones((1, 1)), np.array([curvature]), one, np.array([u]), np.array([C]))
    _core.ascend(
        loss.core(), *arrays, variable, np.zeros(1), np.zeros(1, np.int64), np.inf, -np.inf
    )
    return float(variable[0])

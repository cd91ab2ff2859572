"""What rows ask of a model: their losses, as functions of their values f."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm.losses import Hinge, Loss

_Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Targets:
    """Signs y, targets and weights C (the *box*) of rows, with their common loss."""

    y: _Vector
    box: _Vector
    loss: Loss
    target: _Vector

    @classmethod
    def of_labels(cls, y: _Vector, box: _Vector, loss: Loss | None = None) -> Self:
        """Return the targets of classification, for labels ±1."""
        loss = loss or Hinge()
        return cls(y, box, loss, np.broadcast_to(loss.target, y.shape))

    def __len__(self) -> int:
        return len(self.y)

    def some(self, chosen: NDArray[np.int64], scale: float = 1.0) -> "Targets":
        """Return those of some rows, with `scale` times their weight."""
        box = scale * self.box[chosen]
        return Targets(self.y[chosen], box, self.loss, self.target[chosen])

    def slack(self, f: _Vector) -> _Vector:
        """Return u for values f."""
        return self.target - self.y * f

    def alpha(self, slack: _Vector, width: float) -> _Vector:
        """Return the dual point that belongs to a slack, where the loss is smoothed over `width`."""
        share = self.loss.slope(slack, width)
        share *= self.box
        return share

    def cost(self, slack: _Vector) -> float:
        """Return Σ_i C_i φ(u_i)."""
        return float(self.box @ self.loss.value(slack))

    def gain(self, alpha: _Vector) -> float:
        """Return the dual objective without its quadratic part, Σ_i target_i α_i - C_i φ*(α_i / C_i)."""
        return float(self.target @ alpha - self.box @ self.loss.conjugate(alpha / self.box))

    def gap(self, slack: _Vector, width: float) -> float:
        """Return Σ_i C_i (φ(u_i) + φ*(s_i) - s_i u_i) for the smoothed slopes s_i."""
        share = self.loss.slope(slack, width)
        gaps = self.loss.value(slack) + self.loss.conjugate(share) - share * slack
        return float(self.box @ gaps)

"""What rows ask of a model: their losses, as functions of their values f.

A model has one output or several, which share its terms: `SingleTarget` are those of one output, `ClassTargets`
and `ManyTargets` make them for one output after the other, so that nothing of size rows × outputs is held
for the classes of a classifier.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.matrices.vectors import pieces
from budgetsvm._problem.giving_way import first_to_give_way
from budgetsvm.losses import Hinge, Loss

_Vector = NDArray[np.float64]
_Matrix = NDArray[np.float64]

_FAR = 20.0  # times the scale of the targets
_LEAST_SAVED = 1e-3  # of P: who saves less saves nothing
_OF_SAVED = 3.0  # times the tolerance that is asked for
_ROUNDING = 1e-6  # of P
_NOTHING = 1e-15  # of a sum


def gap_scale(primal: float, saved: float) -> float:
    """Return what a gap is to be measured by: P, unless the best model saves little of what a trivial one costs.

    Where C is small, or one class rare, a model that saves nothing is near the best one in terms of P.
    """
    return max(min(primal, _OF_SAVED * saved), _LEAST_SAVED * primal)


@dataclass(frozen=True, eq=False)
class Targets(ABC):
    """The targets of all outputs; `box` are the weights C of the rows, `loss` is common to all."""

    box: _Vector
    loss: Loss

    @property
    def has_classes(self) -> bool:
        """Whether the largest of several outputs says which class a row has."""
        return False

    @property
    def bias_costs(self) -> bool:
        """Whether ½b² of a bias b is a part of the objective."""
        return False

    def __len__(self) -> int:
        return len(self.box)

    def scaled(self, scale: float) -> Self:
        """Return the same with `scale` times the weights."""
        return replace(self, box=scale * self.box)

    @property
    @abstractmethod
    def count(self) -> int:
        """How many outputs there are."""

    @abstractmethod
    def of_output(self, c: int) -> "SingleTarget":
        """Return the targets of one output."""

    def rows_of(self, c: int) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Return which rows know of an output, sorted; None: all."""
        return None

    @property
    def total_rows(self) -> int:
        """How many rows all outputs have, one after the other."""
        return self.count * len(self)

    @abstractmethod
    def some(self, chosen: NDArray[np.int64], scale: float = 1.0) -> Self:
        """Return those of some rows, with `scale` times their weight."""

    def costs(self, values: _Matrix) -> _Vector:
        """Return what every row costs, given the values (rows, outputs): C_i φ(u_i), over all outputs."""
        total = np.zeros(len(self))
        for c in range(self.count):
            targets = self.of_output(c)
            total += targets.loss.value(targets.slack(values[:, c]))
        return self.box * total

    @abstractmethod
    def score(self, values: _Matrix) -> float:
        """Return how good predictions (rows, outputs) are: the higher, the better."""


@dataclass(frozen=True, eq=False)
class SingleTarget(Targets):
    """Signs y and targets of a single output."""

    y: _Vector
    target: _Vector

    @classmethod
    def of_labels(cls, y: _Vector, box: _Vector, loss: Loss | None = None) -> Self:
        """Return the targets of classification, for labels ±1."""
        loss = loss or Hinge()
        return cls(box, loss, y, np.broadcast_to(loss.target, y.shape))

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return 1

    def of_output(self, c: int) -> "SingleTarget":  # noqa: ARG002 - it is the only one
        """Return the targets of one output."""
        return self

    def some(self, chosen: NDArray[np.int64], scale: float = 1.0) -> Self:
        """Return those of some rows, with `scale` times their weight."""
        box, y, target = scale * self.box[chosen], self.y[chosen], self.target[chosen]
        return replace(self, box=box, y=y, target=target)

    def piece(self, rows: slice) -> Self:
        """Return those of rows that follow each other, without a copy."""
        return replace(self, box=self.box[rows], y=self.y[rows], target=self.target[rows])

    def score(self, values: _Matrix) -> float:
        """Return the share of correct signs."""
        return float(np.mean(self.y * values[:, 0] > 0))

    def slack(self, f: _Vector) -> _Vector:
        """Return u for values f."""
        slack = self.y * f
        return np.subtract(self.target, slack, out=slack)  # of many rows, memory takes longer

    def balanced(self, alpha: _Vector, slack: _Vector) -> _Vector:
        """Return the dual point near α of which Σ_i α_i y_i is zero, as a bias that costs nothing asks for.

        Of the rows on the heavier side, those give way that lose least: of a loss with kinks the ones of little
        slack, whose α is not held at its bound.
        """
        total = float(alpha @ self.y)
        if not abs(total) > 0:  # zero, or no number: then nobody can say who should give way
            return alpha
        side = self.y if total > 0 else -self.y
        if self.loss.has_kinks:
            heavy, sizes = first_to_give_way(alpha, slack, side, abs(total))
            before = np.cumsum(sizes) - sizes
            less = np.clip(abs(total) - before, 0.0, sizes)
        else:
            heavy = np.flatnonzero(alpha * side > 0)
            sizes = abs(alpha[heavy])
            less = sizes * min(1.0, abs(total) / float(sizes.sum()))
        left = sizes - less
        left[left <= _NOTHING * abs(total)] = 0  # what rounding leaves of those that have given way
        alpha = alpha.copy()
        alpha[heavy] = np.sign(alpha[heavy]) * left
        return alpha

    def alpha(self, slack: _Vector, width: float) -> _Vector:
        """Return the dual point that belongs to a slack, where the loss is smoothed over `width`."""
        share = self.loss.slope(slack, width)
        share *= self.box
        return share

    def alpha_of(self, f: _Vector, width: float) -> _Vector:
        """Return the dual point that belongs to values f of all rows."""
        alpha = np.empty(len(f))
        for rows in pieces(len(f)):
            some = self.piece(rows)
            alpha[rows] = some.alpha(some.slack(f[rows]), width)
        return alpha

    def near_kinks(self, f: _Vector, reach: float) -> NDArray[np.int64]:
        """Return the rows whose slack, of values f, is nearer to a kink of the loss than that."""
        near = np.empty(len(f), np.bool_)
        for rows in pieces(len(f)):
            near[rows] = self.loss.distance(self.piece(rows).slack(f[rows])) < reach
        return np.flatnonzero(near)

    def cost(self, slack: _Vector) -> float:
        """Return Σ_i C_i φ(u_i)."""
        return float(self.box @ self.loss.value(slack))

    def cost_of(self, f: _Vector) -> float:
        """Return Σ_i C_i φ(u_i) for values f of all rows."""
        some = ((self.piece(rows), f[rows]) for rows in pieces(len(f)))
        return sum((part.cost(part.slack(values)) for part, values in some), 0.0)

    def gain(self, alpha: _Vector) -> float:
        """Return the dual objective without its quadratic part, Σ_i target_i α_i - C_i φ*(α_i / C_i)."""
        gain = float(self.target @ alpha)
        if self.loss.conjugate_is_zero:
            return gain
        return gain - float(self.box @ self.loss.conjugate(alpha / self.box))

    def scale(self, primal: float, dual: float) -> float:
        """Return what the gap between these two is to be measured by.

        A target far beyond all others costs so much, whatever the model, that a small share of it is more
        than all other rows cost: that part does not count. But where P is less than that, a model reaches it.
        """
        hopeless = self._hopeless if self._hopeless < primal else 0.0
        return gap_scale(max(primal - hopeless, _ROUNDING * primal), self._trivial - dual)

    @property
    def constants(self) -> tuple[float, float]:
        """What `scale` takes account of: the cost of no model, and the part of it that any model has."""
        return self._trivial, self._hopeless

    @cached_property
    def _hopeless(self) -> float:
        return float(self.box @ np.maximum(0.0, abs(self.target) - _FAR))

    @cached_property
    def _trivial(self) -> float:
        """The least cost of no model at all, and of naming the class that most rows belong to."""
        ups = self.y > 0
        one_sided = ups.all() or not ups.any()
        constants = np.zeros(1) if one_sided else np.array([0.0, 1.0, -1.0])
        if not len(self) or self.target.strides[0]:
            return min(self.cost_of(np.broadcast_to(c, len(self))) for c in constants)
        # All rows of a label cost the same.
        of_ups, of_downs = (self.loss.value(self.target[0] - s * constants) for s in (1, -1))
        return float(np.min(self.box[ups].sum() * of_ups + self.box[~ups].sum() * of_downs))

    def gap(self, slack: _Vector, share: _Vector) -> float:
        """Return Σ_i C_i (φ(u_i) + φ*(s_i) - s_i u_i) for slopes s_i."""
        gaps = self.loss.value(slack) + self.loss.conjugate(share) - share * slack
        return float(self.box @ gaps)


@dataclass(frozen=True, eq=False)
class ClassTargets(Targets):
    """One output for each of `n_classes` classes: +1 for its rows, -1 for all others.

    `coupled`: instead, the output of a row's class is to exceed every other one by 1 (Weston & Watkins).
    """

    labels: NDArray[np.int32]
    n_classes: int
    coupled: bool = False

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return self.n_classes

    @property
    def has_classes(self) -> bool:
        """Whether the largest of several outputs says which class a row has."""
        return True

    @property
    def bias_costs(self) -> bool:
        """Whether ½b² of a bias b is a part of the objective."""
        return self.coupled

    def of_output(self, c: int) -> SingleTarget:
        """Return the targets of one output."""
        return SingleTarget.of_labels(np.where(self.labels == c, 1.0, -1.0), self.box, self.loss)

    def some(self, chosen: NDArray[np.int64], scale: float = 1.0) -> Self:
        """Return those of some rows, with `scale` times their weight."""
        return replace(self, box=scale * self.box[chosen], labels=self.labels[chosen])

    def joint(self) -> "ClassTargets":
        """Return the joint problem of Weston & Watkins for the same rows."""
        return replace(self, loss=Hinge(), coupled=True)

    def costs(self, values: _Matrix) -> _Vector:
        """Return what every row costs, given the values (rows, outputs)."""
        if not self.coupled:
            return super().costs(values)
        rows = np.arange(len(self))
        slack = 1 - (values[rows, self.labels][:, np.newaxis] - values)
        slack[rows, self.labels] = 0
        return np.asarray(self.box * np.maximum(slack, 0).sum(axis=1))

    def score(self, values: _Matrix) -> float:
        """Return the accuracy."""
        return float(np.mean(values.argmax(axis=1) == self.labels))


@dataclass(frozen=True, eq=False)
class ManyTargets(Targets):
    """Regression: `values` are the targets, (rows, outputs)."""

    values: _Matrix

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return int(self.values.shape[1])

    def of_output(self, c: int) -> SingleTarget:
        """Return the targets of one output."""
        return SingleTarget(
            self.box, self.loss, np.ones(len(self)), np.ascontiguousarray(self.values[:, c])
        )

    def some(self, chosen: NDArray[np.int64], scale: float = 1.0) -> Self:
        """Return those of some rows, with `scale` times their weight."""
        return replace(self, box=scale * self.box[chosen], values=self.values[chosen])

    def score(self, values: _Matrix) -> float:
        """Return the mean loss, negative."""
        return -float(self.loss.value((self.values - values).ravel()).mean())

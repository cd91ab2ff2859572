"""Phase 1 for several outputs that share their terms: the classes of a classifier, or many targets.

A visit takes the steps of all outputs at once and inserts one term with a row of coefficients. Pairs of
classes are trained as differences of classes, jointly.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.records import Fields, Record
from budgetsvm._learn.keeper import Position
from budgetsvm._learn.settings import Plan
from budgetsvm._learn.trainer import VisitingTrainer
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.pair_targets import PairTargets, differences, nearest_classes
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import ClassTargets, ManyTargets, Targets
from budgetsvm.monitoring._observer import Counts, Learned

_JOINT_C = 0.4
_NO_CLOCK = (0, 0.0)  # of a solver that needs none


class CoreTargets(NamedTuple):
    """What the core calls *wanted* of several outputs."""

    loss: tuple[str, float]
    coupled: bool
    labels: NDArray[np.int32]
    targets: NDArray[np.float64]
    box: NDArray[np.float64]
    alpha: NDArray[np.float32]


class JointTrainer(VisitingTrainer):
    """Trains a model of several outputs with a budget; `coef` are its coefficients, (terms, outputs)."""

    def __init__(
        self, model: KernelExpansion, problem: Problem, *others: Any, **named: Any
    ) -> None:
        self._pairs = isinstance(problem.targets, PairTargets)
        if isinstance(problem.targets, PairTargets):
            coef, bias = (
                nearest_classes(of_pairs, problem.targets.n_classes)
                for of_pairs in (model.coef, model.bias)
            )
            model = replace(model, coef=coef, bias=bias)
            problem = replace(problem, targets=problem.targets.joint())
        super().__init__(model, problem, *others, **named)
        targets = self.problem.targets
        # In single precision: with a thousand classes this is the largest array there is.
        self.alpha = np.zeros((len(targets), targets.count), np.float32)
        self.coef = np.zeros((self.terms.capacity, targets.count))
        self.coef[: len(self.model)] = self.model.coef.T

    def learn_basis(self, plan: Plan) -> None:
        """Train for the sake of the terms; their coefficients will be found anew by the polish.

        For classes, the joint problem of Weston & Watkins gives better terms than each class against
        the rest, whose many negatives take part in every class. Its variables rarely exceed one half;
        where classes overlap they would, and a smaller bound then is better: see docs/theory.md.
        """
        targets = self.problem.targets
        if isinstance(targets, ClassTargets):
            scale = min(1.0, _JOINT_C / float(np.median(targets.box)))
            self.problem = replace(self.problem, targets=targets.scaled(scale).joint())
        self.run(plan)

    def state(self, at: Position) -> Record:
        """Return all it takes to go on from a position."""
        return super().state(at) | {"coef": self.coef[: self.terms.size]}

    def restore(self, fields: Fields, plan: Plan) -> None:
        """Take over the state that another trainer has kept."""
        super().restore(fields, plan)
        size, count = self.terms.size, self.coef.shape[1]
        self.coef[:size] = fields.weights("coef", (size, count))
        fields.end()

    def result(self) -> Learned:
        """Return the state of training; of pairs of classes, their differences."""
        learned = super().result()
        if not self._pairs:
            return learned
        model, n_classes = learned.model, len(learned.model.coef)
        coef, bias = (differences(one, n_classes) for one in (model.coef, model.bias))
        return replace(learned, model=replace(model, coef=coef, bias=bias))

    def _coefficients(self) -> NDArray[np.float64]:
        return self.coef[: self.terms.size].T

    def _multiply(self, factor: float) -> None:
        super()._multiply(factor)
        self.coef *= factor

    def _call_core(self, order: NDArray[np.int64]) -> tuple[int, Counts]:
        settings, terms = self.settings, self.terms
        assert settings.budget is not None
        size, *counts = _core.joint(
            self.problem.rows.source(order),
            order,
            self._diagonal(order),
            _core_targets(self.problem.targets, self.alpha),
            terms.arrays,
            terms.size,
            self.coef,
            self.bias,
            settings.budget,
            terms.core_kernel(settings.kernel),
            settings.maintenance.core(),
            *(settings.solver.clock(self.t, self._n_total) or _NO_CLOCK),
        )
        return size, Counts(*counts)


def _core_targets(targets: Targets, alpha: NDArray[np.float32]) -> CoreTargets:
    loss = targets.loss.core()
    if isinstance(targets, ClassTargets):
        target = np.full((1, 1), targets.loss.target)
        return CoreTargets(loss, targets.coupled, targets.labels, target, targets.box, alpha)
    assert isinstance(targets, ManyTargets)
    return CoreTargets(loss, False, np.empty(0, np.int32), targets.values, targets.box, alpha)

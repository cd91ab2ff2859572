"""Phase 1 for several outputs that share their terms: the classes of a classifier, or many targets.

A visit takes the steps of all outputs at once and inserts one term with a row of coefficients. Without a
budget there is nothing to share: every output is trained by itself.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.progress import Progress
from budgetsvm._learn.trainer import Trainer
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.targets import ManyTargets, OneVsRest, Outputs
from budgetsvm.losses import Hinge
from budgetsvm.solvers import BSGD

_JOINT_C = 0.4


@dataclass
class JointTrainer(Trainer):
    """Trains `terms` with a budget; `coef` are their coefficients, (terms, outputs)."""

    coef: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        super().__post_init__()
        outputs = self.problem.outputs
        # In single precision: with a thousand classes this is the largest array there is.
        self.alpha = np.zeros((len(outputs), outputs.count), np.float32)
        given = self.coef
        self.coef = np.zeros((self.terms.capacity, outputs.count))
        if len(given):
            self.coef[: len(given)] = given

    def learn_basis(self, visits: int, progress: Progress) -> None:
        """Train for the sake of the terms; their coefficients will be found anew by the polish.

        For classes, the joint problem of Weston & Watkins gives better terms than each class against
        the rest, whose many negatives take part in every class. Its variables rarely exceed one half;
        where classes overlap they would, and a smaller bound then is better: see docs/theory.md.
        """
        outputs = self.problem.outputs
        if isinstance(outputs, OneVsRest):
            scale = min(1.0, _JOINT_C / float(np.median(outputs.box)))
            joint = replace(outputs.scaled(scale), loss=Hinge(), coupled=True)
            self.problem = replace(self.problem, outputs=joint)
        self.run(visits, progress)

    def _rescale(self, factor: float) -> None:
        super()._rescale(factor)
        self.coef *= factor

    def _visit(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """One call of the core. Returns what it counted."""
        settings, terms = self.settings, self.terms
        assert settings.budget is not None
        bsgd = isinstance(settings.solver, BSGD)
        terms.size, *counts, lost = _core.joint(
            self.problem.rows.source(order),
            order,
            self._diagonal(order) + (len(self.bias) > 0),
            (*_wanted(self.problem.outputs), self.problem.outputs.box, self.alpha),
            terms.arrays,
            terms.size,
            self.coef,
            self.bias,
            settings.budget,
            terms.core_kernel(settings.kernel),
            settings.maintenance.core(),
            self.t if bsgd else 0,
            self._n_total if bsgd else 0.0,
        )
        self._lost += lost
        self.t += len(order)
        return np.array(counts, dtype=np.float64)


def _wanted(outputs: Outputs) -> tuple[Any, bool, NDArray[np.int32], NDArray[np.float64]]:
    """Return loss, coupling, labels and targets for the core."""
    if isinstance(outputs, OneVsRest):
        target = np.full((1, 1), outputs.loss.target)
        return outputs.loss.core(), outputs.coupled, outputs.labels, target
    assert isinstance(outputs, ManyTargets)
    return outputs.loss.core(), False, np.empty(0, np.int32), outputs.values


def train_without_budget(
    trainer: Trainer, model: KernelExpansion, visits: int, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Train every output by itself, from those of a model.

    Returns coefficients (outputs, terms of the model and all rows), and biases (outputs, one or none).
    """
    outputs, kernel = trainer.problem.outputs, trainer.settings.kernel
    coef = np.zeros((outputs.count, len(model) + len(outputs)))
    bias = trainer.bias.copy().reshape(outputs.count, -1)
    for c in range(outputs.count):
        terms = TermStore.of(model.points, model.coef[c], kernel, 0)
        problem = replace(trainer.problem, outputs=outputs.of_output(c))
        now = trainer._clock()
        until = now + (trainer.until - now) / (outputs.count - c)  # a fair share of the time left
        single = replace(trainer, problem=problem, terms=terms, bias=bias[c], until=until)
        single.run(visits, progress)
        used = np.flatnonzero(single._slots >= 0)
        coef[c, : len(model)] = terms.coef[: len(model)]
        coef[c, len(model) + used] = terms.coef[single._slots[used]]
    return coef, bias

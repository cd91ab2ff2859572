"""Estimators as plain sums, for programs that know nothing of their inner scales."""

from dataclasses import replace
from typing import Any

import numpy as np

from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Sigmoid


def sums_of(machine: Any) -> KernelExpansion:
    """Return the model whose values are decision values, or predictions of regression."""
    model: KernelExpansion = machine._expansion
    if isinstance(machine, BudgetOneClassSVM):
        bias = model.bias * machine._scale - machine.offset_
        return replace(model, coef=model.coef * machine._scale, bias=bias)
    if isinstance(machine, BudgetSVR):
        scale: np.ndarray = machine.target_scale_
        bias = model.bias * scale + machine.target_mean_
        return replace(model, coef=model.coef * scale[:, np.newaxis], bias=bias)
    return model


def distance_between(one: KernelExpansion, other: KernelExpansion) -> float:
    """Return ‖f - f'‖ / ‖f‖ in the Hilbert space of the kernel, biases left out; NaN if there is no such space."""
    if isinstance(one.kernel, Sigmoid):
        return float("nan")
    points = np.concatenate([one.points.astype(np.float64), other.points.astype(np.float64)])
    coef = np.concatenate([one.coef, -other.coef], axis=1)
    # Of differences of points, not of products: what is wanted here is small.
    gram, size = one.kernel.matrix(points, points), len(one)
    whole = float((one.coef @ gram[:size, :size] * one.coef).sum())
    part = float((coef @ gram * coef).sum())
    return float(np.sqrt(max(0.0, part) / whole)) if whole > 0 else 0.0

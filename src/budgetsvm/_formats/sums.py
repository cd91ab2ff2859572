"""Estimators as plain sums, for programs that know nothing of their inner scales."""

from dataclasses import replace
from typing import Any

import numpy as np

from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._model.expansion import KernelExpansion


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

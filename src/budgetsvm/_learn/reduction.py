"""Reduce a model to its budget: where that was lowered, it has more terms than it may."""

from dataclasses import replace

import numpy as np

from budgetsvm import _core
from budgetsvm._learn.settings import Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.term_store import TermStore


def reduce_to_budget(model: KernelExpansion, settings: Settings) -> KernelExpansion:
    """Return the model with `budget` terms or, by multi-merge, a few less; as it is if it has no more."""
    budget = settings.budget
    if budget is None or len(model) <= budget:
        return model
    several = len(model.coef) > 1
    # The norms of rows of coefficients are what the core goes by where there are several outputs.
    sizes = np.linalg.norm(model.coef, axis=0) if several else model.coef[0]
    terms = TermStore.of(model.points, sizes, model.kernel, 0)
    rows = np.zeros((terms.capacity, len(model.coef)))
    rows[: len(model)] = model.coef.T
    how = (terms.core_kernel(model.kernel), settings.maintenance.core(), budget)
    while terms.size > budget:  # a bounded amount of work each time: Ctrl-C works in between
        if several:
            terms.size, _ = _core.joint_reduce(terms.arrays, terms.size, rows, *how)
        else:
            terms.size, _ = _core.reduce(terms.arrays, terms.size, *how)
    own = rows[: terms.size].T if several else terms.coef[np.newaxis, : terms.size]
    return replace(model, points=terms.points(), coef=np.ascontiguousarray(own))

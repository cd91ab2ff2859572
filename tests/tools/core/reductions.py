"""One reduction of random terms by the core."""

from typing import Any

import numpy as np
from oracles import reference

from budgetsvm import _core, kernels
from budgetsvm._model.term_store import TermStore
from budgetsvm.maintenance import Maintenance

GAUSSIAN = kernels.Gaussian(0.6)
PLAIN = reference.Kernel("rbf", 0.6)


def random_terms(rng: Any, size: int, d: int = 3, spread: float = 1.0) -> tuple[Any, Any]:
    """Points and coefficients of both signs, over two orders of magnitude."""
    coef = rng.choice([-1, 1], size) * 10 ** rng.uniform(-2, 0, size)
    return spread * rng.standard_normal((size, d)), coef


def reduce(terms: TermStore, kernel: kernels.Kernel, maintenance: Maintenance) -> float:
    """Run maintenance once, in place; returns the degradation."""
    budget = terms.size - 1
    terms.size, degradation = _core.reduce(
        terms.arrays, terms.size, terms.core_kernel(kernel), maintenance.core(), budget
    )
    return degradation


def state(terms: TermStore) -> tuple[Any, Any]:
    """Coefficients and points in float64."""
    return terms.coef[: terms.size].copy(), terms.points().astype(np.float64)

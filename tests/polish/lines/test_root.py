"""Brent's method beside SciPy's, digit by digit."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from budgetsvm._polish.lines.root import find_root


@pytest.mark.parametrize("seed", range(300))
def test_the_same_root_as_scipy_by_the_same_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shift, power, kinks = rng.uniform(0.01, 0.99), rng.choice([0.3, 1, 3, 9]), rng.uniform(size=5)
    visited: list[float] = []

    def function(x: float) -> float:
        visited.append(x)
        bends = float(np.maximum(0, x - kinks).sum() - np.maximum(0, shift - kinks).sum())
        return math.copysign(abs(x - shift) ** power, x - shift) + bends

    xtol = float(rng.choice([1e-3, 1e-9, 1e-15]))
    root, ours = find_root(function, 0.0, 1.0, xtol), visited.copy()
    visited.clear()
    assert root == brentq(function, 0.0, 1.0, xtol=xtol, disp=False)
    assert ours == visited


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_root_at_an_end(end: float) -> None:
    assert find_root(lambda x: x - end, 0.0, 1.0, 1e-9) == end


@pytest.mark.parametrize("size", [1e-320, 1e-301, 1e-160, 1e160, 1e300])
def test_the_size_of_values_does_not_matter(size: float) -> None:
    root = find_root(lambda x: size * (x**3 - 0.1), 0.0, 1.0, 1e-9)
    assert root == pytest.approx(0.1 ** (1 / 3), rel=0.1 if size < 1e-307 else 1e-8)

"""Where to merge two terms: section 2 of the paper."""

import numpy as np
from oracles.reference.models import Vector


def merge_value(rho: Vector, L: Vector, h: Vector) -> Vector:
    """v(h) = ρ κ^((1−h)²) + κ^(h²) with κ = exp(−L)."""
    return rho * np.exp(-L * (1 - h) ** 2) + np.exp(-L * h**2)


def merge_slope(rho: Vector, L: Vector, h: Vector) -> Vector:
    """v'(h) / 2L."""
    return rho * (1 - h) * np.exp(-L * (1 - h) ** 2) - h * np.exp(-L * h**2)


def merge_range(rho: Vector, L: Vector) -> tuple[Vector, Vector]:
    """An interval that holds the best h: between the points for equal signs, else beyond b.

    For ρ < 0 and h = −u, v'(h) ∝ u exp(−L u²) − |ρ| (1 + u) exp(−L (1 + u)²). As u exp(−L u²) falls
    beyond u = 1/√(2L), v rises with h there: the maximum is nearer.
    """
    reach = np.where(L > 0, 1 / np.sqrt(2 * np.where(L > 0, L, 1.0)), 0.0)
    return np.where(rho > 0, 0.0, -reach), np.where(rho > 0, 1.0, 0.0)


def exact_merge(rho: Vector, L: Vector, nodes: int = 65) -> Vector:
    """The h that maximises v(h)², by a grid and then bisection of the slope. Vectorised."""
    rho, L = np.broadcast_arrays(np.asarray(rho, float), np.asarray(L, float))
    low, high = merge_range(rho, L)
    grid = low + np.linspace(0, 1, nodes).reshape(-1, *[1] * rho.ndim) * (high - low)
    best = np.argmax(merge_value(rho, L, grid) ** 2, axis=0)
    step = (high - low) / (nodes - 1)
    left, right = low + (best - 1) * step, low + (best + 1) * step
    left, right = np.maximum(left, low), np.minimum(right, high)
    for _ in range(48):
        middle = (left + right) / 2
        rising = merge_slope(rho, L, middle) > 0
        left, right = np.where(rising, middle, left), np.where(rising, right, middle)
    return (left + right) / 2


def golden_merge(rho: Vector, L: Vector) -> Vector:
    """Golden section search for the maximum of v, as the paper does it. Vectorised."""
    low, high = merge_range(rho, L)
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(36):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        to_the_left = merge_value(rho, L, left) > merge_value(rho, L, right)
        low, high = np.where(to_the_left, low, left), np.where(to_the_left, right, high)
    return (low + high) / 2

"""Maintenance of several outputs with one set of terms: a term is (row of coefficients, z)."""

from dataclasses import dataclass

import numpy as np
from oracles.reference.models import Kernel, Vector


def joint_merge(rho: Vector, t: Vector, L: Vector, nodes: int = 400) -> Vector:
    """The h that maximises ‖E_a β_a + E_b β_b‖², t being the cosine between the rows. Vectorised."""
    low, high = -1 / np.sqrt(2 * L), np.full_like(L, 0.5)
    grid = low + np.linspace(0, 1, nodes)[:, np.newaxis] * (high - low)
    a, b = rho * np.exp(-L * (1 - grid) ** 2), np.exp(-L * grid**2)
    best = np.argmax(a**2 + b**2 + 2 * t * a * b, axis=0)
    step = (high - low) / (nodes - 1)
    left = np.maximum(low + (best - 1) * step, low)
    right = np.minimum(low + (best + 1) * step, high)
    for _ in range(48):
        h = (left + right) / 2
        q = rho * np.exp(-L * (1 - 2 * h))
        rising = q**2 * (1 - h) - h + t * q * (1 - 2 * h) > 0
        left, right = np.where(rising, h, left), np.where(rising, right, h)
    return (left + right) / 2


def golden_joint_merge(rho: Vector, t: Vector, L: Vector) -> Vector:
    """The same by golden section: between the points and, for t < 0, also beyond the heavier one."""

    def norm(h: Vector) -> Vector:
        a, b = rho * np.exp(-L * (1 - h) ** 2), np.exp(-L * h**2)
        return a**2 + b**2 + 2 * t * a * b

    def search(low: Vector, high: Vector) -> Vector:
        ratio = (np.sqrt(5) - 1) / 2
        for _ in range(40):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            to_the_left = norm(left) > norm(right)
            low, high = np.where(to_the_left, low, left), np.where(to_the_left, right, high)
        return (low + high) / 2

    between = search(np.zeros_like(L), np.where(t < 0, 0.5, 1.0))
    beyond = search(np.where(t < 0, -1 / np.sqrt(2 * L), 0.0), np.zeros_like(L))
    return np.where(norm(between) >= norm(beyond), between, beyond)


@dataclass(frozen=True)
class JointMerge:
    """Replace the term with the shortest row and its n_terms − 1 cheapest partners by one term."""

    n_terms: int = 2
    same_sign: bool = False
    golden: bool = False

    def candidates(self, rows: Vector, a: int) -> list[int]:
        """All other terms, or those whose rows point to the same side."""
        products = rows @ rows[a]
        return [j for j in range(len(rows)) if j != a and not (self.same_sign and products[j] < 0)]

    def degradation(self, rows: Vector, points: Vector, kernel: Kernel) -> float:
        """‖Δw‖² of folding these terms, from its definition."""
        row, z = self.fold(rows, points, kernel)
        rows, points = np.vstack([rows, -row]), np.vstack([points, z])
        return float(np.vdot(rows, kernel(points, points) @ rows))

    def fold(self, rows: Vector, points: Vector, kernel: Kernel) -> tuple[Vector, Vector]:
        """Fold terms pairwise into one point z; its row Σ k(z_m, z) β_m is the best for that z."""
        row, z = rows[0], points[0]
        for other, point in zip(rows[1:], points[1:], strict=True):
            (light, z_a), (heavy, z_b) = sorted([(row, z), (other, point)], key=_row_weight)
            h = self.place(light, heavy, kernel.gamma * float(((z_a - z_b) ** 2).sum()))
            z = h * z_a + (1 - h) * z_b
            row = kernel(z, z_a)[0, 0] * light + kernel(z, z_b)[0, 0] * heavy
        return np.asarray(kernel(z, points)[0] @ rows), z

    def place(self, light: Vector, heavy: Vector, L: float) -> float:
        """The best h."""
        norms = float(np.linalg.norm(light)), float(np.linalg.norm(heavy))
        rho, cosine = norms[0] / norms[1], float(light @ heavy) / max(norms[0] * norms[1], 1e-300)
        search = golden_joint_merge if self.golden else joint_merge
        return float(search(*(np.array([v]) for v in (rho, cosine, max(L, 1e-14))))[0])


def _row_weight(term: tuple[Vector, Vector]) -> float:
    return float(np.linalg.norm(term[0]))


def joint_reductions(
    rows: Vector, points: Vector, kernel: Kernel, maintenance: str
) -> list[tuple[Vector, Vector]]:
    """What may become of terms, one too many: by merging, the outcomes with all partners."""
    a = int(np.argmin(np.linalg.norm(rows, axis=1)))
    rest = np.delete(np.arange(len(rows)), a)
    if maintenance == "remove":
        return [(rows[rest], points[rest])]
    if maintenance == "project":
        K = kernel(points[rest], points[rest]) + 1e-10 * np.eye(len(rest))
        x = np.linalg.solve(K, kernel(points[a], points[rest])[0])
        return [(rows[rest] + np.outer(x, rows[a]), points[rest])]
    outcomes = []
    for b in rest:
        row, z = JointMerge().fold(rows[[a, b]], points[[a, b]], kernel)
        others = rest[rest != b]
        outcomes.append((np.vstack([rows[others], row]), np.vstack([points[others], z])))
    return outcomes

"""Budget maintenance: one term too many is removed, projected or merged."""

from dataclasses import dataclass

import numpy as np
from oracles.reference.merge_point import exact_merge, golden_merge, merge_value
from oracles.reference.models import Choose, Kernel, Model, Term, Vector, split


def smallest(model: Model, choose: Choose) -> int:
    """The term with the smallest |β|."""
    return choose(range(len(model)), np.array([abs(beta) for beta, _ in model]))


@dataclass(frozen=True)
class Remove:
    """Drop the term with the smallest |β|."""

    def reduce(self, model: Model, _kernel: Kernel, choose: Choose, _pick: Choose) -> Model:
        """Return the model with one term less."""
        a = smallest(model, choose)
        return model[:a] + model[a + 1 :]


@dataclass(frozen=True)
class Project:
    """Distribute the term with the smallest |β| over all others: min_x ‖φ(z_a) − Σ x_j φ(z_j)‖²."""

    ridge: float = 1e-10

    def reduce(self, model: Model, kernel: Kernel, choose: Choose, _pick: Choose) -> Model:
        """Return the model with one term less."""
        a = smallest(model, choose)
        beta_a, z_a = model[a]
        rest = model[:a] + model[a + 1 :]
        if not rest:
            return rest
        coef, points = split(rest, len(z_a))
        K = kernel(points, points)
        largest = max(abs(K.diagonal()).max(), abs(kernel(z_a, z_a)[0, 0]))
        x = np.linalg.solve(K + self.ridge * largest * np.eye(len(K)), kernel(z_a, points)[0])
        return list(zip(coef + beta_a * x, points, strict=True))


@dataclass(frozen=True)
class Merge:
    """Replace the term with the smallest |β| and its n_terms − 1 cheapest partners by one term."""

    n_terms: int = 2
    same_sign: bool = False
    golden: bool = False

    def reduce(self, model: Model, kernel: Kernel, choose: Choose, pick: Choose) -> Model:
        """Return the model with n_terms − 1 terms less, or as many as there are partners."""
        a = smallest(model, choose)
        beta_a = model[a][0]
        if beta_a == 0:
            return model[:a] + model[a + 1 :]
        candidates = [
            j
            for j, (beta, _) in enumerate(model)
            if j != a and not (self.same_sign and beta * beta_a < 0)
        ]
        costs = self.degradations(model, a, candidates, kernel)
        partners: list[int] = []
        while candidates and len(partners) < self.n_terms - 1:
            partner = pick(candidates, costs)
            partners.append(partner)
            costs = np.delete(costs, candidates.index(partner))
            candidates.remove(partner)
        rest = [term for j, term in enumerate(model) if j != a and j not in partners]
        if not partners:  # nothing to merge with: removal
            return rest
        return [*rest, self.fold([model[a], *(model[j] for j in partners)], kernel)]

    def degradations(self, model: Model, a: int, candidates: list[int], kernel: Kernel) -> Vector:
        """‖Δw‖² = β_b² (ρ² + 1 + 2ρκ − v(h)²) for every candidate b."""
        beta_a, z_a = model[a]
        coef, points = split([model[j] for j in candidates], len(z_a))
        rho, L = beta_a / coef, kernel.gamma * ((points - z_a) ** 2).sum(axis=1)
        v = merge_value(rho, L, self.search(rho, L))
        return np.maximum(0, coef**2 * (rho**2 + 1 + 2 * rho * np.exp(-L) - v**2))

    def search(self, rho: Vector, L: Vector) -> Vector:
        """The best h."""
        return golden_merge(rho, L) if self.golden else exact_merge(rho, L)

    def fold(self, members: Model, kernel: Kernel) -> Term:
        """Fold terms pairwise into one point z; its coefficient is the best for that z."""
        beta, z = members[0]
        for other, point in members[1:]:
            (light, z_a), (heavy, z_b) = sorted([(beta, z), (other, point)], key=_weight)
            L = kernel.gamma * float(((z_a - z_b) ** 2).sum())
            h = float(self.search(np.array(light / heavy), np.array(L)))
            z = h * z_a + (1 - h) * z_b
            beta = heavy * float(merge_value(np.array(light / heavy), np.array(L), np.array(h)))
        coef, points = split(members, len(z))
        return float(coef @ kernel(points, z)[:, 0]), z


def _weight(term: Term) -> float:
    return abs(term[0])


Maintenance = Remove | Project | Merge

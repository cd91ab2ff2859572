"""The paper's algorithms in plain NumPy, to be read beside the paper; the core must agree with them.

"Dual SVM Training on a Budget" (Qaadan, Schüler & Glasmachers 2018): Algorithm 1 (BSCA) and eq. 4
(BSGD), with two corrections. Line 9 of Algorithm 1 inserts (δ, x_i); with f = Σ β k it must be
(y_i δ, x_i). And "points of the same class" are merged there; a correction δ < 0 has the sign of the
other class, so what matters is the sign of the coefficient.

A model is a list of terms (β, z). Everything is float64, nothing is clever, and nothing is imported
from the package under test.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Vector = NDArray[np.float64]
Term = tuple[float, Vector]
Model = list[Term]

#: Picks one of several candidates by their costs; `argmin` unless a test wants to see near-ties.
Choose = Callable[[Sequence[int], Vector], int]


@dataclass(frozen=True)
class Kernel:
    """k(X, Z) for all pairs of rows, from the definition."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    def __call__(self, X: Vector, Z: Vector) -> Vector:
        X, Z = np.atleast_2d(X), np.atleast_2d(Z)
        difference = X[:, np.newaxis, :] - Z[np.newaxis, :, :]
        dot = X @ Z.T
        match self.name:
            case "rbf":
                return np.exp(-self.gamma * (difference**2).sum(axis=2))
            case "laplacian":
                return np.exp(-self.gamma * abs(difference).sum(axis=2))
            case "poly":
                return (self.gamma * dot + self.coef0) ** self.degree
            case "sigmoid":
                return np.tanh(self.gamma * dot + self.coef0)
            case "linear":
                return dot
        raise ValueError(self.name)


# ---- models ----


def split(model: Model, n_features: int) -> tuple[Vector, Vector]:
    """Return coefficients and points as arrays."""
    coef = np.array([beta for beta, _ in model])
    points = np.array([z for _, z in model]).reshape(len(model), n_features)
    return coef, points


def decision(model: Model, kernel: Kernel, X: Vector) -> Vector:
    """f(x) = Σ β k(x, z) for every row of X."""
    X = np.atleast_2d(X)
    coef, points = split(model, X.shape[1])
    return kernel(X, points) @ coef


def squared_distance(before: Model, after: Model, kernel: Kernel) -> float:
    """‖w_before − w_after‖² in feature space: the weight degradation, from its definition."""
    coef, points = split(before + [(-beta, z) for beta, z in after], len(before[0][1]))
    return float(coef @ kernel(points, points) @ coef)


def argmin(candidates: Sequence[int], costs: Vector) -> int:
    """The candidate of least cost, the first of equals."""
    return candidates[int(np.argmin(costs))]


# ---- where to merge two terms: section 2 of the paper ----


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


# ---- budget maintenance ----


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

# ---- solvers ----


@dataclass
class Solver:
    """Visits training points one by one. `budget=None` is no limit: one term per training point."""

    kernel: Kernel
    X: Vector
    y: Vector
    C: Vector
    budget: int | None
    maintenance: Maintenance
    model: Model = field(default_factory=list)
    owner: list[int] = field(default_factory=list)  # without a budget: the point behind each term
    t: int = 0
    degradation: float = 0.0  # of the last visit

    def __post_init__(self) -> None:
        self.alpha = np.zeros(len(self.y))

    def margin(self, i: int) -> float:
        """y_i f(x_i)."""
        if not self.model:
            return 0.0
        return float(self.y[i] * decision(self.model, self.kernel, self.X[i])[0])

    def insert(self, i: int, beta: float, choose: Choose, pick: Choose) -> None:
        """M ← M ∪ {(β, x_i)}, then budget maintenance if |M| > B."""
        if self.budget is None:
            if i in self.owner:
                j = self.owner.index(i)
                self.model[j] = (self.model[j][0] + beta, self.X[i])
            else:
                self.owner.append(i)
                self.model.append((beta, self.X[i]))
            return
        self.model.append((beta, self.X[i]))
        if len(self.model) > self.budget:
            before = self.model
            self.model = self.maintenance.reduce(before, self.kernel, choose, pick)
            self.degradation = squared_distance(before, self.model, self.kernel)


class BSCA(Solver):
    """Algorithm 1: budgeted stochastic coordinate ascent."""

    def visit(self, i: int, choose: Choose = argmin, pick: Choose = argmin) -> bool:
        """Lines 4 to 12 for index i. Returns whether there was a step."""
        self.t += 1
        self.degradation = 0.0
        Q_ii = float(self.kernel(self.X[i], self.X[i])[0, 0])
        gradient = 1 - self.margin(i)
        if abs(gradient) <= 1e-12:  # rounding: the point was visited just before
            return False
        clipped = min(max(self.alpha[i] + gradient / Q_ii, 0.0), self.C[i])
        delta = clipped - self.alpha[i]
        if delta == 0:
            return False
        self.alpha[i] = clipped  # not += delta: at its bound it must be equal to the bound
        self.insert(i, self.y[i] * delta, choose, pick)
        return True


class BSGD(Solver):
    """Eq. 4: budgeted stochastic gradient descent."""

    def visit(self, i: int, choose: Choose = argmin, pick: Choose = argmin) -> bool:
        """α ← α − α/t + 1{y f(x_i) < 1} (n C_i / t) e_i, and likewise the model."""
        self.t += 1
        self.degradation = 0.0
        violation = self.margin(i) < 1
        shrink = 1 - 1 / self.t
        self.alpha *= shrink
        self.model = [(shrink * beta, z) for beta, z in self.model]
        if violation:
            gain = len(self.y) * self.C[i] / self.t
            self.alpha[i] += gain
            self.insert(i, self.y[i] * gain, choose, pick)
        return violation


# ---- several outputs with one set of terms ----
#
# A term is (row of coefficients, z); all of them, points and rows, make two arrays.


def best_variable(
    loss: str, alpha: float, u: float, q: float, C: float, *, epsilon: float = 0.0
) -> float:
    """The α that maximises the dual along its coordinate, where the slack is u and k(x, x) = q."""
    match loss:
        case "hinge":
            return min(max(alpha + u / q, 0.0), C)
        case "squared_hinge":
            return max(0.0, alpha + (u - alpha / (2 * C)) / (q + 1 / (2 * C)))
        case "epsilon_insensitive":
            pull = u + q * alpha
            return float(np.clip(np.sign(pull) * max(abs(pull) - epsilon, 0.0) / q, -C, C))
        case "logistic":  # where the slope log(1 / share − 1) of the conjugate is the slack

            def excess(a: float) -> float:
                return u - q * (a - alpha) - float(np.log(a) - np.log(C - a))

            found = float(brentq(excess, 1e-14 * C, C * (1 - 1e-14), xtol=1e-15))
            short = abs(found - alpha) <= 1e-3 * C and q * abs(found - alpha) <= 1e-2
            return alpha if short else found
    raise ValueError(loss)


def slope(loss: str, u: float, epsilon: float) -> float:
    """φ'(u)."""
    match loss:
        case "hinge":
            return float(u > 0)
        case "squared_hinge":
            return 2 * max(0.0, u)
        case "epsilon_insensitive":
            return float(u > epsilon) - float(u < -epsilon)
        case "logistic":
            return float(1 / (1 + np.exp(-u)))
    raise ValueError(loss)


def bounded_slope(loss: str, u: float, epsilon: float, stiffness: float) -> float:
    """φ'(u) for BSGD; for the squared hinge s = φ'(u − stiffness s), the slope after the step."""
    plain = slope(loss, u, epsilon)
    return plain / (1 + 2 * stiffness) if loss == "squared_hinge" else plain


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


@dataclass
class Joint:
    """One visit of several outputs; labels, or `targets` (points, outputs) for regression."""

    kernel: Kernel
    X: Vector
    labels: NDArray[np.int32] | None
    targets: Vector
    C: Vector
    loss: str
    epsilon: float = 0.0
    coupled: bool = False  # Weston & Watkins

    def signs(self, i: int) -> Vector:
        """+1 for the class of a point, -1 for others."""
        if self.labels is None:
            return np.ones(self.targets.shape[1])
        return np.where(np.arange(self.targets.shape[1]) == self.labels[i], 1.0, -1.0)

    def bsca(self, i: int, f: Vector, alpha: Vector, q: float) -> tuple[Vector, Vector]:
        """The row to insert, and new variables, which are held in single precision."""
        if self.coupled:
            return self.weston_watkins(i, f, alpha, q)
        slack = self.targets[i] - self.signs(i) * f
        new = [
            np.float32(
                best_variable(self.loss, float(a), float(u), q, self.C[i], epsilon=self.epsilon)
            )
            for a, u in zip(alpha, slack, strict=True)
        ]
        return self.signs(i) * (np.array(new, float) - alpha), np.array(new, float)

    def weston_watkins(self, i: int, f: Vector, alpha: Vector, q: float) -> tuple[Vector, Vector]:
        """Up to four rounds over the other classes c: α_c moves weight from c to the point's own."""
        assert self.labels is not None
        own, f, new = self.labels[i], f.copy(), alpha.copy()
        row = np.zeros(len(f))
        for _ in range(4):
            before = new.copy()
            for c in np.delete(np.arange(len(f)), own):
                u = 1 - (f[own] - f[c])
                new[c] = np.float32(best_variable("hinge", new[c], u, 2 * q, self.C[i]))
                row[[own, c]] += (new[c] - before[c]) * np.array([1, -1])
                f[[own, c]] += q * (new[c] - before[c]) * np.array([1, -1])
            if abs(new - before).max() <= 1e-3:
                break
        return row, new

    def bsgd(self, i: int, f: Vector, t: int, q: float) -> Vector:
        """The row to insert in iteration t, after all others were shrunk by 1 − 1/t; k(x, x) = q."""
        rate = len(self.X) * self.C[i] / t
        if self.coupled:
            assert self.labels is not None
            own = self.labels[i]
            row = -rate * (1 - (f[own] - f) > 0)
            row[own] = -np.delete(row, own).sum()
            return np.asarray(row)
        slack = self.targets[i] - self.signs(i) * f
        slopes = [bounded_slope(self.loss, float(u), self.epsilon, rate * q) for u in slack]
        return self.signs(i) * np.array(slopes) * rate

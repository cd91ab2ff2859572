"""The dual problem of one output on all rows, solved by coordinate ascent on working sets.

    D(α) = Σ_i target_i α_i - C_i φ*(α_i / C_i) - ½ Σ_ij α_i y_i α_j y_j k(x_i, x_j),

with f_i = Σ_j α_j y_j k(x_i, x_j) kept for all rows. P(w(α)) - D(α) is a sum over the rows,
C_i φ(u_i) + C_i φ*(α_i / C_i) - α_i u_i ≥ 0: those that contribute most to it are the working set (Dünner,
Parnell & Jaggi 2017), half of which stays for the next round, as what is gained is lost again otherwise. A round
climbs on the set alone, in the cache, and brings f up to date by as many rows of the kernel matrix.

A bias, which costs nothing, asks for Σ_i α_i y_i = 0. As single coordinates cannot keep it, a round climbs on the
Lagrangian of that constraint, augmented (`_polish/ascent.py`): kernel values are larger by s², a typical k(x, x), and
f by the multiplier, the bias that is best for it. Then what the sum has become is taken from α that lose least.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._exact.values.kernel_rows import KernelRows, SomeKernelRows
from budgetsvm._polish.lines.shift import best_shift
from budgetsvm._polish.span_problem import relative_gap
from budgetsvm._problem.targets import SingleTarget

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]
Kernel: TypeAlias = KernelRows | SomeKernelRows

_SHARE, _FEWEST, _MOST = 6, 512, 2048  # of n, rows of a working set
_STEPS_PER_ROW = 4
_FEW = 0.125  # of the rows with something to do, on one side
_RIGOUR = 0.5  # of the mean contribution to the gap: what a violation may be at the end of a round
_LEAST_RIGOUR = 1e-8


def set_size(n: int) -> int:
    """Return how many rows a working set has."""
    return min(n, max(_FEWEST, min(_MOST, n // _SHARE)))


@dataclass(frozen=True)
class Certificate:
    """P and D of one output, and what their gap is measured by."""

    primal: float
    dual: float
    scale: float

    @property
    def gap(self) -> float:
        """The relative duality gap (P - D) / scale."""
        return relative_gap(self.primal, self.dual, self.scale)


def certificate(
    targets: SingleTarget, f: _Vector, norm: float, alpha: _Vector, norm_of_alpha: float
) -> Certificate:
    """Return P of a function with values f and ‖w‖² = `norm`, and D of a dual point, by the definition."""
    primal = 0.5 * norm + targets.cost(targets.slack(f))
    dual = targets.gain(alpha) - 0.5 * norm_of_alpha
    return Certificate(primal, dual, targets.scale(primal, dual))


def best_multiple(targets: SingleTarget, beta: _Vector, f: _Vector, most: float) -> float:
    """Return the t up to `most` for which D of t β is largest, f being Kβ.

    Of a solution for a C that was r times smaller, r β has all that was at a bound at its bound. But where little is, r β is
    r times too large, and to come down from there takes far longer than to begin with nothing.
    """
    gain, norm = targets.gain(beta * targets.y), float(beta @ f)
    return min(most, max(0.0, gain / norm)) if norm > 0 else most


class OutputDual:
    """The dual of one output, from a feasible α; `constant` is s², for a bias, or 0: there is none.

    `rows` are those of the kernel that know of the output, where these are not all. f is without the bias.
    """

    def __init__(
        self,
        kernel: Kernel,
        targets: SingleTarget,
        alpha: _Vector,
        *,
        constant: float,
        rows: _Indices | None = None,
    ) -> None:
        self.kernel, self.targets, self.constant = kernel, targets, constant
        self.rows = np.arange(len(targets)) if rows is None else rows
        self.alpha, self.f = np.zeros(len(targets)), np.zeros(len(targets))
        self.rounds = self.work = 0  #: work: multiplications, but for kernel values
        self._set: _Indices = np.empty(0, np.int64)
        self._rigour = _RIGOUR
        self.bias = 0.0
        if constant:
            alpha = targets.balanced(alpha, targets.slack(self.f))
        self._move_to(alpha)
        multiple = best_multiple(targets, self.beta, self.f, 1.0)
        self.alpha, self.f = multiple * self.alpha, multiple * self.f
        self._centre()

    @property
    def support(self) -> _Indices:
        """The rows whose α is not 0."""
        return nonzero_places(self.alpha)

    @property
    def beta(self) -> _Vector:
        """The coefficients of all rows."""
        return self.alpha * self.targets.y

    @property
    def passes(self) -> int:
        """How often all rows were gone through: so many were in working sets."""
        return -(-self.rounds * set_size(len(self.alpha)) // len(self.alpha))

    def certificate(self) -> Certificate:
        """Return P and D of this α."""
        norm = float(self.beta @ self.f)
        return certificate(self.targets, self.f + self.bias, norm, self.alpha, norm)

    def climb(self) -> bool:
        """Go one round; returns whether there is any use in another one."""
        gaps = self._gaps()
        chosen = self._working_set(gaps)
        if len(chosen) == 0:
            return False
        gram = self.kernel.gram(chosen)
        if self.constant:
            gram += self.constant
        targets, alpha = self.targets.some(chosen), self.alpha[chosen]
        f = self.f[chosen] + self.bias
        precision = self._rigour * float(gaps.sum() / self.targets.box.sum())
        most, target = _STEPS_PER_ROW * len(chosen), np.ascontiguousarray(targets.target)
        steps, _ = _core.climb(
            targets.loss.core(), gram, targets.y, target, targets.box, alpha, f, precision, most
        )
        before = self._objective() if self.constant else -np.inf
        self._change(chosen, alpha)
        self._balance()
        self.rounds += 1
        self.work += len(chosen) * (len(self.alpha) + 2 * steps)
        # Rows of little weight are less precise than others; and what a lax round gains may be lost in balancing.
        if steps == 0 or (self.constant and self._objective() <= before):
            self._rigour *= 0.1
        return self._rigour >= _LEAST_RIGOUR

    def _objective(self) -> float:
        """Return D of this α."""
        return self.targets.gain(self.alpha) - 0.5 * float(self.beta @ self.f)

    def _gaps(self) -> _Vector:
        """Return what every row contributes to P - D."""
        box, loss, u = self.targets.box, self.targets.loss, self.targets.slack(self.f + self.bias)
        gaps = box * (loss.value(u) + loss.conjugate(self.alpha / box)) - self.alpha * u
        return np.maximum(0.0, gaps)

    def _working_set(self, gaps: _Vector) -> _Indices:
        n, size = len(gaps), set_size(len(gaps))
        if size == n:
            return np.arange(n)
        order = np.argsort(-gaps, kind="stable")
        old = np.zeros(n, np.bool_)
        old[self._set] = True
        others = order[~old[order] & (gaps[order] > 0)]
        if self.constant:
            idle = order[~old[order] & (gaps[order] == 0)]
            others = self._from_both_sides(others, idle)
        fresh = others[: size - min(size // 2, len(self._set))]
        again = order[old[order]][: size - len(fresh)]
        self._set = np.sort(np.concatenate([fresh, again]))
        return self._set

    def _from_both_sides(self, order: _Indices, idle: _Indices) -> _Indices:
        """Return rows in turns: one whose α y is to grow, one whose is to fall; alone, neither side can move.

        At α = 0 the best bias leaves one class nothing to do. Where a side has few rows, `idle` ones near the margin
        are on it.
        """
        targets, u = self.targets, self.targets.slack(self.f + self.bias)
        grows = (targets.y * (targets.alpha(u, 0.0) - self.alpha) > 0)[order]
        few_grow = 2 * np.count_nonzero(grows) < len(order)
        if min(np.mean(grows), np.mean(~grows)) < _FEW if len(order) else False:
            idle = idle[np.argsort(abs(u[idle]), kind="stable")][: len(order)]
            order = np.concatenate([order, idle])
            grows = np.append(grows, np.full(len(idle), few_grow))
        ranks = np.where(grows, np.cumsum(grows), np.cumsum(~grows))
        return order[np.argsort(ranks, kind="stable")]

    def _change(self, chosen: _Indices, alpha: _Vector) -> None:
        """Put other α in the place of the chosen ones; f follows, and both or neither of them change."""
        moved = alpha != self.alpha[chosen]
        rows = chosen[moved]
        change = (alpha[moved] - self.alpha[rows]) * self.targets.y[rows]
        if len(rows) == 0:
            return
        f = self.f + self.kernel.sums(rows, change)
        new = self.alpha.copy()
        new[rows] = alpha[moved]
        self.alpha, self.f = new, f

    def _balance(self) -> None:
        """Make α feasible again, and find the bias of the model."""
        if not self.constant:
            return
        self._centre()
        alpha = self.targets.balanced(self.alpha, self.targets.slack(self.f + self.bias))
        moved = np.flatnonzero(alpha != self.alpha)
        self._change(moved, alpha[moved])
        self._centre()

    def _centre(self) -> None:
        if self.constant:
            self.bias = best_shift(self.targets, 0.0, self.f)

    def _move_to(self, alpha: _Vector) -> None:
        rows, size = nonzero_places(alpha), set_size(len(alpha))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            self._change(part, alpha[part])

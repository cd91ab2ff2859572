"""The SVM of Weston & Watkins for many classes, in the span of a basis, with a certificate.

    P(w) = ½ Σ_c ‖w_c‖² + Σ_i C_i Σ_{c ≠ y_i} max(0, 1 - (f_{i,y_i} - f_ic)),   f_ic = <w_c, g_i>
    D(α) = Σ_ic α_ic - ½ Σ_c ‖w_c(α)‖²,   0 ≤ α_ic ≤ C_i for c ≠ y_i
    w_c(α) = Σ_i A_ic g_i,   A_ic = -α_ic for c ≠ y_i,   A_{i,y_i} = Σ_c α_ic

Most variables stay at zero: few classes compete for a row, and for most rows none. So rounds of dual
coordinate ascent visit those that are inside their box or should leave its bounds, class pair by class
pair (`_class_pairs.py`), and every round ends with one pass over all rows, which draws up the
certificate and says whose turn it is next. Of all rows and classes only α is kept, as shares α_ic / C_i
in single precision; whatever they are, they are feasible.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._class_pairs import Features, PairwiseAscent, split_into_pairs
from budgetsvm._features import KernelMatrix
from budgetsvm._threads import map_in_order, single_threaded_blas

_GROUPS = 16  # sums of a pass that are kept at the same time, whatever the number of threads
# Rows of the first working set, per dimension, and growth of the sets: far from the solution a sample says
# as much as all rows.
_FIRST_SET, _GROWTH = 2, 2
_VISITS, _FEWEST_PASSES, _MOST_PASSES = 1.0, 5, 200
_PATIENCE = 30  # rounds without progress: rounding errors are all that is left


@dataclass(frozen=True, eq=False)
class WestonWatkins:
    """The solution and its certificate.

    Attributes
    ----------
    w : ndarray of shape (n_classes, r)
        Orthonormal coordinates of the decision functions; they add up to zero.
    primal, dual : float
        P of w, and D of a feasible α: the optimum in the span lies between them.
    gap : float
        (primal - dual) / primal.
    passes : int
        How often all rows were gone through.
    """

    w: NDArray[np.float64]
    primal: float
    dual: float
    gap: float
    passes: int


def solve_weston_watkins(
    matrix: KernelMatrix,
    labels: NDArray[np.int64],
    n_classes: int,
    box: NDArray[np.float64],
    *,
    tol: float,
    finished: Callable[[float, int], bool],
    rng: np.random.Generator,
) -> WestonWatkins:
    """Solve the multi-class SVM in the span of a basis, to a relative duality gap.

    Parameters
    ----------
    matrix : KernelMatrix
        The kernel values of all rows against the basis.
    labels : ndarray of shape (n,)
        The class of every row, from 0 to n_classes - 1; a class may have no rows.
    n_classes : int
        At least two.
    box : ndarray of shape (n,)
        C_i, the weight of every row's losses.
    tol : float
        The relative duality gap at which to stop.
    finished : callable
        Called with the gap and the number of passes after every pass; stops early if it returns True.
    rng : Generator
        Chooses the first rows, and the order of visits.

    Returns
    -------
    WestonWatkins
        The best point found, and its certificate.
    """
    with single_threaded_blas():
        solver = _Solver(matrix, labels.astype(np.int64), n_classes, box, rng)
        patience, before = _PATIENCE, solver.gap
        while solver.gap > tol and patience > 0:
            solver.round()
            if finished(solver.gap, solver.passes):
                break
            patience = _PATIENCE if solver.gap < before else patience - 1
            before = min(before, solver.gap)
    return WestonWatkins(solver.best, solver.primal, solver.dual, solver.gap, solver.passes)


class _Solver:
    """α with its w, the best primal point, and the best values of both objectives."""

    def __init__(
        self,
        matrix: KernelMatrix,
        labels: NDArray[np.int64],
        n_classes: int,
        box: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> None:
        self.matrix = matrix
        self.labels = labels
        self.box = box
        self.rng = rng
        self.share = np.zeros((matrix.n, n_classes), np.float32)
        self.w = np.zeros((n_classes, matrix.width))
        self.best, self.primal, self.dual = self.w.copy(), (n_classes - 1) * float(box.sum()), 0.0
        self.passes = 0
        self.precision = 0.1
        self.wanted = np.ones(matrix.n, np.bool_)
        self.size = _FIRST_SET * matrix.width
        self.cache = _FeatureCache(matrix, box)

    @property
    def gap(self) -> float:
        """The relative duality gap (P - D) / P."""
        return max(0.0, (self.primal - self.dual) / self.primal) if self.primal > 0 else 0.0

    def round(self) -> None:
        """Ascend on a working set, then evaluate all rows."""
        chosen = np.flatnonzero(self.wanted)
        most = min(self.matrix.most_some, self.size)
        if len(chosen) > most:
            chosen = np.sort(self.rng.choice(chosen, most, replace=False))
        self._ascend(chosen)
        self._evaluate()
        self.precision /= 2
        self.size *= _GROWTH

    def _ascend(self, chosen: NDArray[np.int64]) -> None:
        features, where = self.cache.get(chosen)
        f = features.rows[where] @ (self.w.T / np.sqrt(2)).astype(features.rows.dtype)
        labels, share = self.labels[chosen], self.share[chosen]
        wanted = _to_do(_slack(f, labels), share)
        pairs = split_into_pairs(wanted, share, labels, (where, self.box[chosen]))
        ascent = PairwiseAscent(features, pairs, self.w, self.matrix.n_threads)
        visits = _VISITS * self.share.size / max(1, int(wanted.sum()))
        passes = int(np.clip(visits, _FEWEST_PASSES, _MOST_PASSES))
        ascent.run(passes, self.precision, self.rng)
        flat, box = share.reshape(-1), self.box[chosen]
        for pair in ascent.pairs:
            flat[pair.variables] = pair.alpha / box[pair.variables // share.shape[1]]
        self.share[chosen] = np.minimum(share, 1)

    def _evaluate(self) -> None:
        """Draw up the certificate: P of w, and D of α with the w(α) that it has in double."""
        n = self.matrix.n
        parts = self.matrix.parts(n)
        groups = [list(some) for some in np.array_split(np.array(parts, object), _GROUPS)]
        coef = self.w @ self.matrix.basis.inverse.T
        results = map_in_order(lambda g: self._sums(g, coef), groups, self.matrix.n_threads)
        loss, total, sums = 0.0, 0.0, np.zeros_like(self.w)
        for some_loss, some_total, some_sums in results:
            loss, total, sums = loss + some_loss, total + some_total, sums + some_sums
        primal = 0.5 * float(np.vdot(self.w, self.w)) + loss
        if primal < self.primal:
            self.best, self.primal = self.w.copy(), primal
        self.w = sums @ self.matrix.basis.inverse
        self.dual = max(self.dual, total - 0.5 * float(np.vdot(self.w, self.w)))
        self.passes += 1

    def _sums(
        self, parts: list[slice], coef: NDArray[np.float64]
    ) -> tuple[float, float, NDArray[np.float64]]:
        """Return the losses, Σ α, and Σ_i A_ic k_i of some rows; say which have something to do."""
        loss, total, sums = 0.0, 0.0, np.zeros_like(coef)
        for part in parts:
            block, chosen = self.matrix.part(np.arange(part.start, part.stop))
            values = _rows(block, chosen)
            labels, share, box = self.labels[part], self.share[part], self.box[part]
            slack = _slack(values @ coef.T, labels)
            loss += float(box @ np.maximum(slack, 0).sum(axis=1))
            self.wanted[part] = _to_do(slack, share).any(axis=1)
            some = np.flatnonzero(share.any(axis=1))
            alpha = share[some] * box[some, np.newaxis]
            of_rows = alpha.sum(axis=1)
            total += float(of_rows.sum())
            np.negative(alpha, out=alpha)
            alpha[np.arange(len(some)), labels[some]] = of_rows
            sums += alpha.T @ values[some]
        return loss, total, sums


class _FeatureCache:
    """Features of the rows of working sets, which are much the same from round to round."""

    def __init__(self, matrix: KernelMatrix, box: NDArray[np.float64]) -> None:
        self.matrix = matrix
        self.box = box
        self._rows = np.empty(0, np.int64)
        self._features = np.empty((0, matrix.width), matrix.rows.dtype)
        self._where = np.full(matrix.n, -1, np.int64)

    def get(self, chosen: NDArray[np.int64]) -> tuple[Features, NDArray[np.int64]]:
        """Return features among which are those of the chosen rows, and where."""
        new = chosen[self._where[chosen] < 0]
        if len(self._rows) + len(new) > self.matrix.most_some:
            self._where[self._rows] = -1
            self._rows, new = self._rows[:0], chosen
            self._features = self._features[:0]
        if len(new):
            more = self.matrix.features(new)
            more *= np.sqrt(2).astype(more.dtype)
            self._where[new] = np.arange(len(self._rows), len(self._rows) + len(new))
            self._rows = np.concatenate([self._rows, new])
            self._features = np.concatenate([self._features, more])
        rows = self._features
        features = Features(rows, np.einsum("ij,ij->i", rows, rows), self.box[self._rows])
        return features, self._where[chosen]


def _rows(block: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return rows of a block in double; consecutive ones are not copied twice."""
    first, last = int(chosen[0]), int(chosen[-1])
    return block[first : last + 1].astype(np.float64)


def _slack(f: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[Any]:
    """Turn f_ic, in place, into 1 - (f_{i,y_i} - f_ic), and into -∞ for c = y_i."""
    rows = np.arange(len(labels))
    f -= f[rows, labels][:, np.newaxis] - 1
    f[rows, labels] = -np.inf
    return f


def _to_do(slack: NDArray[Any], share: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Say which variables are inside their box, or should leave the bound that they are at."""
    below, above = share < 1, share > 0
    return np.asarray((below & above) | (below & (slack > 0)) | (above & (slack < 0)))

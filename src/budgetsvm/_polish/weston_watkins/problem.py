"""The SVM of Weston & Watkins for many classes, in the span of a basis, with a certificate.

    P(w) = ½ Σ_c ‖w_c‖² + Σ_i C_i Σ_{c ≠ y_i} max(0, 1 - (f_{i,y_i} - f_ic)),   f_ic = <w_c, g_i>
    D(α) = Σ_ic α_ic - ½ Σ_c ‖w_c(α)‖²,   0 ≤ α_ic ≤ C_i for c ≠ y_i
    w_c(α) = Σ_i A_ic g_i,   A_ic = -α_ic for c ≠ y_i,   A_{i,y_i} = Σ_c α_ic

Most variables stay at zero: few classes compete for a row, and for most rows none. So rounds of dual
coordinate ascent visit those that are inside their box or should leave its bounds, class pair by class
pair (`pairs.py`), and every round ends with one pass over all rows, which draws up the
certificate and says whose turn it is next. Of all rows and classes only α is kept, as shares α_ic / C_i
in single precision; whatever they are, they are feasible.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._common.threads import map_in_order, single_threaded_blas
from budgetsvm._polish.certificate.audit import LeftOutTerms, sample_rows
from budgetsvm._polish.matrix.interface import RowMatrix
from budgetsvm._polish.outlook import OUTPUTS, share_by_gap
from budgetsvm._polish.result import Evidence, Solving
from budgetsvm._polish.span_problem import relative_gap
from budgetsvm._polish.weston_watkins.pairs import PairwiseAscent, WorkingRows, split_into_pairs
from budgetsvm._problem.targets import ClassTargets, gap_scale
from budgetsvm.monitoring._observer import PolishMoment

_GROUPS = 16  # sums of a pass that are kept at the same time, whatever the number of threads
_PART_VALUES = 1 << 18  # of rows × classes in a part of a pass
# Far from the solution a sample of the rows says as much as all: those of the first working set, per
# dimension, per class and as a share of all at least, and the growth of the sets.
_PER_DIMENSION, _PER_CLASS, _SHARE, _GROWTH = 2, 8, 1 / 32, 2
# Visits per round, of all variables: about as much work as the pass that ends it.
_VISITS, _FEWEST_PASSES, _MOST_PASSES = 0.5, 5, 200
_VISITS_PER_PAIR = 16  # that take as long as to turn to another pair of classes
_FIRST_PRECISION = 0.1  # gradients that may be wrong after a round
_LITTLE_PROGRESS, _MOST_EFFORT = 0.8, 64  # of the gap is left: then rounds become longer
_FEWEST_VARIABLES = 1 << 18  # of a working set, where memory is the limit
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
    converged : bool
        Whether that is at most tol, and little beside what can be saved at all.
    passes : int
        How often all rows were gone through.
    evidence : Evidence
        What an audit may look at.
    """

    w: NDArray[np.float64]
    primal: float
    dual: float
    gap: float
    converged: bool
    passes: int
    evidence: Evidence


def solve_weston_watkins(matrix: RowMatrix, targets: ClassTargets, how: Solving) -> WestonWatkins:
    """Solve the multi-class SVM in the span of a basis, to a relative duality gap.

    Parameters
    ----------
    matrix : RowMatrix
        All rows on the span of a basis.
    outputs : OneVsRest
        The class of every row, from 0 to n_classes - 1, and the weight C_i of its losses. There are two
        classes at least, of which some may have no rows.
    how : Solving
        When to stop, and random numbers for the first rows and the order of visits. There is no start.

    Returns
    -------
    WestonWatkins
        The best point found, and its certificate.
    """
    sampled, tol = sample_rows(matrix.n, how.rng), how.limits.tol
    with single_threaded_blas():
        solver = _Solver(matrix, targets, how.rng)
        with suppress(OutOfTime):
            solver.run(how)
        pull = solver.pull(LeftOutTerms(matrix.basis)) if solver.gap <= tol else 0.0
    return WestonWatkins(
        w=solver.best,
        primal=solver.primal,
        dual=solver.dual,
        gap=relative_gap(solver.primal, solver.dual),
        converged=solver.gap <= tol,
        passes=solver.passes,
        evidence=Evidence(sampled, solver.values(sampled), solver.scale, pull),
    )


class _Solver:
    """α with its w, the best primal point, and the best values of both objectives."""

    def __init__(self, matrix: RowMatrix, targets: ClassTargets, rng: np.random.Generator) -> None:
        n_classes, box = targets.count, targets.box
        self.matrix = matrix
        self.labels = targets.labels.astype(np.int64)
        self.box = box
        self.rng = rng
        self.share = np.zeros((matrix.n, n_classes), np.float32)
        self.w = np.zeros((n_classes, matrix.basis.dimension))
        self.best, self.primal, self.dual = self.w.copy(), (n_classes - 1) * float(box.sum()), 0.0
        self.passes = 0
        self.precision = _FIRST_PRECISION
        self.effort = 1.0
        self.to_do = np.where(box > 0, n_classes - 1, 0)  # variables to visit, of every row
        self.size = max(
            _PER_DIMENSION * matrix.basis.dimension, _PER_CLASS * n_classes, int(_SHARE * matrix.n)
        )
        self.rows = WorkingRows(matrix, box)

    @property
    def gap(self) -> float:
        """The relative duality gap (P - D) / scale."""
        return relative_gap(self.primal, self.dual, self.scale)

    @property
    def scale(self) -> float:
        """What the gap is measured by; nearly always P."""
        at_zero = (len(self.w) - 1) * float(self.box.sum())
        return gap_scale(self.primal, at_zero - self.dual)

    def run(self, how: Solving) -> None:
        """Rounds until the gap is small enough, or does not get smaller any more."""
        patience = _PATIENCE
        how.observer.in_task(OUTPUTS)
        while self.gap > how.limits.tol and patience > 0:
            before = self.gap
            self.round()
            how.observer.in_task(OUTPUTS, share_by_gap(self.gap, how.limits.tol))
            how.observer.in_polish(PolishMoment(self.gap, self.passes))
            if how.limits.reached(self.gap, self.passes):
                return
            patience = _PATIENCE if self.gap < before else patience - 1

    def round(self) -> None:
        """Ascend on a working set, then evaluate all rows."""
        before = self.gap
        chosen, complete = self._working_set()
        self._ascend(chosen)
        self._evaluate()
        self.precision /= 2
        self.size *= _GROWTH
        if complete and self.gap > _LITTLE_PROGRESS * before:
            self.effort = min(2 * self.effort, _MOST_EFFORT)

    def _working_set(self) -> tuple[NDArray[np.int64], bool]:
        """Choose rows with something to do; returns also whether these are all of them."""
        chosen = np.flatnonzero(self.to_do)
        variables = max(
            self.matrix.most_some * self.matrix.basis.dimension // 16, _FEWEST_VARIABLES
        )
        share = variables / max(1, int(self.to_do.sum()))
        most = max(1, int(min(self.matrix.most_some, self.size, share * len(chosen))))
        if len(chosen) <= most:
            return chosen, True
        return np.sort(self.rng.choice(chosen, most, replace=False)), False

    def _ascend(self, chosen: NDArray[np.int64]) -> None:
        """Improve α of the chosen rows, and w with it."""
        where = self.rows.find(chosen)
        labels, share, box = self.labels[chosen], self.share[chosen], self.box[chosen]
        wanted = _to_do(_slack(self.rows.values(where, self.w), labels), share)
        scale = np.repeat(box, np.count_nonzero(wanted, axis=1))
        pairs = split_into_pairs(wanted, share[wanted] * scale, labels, where)
        ascent = PairwiseAscent(self.rows, pairs, self.w, self.matrix.n_threads)
        cost = len(scale) + _VISITS_PER_PAIR * len(pairs)
        passes = np.clip(_VISITS * self.share.size / max(1, cost), _FEWEST_PASSES, _MOST_PASSES)
        ascent.run(int(self.effort * passes), self.precision, self.rng)
        flat = share.reshape(-1)
        for pair in ascent.pairs:
            flat[pair.variables] = pair.alpha / box[pair.variables // share.shape[1]]
        self.share[chosen] = np.minimum(share, 1)  # what rounding made larger is not feasible

    def _evaluate(self) -> None:
        """Draw up the certificate: P of w, and D of α with the w(α) that it has in double."""
        coef = self.w @ self.matrix.basis.inverse.T
        parts = self._parts()
        stride = -(-len(parts) // _GROUPS)
        groups = [parts[first : first + stride] for first in range(0, len(parts), stride)]
        loss, total, sums = 0.0, 0.0, np.zeros_like(self.w)
        results = map_in_order(lambda g: self._sums(g, coef), groups, self.matrix.n_threads)
        for some_loss, some_total, some_sums in results:
            loss, total = loss + some_loss, total + some_total
            sums += some_sums
        primal = 0.5 * float(np.vdot(self.w, self.w)) + loss
        if primal < self.primal:
            self.best, self.primal = self.w, primal
        self.w = sums @ self.matrix.basis.inverse
        self.dual = max(self.dual, total - 0.5 * float(np.vdot(self.w, self.w)))
        self.passes += 1

    def _parts(self) -> list[slice]:
        """Return slices of all rows, neither too large in kernel values nor in values of classes."""
        n, step = self.matrix.n, self.matrix.parts(self.matrix.n)[0].stop
        step = min(step, max(64, _PART_VALUES // len(self.w)))
        return [slice(first, min(first + step, n)) for first in range(0, n, step)]

    def _sums(
        self, parts: list[slice], coef: NDArray[np.float64]
    ) -> tuple[float, float, NDArray[np.float64]]:
        """Return the losses, Σ α, and Σ_i A_ic k_i of some rows; say which have something to do."""
        loss, total, sums = 0.0, 0.0, np.zeros_like(coef)
        for part in parts:
            block = self.matrix.value_rows(np.arange(part.start, part.stop))
            first, last = int(block.where[0]), int(block.where[-1])  # rows that follow each other
            values = block.rows[first : last + 1].astype(np.float64)
            labels, share, box = self.labels[part], self.share[part], self.box[part]
            self.matrix.tick()
            slack = _slack(values @ coef.T, labels)
            loss += float(box @ np.maximum(slack, 0).sum(axis=1))
            self.to_do[part] = np.count_nonzero(_to_do(slack, share), axis=1) * (box > 0)
            some, weights, gain = self._weights(part)
            total += gain
            sums += weights.T @ values[some]
        return loss, total, sums

    def _weights(self, part: slice) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """Return A_ic of the rows of a part with any α, which rows these are, and Σ α."""
        labels, share, box = self.labels[part], self.share[part], self.box[part]
        some = np.flatnonzero(share.any(axis=1))
        weights = share[some] * box[some, np.newaxis]
        of_rows = weights.sum(axis=1)
        np.negative(weights, out=weights)
        weights[np.arange(len(some)), labels[some]] = of_rows
        return some, weights, float(of_rows.sum())

    def pull(self, left_out: LeftOutTerms) -> float:
        """Return what the terms left out of the basis add to ½ Σ_c ‖w_c(α)‖²."""
        if left_out.basis is None:
            return 0.0
        matrix = self.matrix.against(left_out.basis)
        sums = np.zeros((len(self.w), matrix.basis.dimension))
        for part in self._parts():
            some, weights, _ = self._weights(part)
            block = matrix.value_rows(part.start + some)
            sums += weights.T @ block.rows[block.where].astype(np.float64)
        return sum(left_out.pull(s, w) for s, w in zip(sums, self.w, strict=True))

    def values(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return f_ic of the best point for some rows."""
        block = self.matrix.value_rows(chosen)
        coef = self.best @ self.matrix.basis.inverse.T
        return np.asarray(block.rows[block.where].astype(np.float64) @ coef.T)


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

"""Terms in an order in which near ones share a panel, with the extent of each: what cannot count is left out.

Kernels that fall with a distance are nearly zero for most pairs where gamma is large. A extent, the least and the
largest value of every feature, says how near the terms of a panel can be at most; see docs/theory.md, *Kernel
values that are zero*.
"""

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm import _core
from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.points import Points
from budgetsvm._problem.rows import Rows
from budgetsvm.kernels import Gaussian, Kernel, Laplacian

_LEAST_PANELS = 12  # fewer are evaluated faster than looked at
_MOST_FEATURES = 1024  # beyond, terms take less time than the order does
_SAMPLE_TERMS, _SAMPLE_ROWS = 256, 32  # for a first look
_MOST_SHARE = 0.5  # of all values count: beyond, it does not pay
# What it takes to look for panels that count, in units of evaluating one, and which share of the time without
# it may be left.
_LOOK, _LOOK_AT_EXTENTS, _MOST_COST = 3, 6, 0.75
# Of the power method, as any direction in which the terms are spread will do, and of two means.
_ITERATIONS, _MEANS = 4, 3


class OrderedTerms:
    """Terms in panels of near ones; `order[i]` says which stands at place i."""

    def __init__(
        self,
        points: NDArray[Any],
        coef: NDArray[np.float64],
        kernel: Kernel,
        order: NDArray[np.int64] | None = None,
    ) -> None:
        self.kernel = kernel.core()
        lanes = _core.PANEL_BYTES // points.itemsize
        self.order = near_together(points, lanes) if order is None else order
        self.store = TermStore.of(points[self.order], coef[self.order], kernel, 0)
        self.n_panels = -(-len(points) // lanes)
        self.extents = *_extents(points[self.order], self.n_panels, kernel), self._log_weights()

    def _log_weights(self) -> NDArray[Any]:
        """Return ln Σ|β_j| of every panel, with room for whole panels of extents."""
        lanes, weights = self.store.lanes, abs(self.store.coef)
        sums = np.zeros(-(-self.n_panels // lanes) * lanes)
        sums[: self.n_panels] = weights.reshape(-1, lanes).sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.log(sums).astype(self.store.dtype)

    def near(
        self, rows: Rows, chosen: slice | NDArray[np.int64], least: float
    ) -> NDArray[np.bool_]:
        """Return for some rows which panels may have a kernel value of at least so much."""
        source = rows.source(chosen)
        n = chosen.stop - chosen.start if isinstance(chosen, slice) else len(chosen)
        flags = np.empty((n, self.n_panels), np.bool_)
        _core.near_panels(source, self.kernel, self.extents, -log(least), flags)
        return flags


def ordered_if_it_pays(
    points: Points, coef: NDArray[np.float64], kernel: Kernel
) -> OrderedTerms | None:
    """Return terms in order, if most panels do not count: for the terms themselves, as a sample of rows."""
    rows, least = Rows(points, points.dtype.type, None), float(np.finfo(points.dtype).eps) / 64
    if not may_prune(rows, points, kernel, least):
        return None
    ordered = OrderedTerms(points, coef, kernel)
    share = float(ordered.near(rows, sample(len(rows), _SAMPLE_TERMS), least).mean())
    return ordered if _pays(share, ordered.n_panels, ordered.store.lanes) else None


def may_prune(rows: Rows, points: Points, kernel: Kernel, least: float) -> bool:
    """Whether many kernel values of some rows and terms are below `least`: a look that costs nothing."""
    if sparse.issparse(points) or points.shape[1] > _MOST_FEATURES or len(rows) == 0:
        return False
    lanes = _core.PANEL_BYTES // points.itemsize
    if not isinstance(kernel, Gaussian | Laplacian) or len(points) < _LEAST_PANELS * lanes:
        return False
    some = points[:: -(-len(points) // _SAMPLE_TERMS)]
    terms = TermStore.of(some, np.zeros(len(some)), kernel, 0)
    chosen = sample(len(rows), _SAMPLE_ROWS)
    values = np.empty((len(chosen), len(some)), points.dtype)
    _core.kernel_block(rows.source(chosen), terms.arrays, terms.size, kernel.core(), values)
    return bool(np.mean(values >= least) <= _MOST_SHARE)


def _pays(share: float, n_panels: int, lanes: int) -> bool:
    """Whether it is worth it to look for panels that count, if this share of them does."""
    looking = _LOOK + _LOOK_AT_EXTENTS * -(-n_panels // lanes)
    return share + looking / n_panels <= _MOST_COST


def sample(n: int, most: int) -> NDArray[np.int64]:
    """Return some of n rows, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)


def near_together(points: NDArray[Any], lanes: int) -> NDArray[np.int64]:
    """Return an order in which near points are in the same panel, by halving them again and again.

    Each half has whole panels, the last of which may not be full.
    """
    order, ranges = np.arange(len(points)), [(0, len(points))]
    with single_threaded_blas():  # the order is the same for any number of threads
        while ranges:
            start, stop = ranges.pop()
            middle = start + -(-(stop - start) // lanes) // 2 * lanes
            if middle > start:
                some = order[start:stop]
                order[start:stop] = some[_halved(points[some].astype(np.float64), middle - start)]
                ranges += [(start, middle), (middle, stop)]
    return order


def _halved(points: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return an order of points in which the first `size` are near each other, and so are the others.

    Two means, beginning with the first principal direction. That alone mixes points with different one-hot
    columns, and extents get large.
    """
    points -= points.mean(axis=0)
    points /= max(abs(points).max(), 1e-300)
    direction = np.einsum("ij,ij->j", points, points)  # of the features that vary most
    for _ in range(_ITERATIONS):
        direction = (points @ (direction / max(abs(direction).max(), 1e-300))) @ points
    for _ in range(_MEANS):
        order = np.argsort(points @ direction, kind="stable")
        # The mean of all is 0: so the means of the two are opposite to each other.
        direction = -points[order[:size]].sum(axis=0)
    return np.argsort(points @ direction, kind="stable")


def _extents(
    points: NDArray[Any], n_panels: int, kernel: Kernel
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what the core calls *extents*: the least and largest features, and how far the origin is."""
    lanes = _core.PANEL_BYTES // points.itemsize
    starts = np.arange(n_panels) * lanes
    low, high = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
    gaps = np.maximum(np.maximum(low, -high), 0).astype(np.float64)
    store = (TermStore.of(bound, np.zeros(n_panels), kernel, 0) for bound in (low, high))
    of_zero = np.zeros(-(-n_panels // lanes) * lanes, points.dtype)
    of_zero[:n_panels] = kernel.norms(gaps)
    first, second = (one.panels for one in store)
    return first, second, of_zero

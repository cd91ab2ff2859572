"""Kernel values as rows of panels, most of which are zero and not there.

Where gamma is large, most kernel values are too small to count, and terms that are near each other can be
left out together (`_model/pruning.py`). All products are those of one matrix, with zeros for what is left out, so
that solvers converge as ever; its distance to the true one is made up for at the end (`exactly`).
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.limits import Limits
from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._common.threads import for_each, map_in_order
from budgetsvm._model.pruning import OrderedTerms, may_prune, sample
from budgetsvm._polish.basis import Basis, orthonormal_features
from budgetsvm._polish.matrix.interface import Block, Matrix, RowMatrix, Tick, no_limit
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.panel_groups import TermPanels
from budgetsvm._polish.matrix.panel_store import SMALLEST, Panels, PanelStore, Share
from budgetsvm._problem.rows import Rows

_TASKS = 32  # of a pass, whatever the number of threads
_GRAM_TASKS, _ROWS_AT_ONCE = 16, 16
_FEW_TERMS_MEMORY = 1e9  # bytes: few terms, computed part by part
_FEATURE_BYTES = 5e8  # of rows that coordinate ascent visits at once
_BLOCK_BYTES = 1 << 23  # of features that are computed at once, in double

# A matrix of panels: what is left out beside the tolerance, kernel values of all rows that make it worth a look,
# rows to look at, the largest share of panels, and how much of the memory limit they may take.
_LEAST_VALUE, _SAMPLE = 1e-4, 512
FEWEST_VALUES = 1e7  #: of rows and terms, before it is worth a look
_LARGEST_SHARE, _HELD_SHARE = 0.35, 0.75
_AGES = 1e9  # seconds

_Vector = NDArray[np.float64]
_Add = Callable[[Panels, Share, _Vector], float]


class PanelMatrix(RowMatrix):
    """Some rows of a store of panels, all by default; `make_exact` makes the matrix of all values of all rows."""

    def __init__(
        self,
        store: PanelStore,
        basis: Basis,
        n_threads: int,
        make_exact: Callable[[], Matrix],
        *,
        tick: Tick = no_limit,
        where: NDArray[np.int64] | None = None,
        near: "TermPanels | None" = None,
    ) -> None:
        self._where = np.arange(len(store.rows)) if where is None else where
        super().__init__(len(self._where), basis, tick)
        self.dtype, self.n_threads = store.rows.dtype, n_threads
        self._make_exact = make_exact
        self._store, self._shares = store, store.shares(self._where)
        lanes = store.terms.store.lanes
        self._width = store.terms.n_panels * lanes
        self._constant = basis.dimension > len(basis)
        self._near = near or TermPanels(store, basis)
        self.groups, self.share = self._near.groups.groups, store.share

    def times(self, w: _Vector) -> _Vector:
        """Return f(x_i) for orthonormal coordinates w."""
        coef, values = self.basis.coefficients(w), np.empty(self.n)
        padded, shift = self._padded(coef), self._shift(coef)

        def evaluate(share: Share) -> None:
            self.tick()
            some = np.empty(len(share.rows))
            _core.panel_times(self._store.part(share.part), share.rows, padded, some)
            values[share.places] = some + shift

        for_each(evaluate, self._shares, self.n_threads)
        return values

    def transposed_times(self, v: _Vector) -> _Vector:
        """Return the coordinates of Σ_i v_i k(x_i, ·), projected onto the span."""
        chosen = nonzero_places(v)
        return self.basis.projection(self._combined(chosen, v[chosen]))

    def normal_times(self, indices: NDArray[np.int64], weights: _Vector, coef: _Vector) -> _Vector:
        """Return Σ_i weights_i <k_i, coef> k_i over the given rows."""
        padded, shift = self._padded(coef), self._shift(coef)

        def add(panels: Panels, share: Share, sums: _Vector) -> float:
            some = weights[share.places]
            return _core.add_panel_normal(panels, share.rows, some, padded, shift, sums)

        return self._sum(self._store.shares(self._where[indices]), add)

    def gram(self, indices: NDArray[np.int64], weights: _Vector) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ over the given rows: a few blocks of panels for each."""
        sums, n_panels = np.zeros((self._width, self._width)), self._store.terms.n_panels
        shares = self._store.shares(self._where[indices])

        def add(first: int, last: int, some: list[Share]) -> None:
            for share in some:
                self.tick()
                panels, their = self._store.part(share.part), weights[share.places]
                _core.add_panel_gram(panels, share.rows, their, first, last, sums)

        if self._store.is_kept:  # every block of the matrix by one thread
            ends = np.linspace(0, n_panels, min(n_panels, _GRAM_TASKS) + 1).astype(int).tolist()
            for_each(lambda ends: add(*ends, shares), pairwise(ends), self.n_threads)
        else:
            add(0, n_panels, shares)
        lanes = self._store.terms.store.lanes
        for start in range(0, self._width, lanes):
            stop = start + lanes
            sums[stop:, start:stop] = sums[start:stop, stop:].T
        return self._bordered(sums, indices, weights)

    def gram_of_groups(self, indices: NDArray[np.int64], weights: _Vector) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ of groups of panels."""
        shares = self._store.shares(self._where[indices])
        return self._near.groups.gram(self._store, shares, weights, self.n_threads, self.tick)

    def gram_of_terms_times(self, coef: _Vector) -> _Vector:
        """Return K_ZZ coef, up to what is left out."""
        out, size = coef.copy(), len(self.basis)
        out[:size] = self._near.times(coef[:size], self.n_threads)
        return out

    def some(self, chosen: NDArray[np.int64]) -> "PanelMatrix":
        """Return a matrix of the chosen rows."""
        return PanelMatrix(
            self._store,
            self.basis,
            self.n_threads,
            self._make_exact,
            tick=self.tick,
            where=self._where[chosen],
            near=self._near,
        )

    def against(self, basis: Basis) -> RowMatrix:
        """Return the same rows on another basis, of few terms, and with all values."""
        rows, everyone = self._store.rows, len(self._store.rows)
        matrix = KernelMatrix(
            rows, basis, self.n_threads, _FEW_TERMS_MEMORY, hold=False, tick=self.tick
        )
        return matrix if self.n == everyone else matrix.some(self._where)

    def exactly(self, w: _Vector, v: _Vector) -> tuple[_Vector, _Vector]:
        """Return `times` and `transposed_times` with all values, each computed once."""
        coef, values = self.basis.coefficients(w), np.empty(self.n)
        padded, shift = self._padded(coef), self._shift(coef)

        def add(panels: Panels, share: Share, sums: _Vector) -> float:
            some, their = np.empty(len(share.rows)), v[share.places]
            _core.panel_times(panels, share.rows, padded, some)
            values[share.places] = some + shift
            _core.add_panel_transposed(panels, share.rows, their, sums)
            return float(their.sum())

        sums = self._sum(self._shares, add, self._store.compute_all)
        return values, self.basis.projection(sums)

    def exact(self) -> Matrix:
        """Return the matrix with all values, which takes the place of this one."""
        self._store.drop()
        return self._make_exact()

    @property
    def most_features(self) -> int:
        """How many rows `feature_rows` may be asked for."""
        return max(
            1024, int(_FEATURE_BYTES / (self.basis.dimension * np.dtype(self.dtype).itemsize))
        )

    def value_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the kernel values of the chosen rows."""
        dense = np.zeros((len(chosen), self._width), self.dtype)
        for share in self._store.shares(self._where[chosen]):
            starts, numbers, values = self._store.part(share.part)
            for row, place in zip(share.rows.tolist(), share.places.tolist(), strict=True):
                own = slice(starts[row], starts[row + 1])
                dense[place].reshape(-1, values.shape[1])[numbers[own]] = values[own]
        out = np.ones((len(chosen), self.basis.dimension), self.dtype)
        out[:, self._store.terms.order] = dense[:, : len(self.basis)]
        return Block(out, np.arange(len(chosen)))

    def feature_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the orthonormal features of the chosen rows, multiplied in double."""
        features = np.empty((len(chosen), self.basis.dimension), self.dtype)
        inverse = self.basis.inverse

        def evaluate(part: slice) -> None:
            self.tick()
            features[part] = orthonormal_features(inverse, self.value_rows(chosen[part]).rows)

        for_each(evaluate, self.parts(len(chosen)), self.n_threads)
        return Block(features, np.arange(len(chosen)))

    def parts(self, n: int) -> list[slice]:
        """Return slices of n rows; the work of all threads on one each takes bounded memory."""
        step = int(max(64, _BLOCK_BYTES / (8 * self.basis.dimension)))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _combined(self, indices: NDArray[np.int64], v: _Vector) -> _Vector:
        """Return Σ_i v_i k_i over the given rows."""

        def add(panels: Panels, share: Share, sums: _Vector) -> float:
            some = v[share.places]
            _core.add_panel_transposed(panels, share.rows, some, sums)
            return float(some.sum())

        return self._sum(self._store.shares(self._where[indices]), add)

    def _sum(
        self, shares: list[Share], add: _Add, panels: Callable[[int], Panels] | None = None
    ) -> _Vector:
        """Add up over all shares, in their order: threads do not change it. The constant's sum is returned."""
        find = self._store.part if panels is None else panels

        def contribution(some: list[Share]) -> tuple[_Vector, float]:
            sums, total = np.zeros(self._width), 0.0
            for share in some:
                self.tick()
                total += add(find(share.part), share, sums)
            return sums, total

        step = max(1, -(-len(shares) // _TASKS))
        tasks = [shares[start : start + step] for start in range(0, len(shares), step)]
        sums, total = np.zeros(self._width), 0.0
        for some, share in map_in_order(contribution, tasks, self.n_threads):
            sums += some
            total += share
        return self._in_order(sums, total)

    def _in_order(self, sums: _Vector, total: float) -> _Vector:
        """Return sums in the order of the basis, with that of the constant behind them."""
        out = np.full(self.basis.dimension, total)
        out[self._store.terms.order] = sums[: len(self.basis)]
        return out

    def _bordered(
        self, sums: NDArray[np.float64], indices: NDArray[np.int64], weights: _Vector
    ) -> NDArray[np.float64]:
        """Return a Gram matrix in the order of the basis, with a row and a column of the constant."""
        places = np.empty(len(self.basis), np.int64)
        places[self._store.terms.order] = np.arange(len(places))
        out = np.empty((self.basis.dimension, self.basis.dimension))
        for start in range(0, len(places), _ROWS_AT_ONCE):  # while they are in the cache
            some = slice(start, min(start + _ROWS_AT_ONCE, len(places)))
            out[some, : len(places)] = np.take(sums[places[some]], places, axis=1)
        if self._constant:
            out[-1] = out[:, -1] = self._combined(indices, weights)
        return out

    def _padded(self, coef: _Vector) -> _Vector:
        """Return coefficients in the order of the panels."""
        padded = np.zeros(self._width)
        padded[: len(self.basis)] = coef[self._store.terms.order]
        return padded

    def _shift(self, coef: _Vector) -> float:
        """Return the coefficient of the constant."""
        return float(coef[-1]) if self._constant else 0.0


def panels_if_it_pays(
    rows: Rows, basis: Basis, limits: Limits, make_exact: Callable[[], Matrix]
) -> PanelMatrix | None:
    """Return a matrix of the panels that count, if these are few, as a sample of rows tells.

    Not worth a look below `FEWEST_VALUES` rows times terms.
    """
    least = _LEAST_VALUE * limits.tol
    if not may_prune(rows, basis.points, basis.kernel, least):
        return None
    terms = OrderedTerms(basis.points, np.zeros(len(basis)), basis.kernel)
    store = PanelStore(rows, terms, least, limits.memory)
    share = store.share
    size = share * len(rows) * terms.n_panels * _core.PANEL_BYTES
    if share > _LARGEST_SHARE or size > _HELD_SHARE * limits.memory:
        return None
    start = limits.clock()
    if size <= _HELD_SHARE * limits.room:
        store.keep(limits.n_threads, limits.tick)
        seconds = limits.clock() - start
    else:  # nobody knows
        seconds = _AGES
    matrix = PanelMatrix(store, basis, limits.n_threads, make_exact, tick=limits.tick)
    all_panels = float(terms.near(rows, sample(len(rows), _SAMPLE), SMALLEST).mean())
    matrix.filled = share
    matrix.exact_seconds = seconds * all_panels / max(share, 1e-3)
    return matrix

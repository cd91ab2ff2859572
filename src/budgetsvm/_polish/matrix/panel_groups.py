"""Terms in the order of their panels, as groups of near ones and as rows of their own: what is nearly block diagonal."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.matrices.triangular import slices
from budgetsvm._common.threads import for_each
from budgetsvm._model.pruning import OrderedTerms
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Tick
from budgetsvm._polish.matrix.panel_store import PanelStore, Share
from budgetsvm._problem.rows import Rows

_Vector = NDArray[np.float64]

_GROUP = 512  # terms
_TASKS = 16
_LEAST = 1e-12  # of K_ZZ: with thousands of terms, what is left out stays far below what a basis tells apart


class TermPanels:
    """The terms of a basis as rows: what is left of K_ZZ, in double, and the groups of another order of the terms.

    K_ZZ may have eigenvalues so small that rounding to single precision would make them negative.
    """

    def __init__(self, of: PanelStore, basis: Basis) -> None:
        self.groups = PanelGroups(of.terms, basis)
        points = basis.points.astype(np.float64)
        terms = OrderedTerms(points, np.zeros(len(points)), basis.kernel)
        self._store = PanelStore(Rows(points, np.float64, None), terms, _LEAST, np.inf)
        self._store.keep(basis.n_threads)
        self._shares = self._store.shares(np.arange(len(points)))

    def times(self, coef: _Vector, n_threads: int) -> _Vector:
        """Return K_ZZ coef."""
        terms, values = self._store.terms, np.empty(len(coef))
        padded = np.zeros(terms.n_panels * terms.store.lanes)
        padded[: len(coef)] = coef[terms.order]

        def evaluate(share: Share) -> None:
            some = np.empty(len(share.rows))
            _core.panel_times(self._store.part(share.part), share.rows, padded, some)
            values[share.places] = some

        for_each(evaluate, self._shares, n_threads)
        return values


class PanelGroups:
    """Groups of panels that follow each other; the constant, if there is one, is a group of its own."""

    def __init__(self, terms: OrderedTerms, basis: Basis) -> None:
        lanes = terms.store.lanes
        self._lanes = lanes
        order = terms.order
        self.groups: Sequence[NDArray[np.int64]] = [
            order[start : start + _GROUP] for start in range(0, len(order), _GROUP)
        ]
        self.n_groups = len(self.groups)  #: without the constant
        if basis.dimension > len(basis):
            self.groups = [*self.groups, np.array([len(basis)])]

    def gram(
        self,
        store: PanelStore,
        shares: list[Share],
        weights: _Vector,
        n_threads: int,
        tick: Tick,
    ) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ of all groups, each by one thread; weights are in the order of the places."""
        blocks = np.zeros((len(self.groups), _GROUP, _GROUP))

        def add(some: slice) -> None:
            for share in shares:
                tick()
                own = store.part(share.part), share.rows, weights[share.places]
                _core.add_panel_blocks(*own, some.start, blocks[some])
            for start in range(0, _GROUP, self._lanes):
                stop = start + self._lanes
                mirrored = blocks[some, start:stop, stop:]
                blocks[some, stop:, start:stop] = mirrored.transpose(0, 2, 1)

        tasks = _TASKS if store.is_kept else 1
        for_each(add, slices(0, self.n_groups, max(1, -(-self.n_groups // tasks))), n_threads)
        if len(self.groups) > self.n_groups:
            blocks[-1, 0, 0] = weights.sum()
        return blocks

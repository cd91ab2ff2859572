"""Rows that are spread over the partitions of a cluster, where a few of them are wanted here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._problem.rows import Rows, Source
from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._workers.blocks import rows_here, sparse_block


@dataclass(frozen=True, eq=False)
class SpreadX:
    """A data matrix whose blocks are results of tasks; indexed by rows it fetches these."""

    cluster: Cluster
    blocks: Sequence[Any]  #: futures
    ends: NDArray[np.int64]  #: of the blocks, in rows of all
    n_features: int
    is_sparse: bool
    row_bytes: float  #: of a row, on average

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return int(self.ends[-1]), self.n_features

    def __getitem__(self, chosen: Any) -> Any:
        if isinstance(chosen, slice):
            chosen = np.arange(*chosen.indices(self.shape[0]))
        chosen = np.asarray(chosen, np.int64)
        order = np.argsort(chosen, kind="stable")
        shares = shares_of(self.ends, chosen[order])
        parts = [part for some in self._at_once(shares) for part in self._ask(some)]
        if not parts:
            empty = np.zeros((0, self.n_features))
            return sparse.csr_array(empty) if self.is_sparse else empty
        found = sparse.vstack(parts, format="csr") if self.is_sparse else np.concatenate(parts)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return found if np.array_equal(back, order) and _sorted(chosen) else found[back]

    def _ask(self, shares: Sequence["Share"]) -> list[Any]:
        blocks = [self.blocks[share.number] for share in shares]
        return self.cluster.ask("rows", rows_here, blocks, [share.rows for share in shares])

    def _at_once(self, shares: Sequence["Share"]) -> Iterator[list["Share"]]:
        """Yield shares in groups for which workers have room beside all the rest: they wait there to be fetched."""
        group, room = list["Share"](), self.cluster.room_on_the_way()
        left = room
        for share in shares:
            size = self.row_bytes * len(share.rows)
            if group and size > left:
                yield group
                group, left = [], room
            group.append(share)
            left -= size
        if group:
            yield group

    def as_sparse(self) -> "SpreadX":
        """Return the same with sparse rows."""
        if self.is_sparse:
            return self
        blocks = self.cluster.keep("sparse_rows", sparse_block, self.blocks)
        return replace(self, blocks=blocks, is_sparse=True)


def _sorted(chosen: NDArray[np.int64]) -> bool:
    return bool((np.diff(chosen) >= 0).all())


@dataclass(frozen=True)
class Share:
    """What a partition has of some rows: their places among all that were chosen, and their numbers in it."""

    number: int
    where: slice
    rows: NDArray[np.int64]


def shares_of(ends: NDArray[np.int64], chosen: NDArray[np.int64]) -> list[Share]:
    """Return what partitions, which end in these rows, have of sorted rows; only those that have any."""
    bounds = np.concatenate([[0], np.searchsorted(chosen, ends)])
    starts = np.concatenate([[0], ends[:-1]])
    return [
        Share(i, slice(int(first), int(last)), chosen[first:last] - starts[i])
        for i, (first, last) in enumerate(pairwise(bounds))
        if last > first
    ]


class SpreadRows(Rows):
    """The rows of a spread matrix, in the precision of the core."""

    @property
    def row_cost(self) -> float:
        """Values per row that the core has to look at, at most."""
        return float(self.X.n_features)

    def given(self, chosen: NDArray[np.int64]) -> Any:
        """Return the chosen rows, fetched from where they are."""
        return self.X[chosen]

    def source(self, chosen: slice | NDArray[np.int64]) -> Source:
        """Return the chosen rows for the core, fetched from where they are."""
        here = Rows(self.X[chosen], self.dtype, self.centre, self.sparse_points)
        return here.source(slice(0, len(here)))

"""The matrix of phase 2 on a cluster: each partition keeps its kernel values, and adds its share to every product.

Per product, coefficients (a number per term) travel to the partitions, and sums (the same) back; products that have a number
for every row send or bring that. Rows with weights, of a linear system that takes many products to solve, travel once. Few rows,
as samples have, come to the client, where a product takes less time than a round.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import Limits
from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._common.memory import LARGEST_LIMIT
from budgetsvm._common.threads import map_in_order
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix, Tick
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.some_rows import SomeRows
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Precision, Rows
from budgetsvm.distributed._rounds.asker import Asker
from budgetsvm.distributed._rounds.shared import SharedRounds
from budgetsvm.distributed._rows import SpreadRows, shares_of
from budgetsvm.distributed._workers import members as _members
from budgetsvm.distributed._workers.members import Chosen, Member, SomeOfMember, Terms

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]

_Solved = TypeVar("_Solved")

_PAIR = 12  # bytes of the number of a row, and its weight
# Outputs that are solved at the same time: at most, and rows of all of these. The client has some ten numbers for each.
_AT_ONCE, _ROWS_AT_ONCE = 16, 1 << 27
# Bytes that kernel values of some rows may take at the client, for all of these outputs.
_HERE = 1 << 28


class SpreadMatrix(Matrix):
    """Rows on a basis, in parts that are results of tasks; `remake` returns the same rows on another basis.

    Kernel values of some rows that `fetch` brings to the client may take `here` bytes.
    """

    def __init__(
        self,
        asker: Asker,
        members: Sequence[Any],
        ends: _Indices,
        basis: Basis,
        *,
        dtype: Precision,
        tick: Tick,
        remake: Callable[[Basis], Matrix],
        fetch: Callable[[_Indices], Rows],
        here: float | None = None,
    ) -> None:
        super().__init__(int(ends[-1]), basis, tick)
        self.dtype = dtype
        self._fetch, self._here = fetch, _HERE if here is None else here
        self._asker, self._members, self._ends, self._remake = asker, members, ends, remake
        self._kept: tuple[_Indices, _Vector, Any] | None = None

    @property
    def most_sampled(self) -> int:
        """Rows whose kernel values may come to the client, where a product takes less time than a round."""
        size = np.dtype(self.dtype).itemsize * max(1, self.basis.dimension)
        return int(self._here // size)

    def times(self, w: _Vector) -> _Vector:
        """Return f(x_i) of all rows."""
        self.tick()
        coef = self.basis.coefficients(w)
        return np.concatenate(self._asker.ask("values", _members.values, self._members, coef=coef))

    def transposed_times(self, v: _Vector) -> _Vector:
        """Return Σ_i v_i g_i."""
        self.tick()
        rows = nonzero_places(v)
        members, chosen = self._chosen(rows, v[rows])
        if (
            _PAIR * len(rows) > v.itemsize * self.n
        ):  # numbers of rows would be more than what they save
            members, parts = list(self._members), np.split(v, self._ends[:-1])
            chosen = [Chosen(None, part) for part in parts]
        shape = (self.basis.dimension,)
        sums = self._asker.total("gradient", shape, _members.sums, members, chosen)
        return self.basis.projection(sums)

    def normal_times(self, indices: _Indices, weights: _Vector, coef: _Vector) -> _Vector:
        """Return Σ_i weights_i <k_i, coef> k_i."""
        self.tick()
        members, chosen = self._sent(indices, weights)
        return self._asker.total(
            "hessian_product", coef.shape, _members.normal_sums, members, chosen, coef=coef
        )

    def gram(self, indices: _Indices, weights: _Vector) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ."""
        self.tick()
        members, chosen = self._chosen(*_in_order(indices, weights))
        shape = (self.basis.dimension, self.basis.dimension)
        return self._asker.total("gram_matrix", shape, _members.gram, members, chosen)

    def some(self, chosen: _Indices) -> Matrix:
        """Return a matrix of the chosen rows."""
        if len(chosen) == 0 or not (np.diff(chosen) > 0).all():
            return SomeRows(self, chosen)
        if len(chosen) <= self.most_sampled:
            here, threads = self._fetch(chosen), self.basis.n_threads
            return KernelMatrix(here, self.basis, threads, LARGEST_LIMIT, tick=self.tick)
        shares = shares_of(self._ends, chosen)
        members = [self._members[share.number] for share in shares]
        rows = [_short(share.rows) for share in shares]
        some = self._asker.keep("some_rows", SomeOfMember, members, rows)
        ends = np.array([share.where.stop for share in shares])
        return SpreadMatrix(
            self._asker,
            some,
            ends,
            self.basis,
            dtype=self.dtype,
            tick=self.tick,
            remake=lambda basis: self._remake(basis).some(chosen),
            fetch=lambda some: self._fetch(chosen[some]),
            here=self._here,
        )

    def against(self, basis: Basis) -> Matrix:
        """Return the same rows on another basis, of few terms."""
        return self._remake(basis)

    def for_each(self, solve: Callable[[Matrix, int], _Solved], count: int) -> list[_Solved]:
        """Solve several outputs at the same time, in rounds that they share."""
        at_once = max(1, min(_AT_ONCE, count, _ROWS_AT_ONCE // self.n))
        rounds = SharedRounds(self._asker, self._members)

        def one(c: int) -> _Solved:
            with rounds.inside():
                return solve(self._by(rounds, self._here / at_once), c)

        return map_in_order(one, range(count), at_once)

    def _by(self, asker: Asker, here: float) -> "SpreadMatrix":
        """Return the same matrix, that asks in another way, and brings less to the client."""
        return SpreadMatrix(
            asker,
            self._members,
            self._ends,
            self.basis,
            dtype=self.dtype,
            tick=self.tick,
            remake=self._remake,
            fetch=self._fetch,
            here=here,
        )

    def _sent(self, indices: _Indices, weights: _Vector) -> tuple[list[Any], list[Any]]:
        """Return members, and their rows with weights as results of tasks: for many products with the same."""
        if (
            self._kept is None
            or self._kept[0] is not indices
            or not np.array_equal(self._kept[1], weights)
        ):
            members, chosen = self._chosen(*_in_order(indices, weights))
            sent = self._asker.keep("weights", _members.chosen_here, members, chosen)
            self._kept = indices, weights.copy(), (members, sent)
        members, sent = self._kept[2]
        return members, sent

    def _chosen(self, rows: _Indices, weights: _Vector) -> tuple[list[Any], list[Chosen]]:
        """Return the members that have any of these sorted rows, and theirs with their weights."""
        shares = shares_of(self._ends, rows)
        chosen = [Chosen(_short(share.rows), weights[share.where]) for share in shares]
        return [self._members[share.number] for share in shares], chosen


def _in_order(indices: _Indices, weights: _Vector) -> tuple[_Indices, _Vector]:
    if (np.diff(indices) >= 0).all():
        return indices, weights
    order = np.argsort(indices, kind="stable")
    return indices[order], weights[order]


def _short(rows: _Indices) -> NDArray[np.integer[Any]]:
    """Return numbers of rows in half the bytes; a partition has less than four billion."""
    return rows.astype(np.uint32)


def spread_matrix(
    problem: Problem, basis: Basis, limits: Limits, memory_limit: float | None
) -> Matrix:
    """Return the matrix of a problem whose rows are spread; kernel values are computed where the rows are."""
    rows = problem.rows
    assert isinstance(rows, SpreadRows)
    X, cluster = rows.X, rows.X.cluster

    def fetch(chosen: _Indices) -> Rows:
        return Rows(X[chosen], rows.dtype, rows.centre, rows.sparse_points)

    def make(basis: Basis, *, keep: bool) -> SpreadMatrix:
        limits.tick()
        terms = Terms(
            basis.kernel,
            basis.points,
            basis.dimension,
            rows.dtype,
            rows.centre,
            rows.sparse_points,
            keep,
            memory_limit,
        )
        sent = cluster.once("terms", _members.as_it_is, terms)
        members = cluster.keep("kernel_values", Member, X.blocks, [sent] * len(X.blocks))
        return SpreadMatrix(
            cluster,
            members,
            X.ends,
            basis,
            dtype=rows.dtype,
            tick=limits.tick,
            remake=lambda other: make(other, keep=False),
            fetch=fetch,
        )

    return make(basis, keep=True)

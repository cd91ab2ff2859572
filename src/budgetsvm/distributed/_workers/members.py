"""What workers do: kernel values of a partition's rows, and products with them.

Products are those of `KernelMatrix`, whose bits depend neither on threads nor on whether kernel values are kept or computed
anew. So a worker may keep those that it has room for, and whoever computes them again, after a loss, need not keep them.
"""

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.memory import LARGEST_LIMIT
from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.blocks import BlockMatrix
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._problem.points import Points
from budgetsvm._problem.rows import Rows
from budgetsvm.distributed._workers.blocks import Block
from budgetsvm.distributed._workers.memory import counted, room
from budgetsvm.kernels import Kernel

# Where they are not kept, bytes of those of some rows that many steps are about: of all, and at most.
_SOME, _MOST_SOME = 1 / 16, float(1 << 25)
_lock = Lock()
_taken = [0.0]  # bytes that tasks of this process are about to take


# No tuples: Dask looks into those for tasks.
@dataclass(frozen=True, eq=False)
class Terms:
    """What kernel values are of: points, and the number of columns, that of constants included; and how to compute them."""

    kernel: Kernel
    points: Points
    dimension: int
    dtype: Any
    centre: NDArray[np.float64] | None
    sparse_points: bool
    keep: bool
    memory_limit: float | None  #: bytes, of kernel values that a worker keeps


class Member:
    """The rows of a partition on the terms of a basis.

    A pickle has all but the kernel values. Whoever opens it, as where Dask had written it to disk, computes these anew in
    every product: there was no room for them.
    """

    def __init__(self, block: Block, terms: Terms, *, opened: bool = False) -> None:
        self._block, self._terms = block, terms
        rows = Rows(block.X, terms.dtype, terms.centre, terms.sparse_points)
        basis = Basis.bare(terms.points, terms.kernel, terms.dimension)
        wanted = len(rows) * terms.dimension * np.dtype(terms.dtype).itemsize
        with _lock:
            keep = terms.keep and not opened
            free = room(terms.memory_limit) - _taken[0] if keep else 0.0
            self._bytes = wanted if wanted <= free else 0
            _taken[0] += self._bytes
        try:
            some = min(_SOME * wanted, _MOST_SOME)
            self.matrix: BlockMatrix = KernelMatrix(
                rows,
                basis,
                1,
                LARGEST_LIMIT,
                hold=terms.keep,
                room=np.inf if self._bytes else some,
            )
        finally:
            with _lock:
                _taken[0] -= self._bytes

    def __reduce__(self) -> Any:
        return _opened, (self._block, self._terms)

    def __sizeof__(self) -> int:
        # Rows count twice, as a block and here: what Dask writes to disk of one of both is still in memory for the other.
        return counted(self._bytes) + self._block.__sizeof__()


def _opened(block: Block, terms: Terms) -> Member:
    return Member(block, terms, opened=True)


class SomeOfMember:
    """Some rows of a partition."""

    def __init__(self, member: Member, rows: NDArray[np.integer[Any]]) -> None:
        self._member, self._rows = member, rows
        self.matrix = member.matrix.some(rows.astype(np.int64))

    def __reduce__(self) -> Any:
        return SomeOfMember, (self._member, self._rows)

    def __sizeof__(self) -> int:
        return int(self._rows.nbytes) + 1024


@dataclass(frozen=True, eq=False)
class Chosen:
    """Rows of a partition with their weights; None for all rows."""

    rows: NDArray[np.integer[Any]] | None
    weights: NDArray[np.float64]


def as_it_is(value: Any) -> Any:
    """Return what is written into the task."""
    return value


def chosen_here(member: Any, chosen: Chosen) -> Chosen:  # noqa: ARG001 - it says where
    """Keep chosen rows beside their partition."""
    return chosen


def values(member: Any, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return <k_i, coef> of all rows."""
    return np.asarray(member.matrix.times(coef))


def sums(member: Any, chosen: Chosen) -> NDArray[np.float64]:
    """Return Σ_i v_i k_i."""
    v = chosen.weights
    if chosen.rows is not None:
        v = np.zeros(member.matrix.n)
        v[chosen.rows] = chosen.weights
    return np.asarray(member.matrix.transposed_times(v))


def normal_sums(member: Any, chosen: Chosen, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_i c_i <k_i, coef> k_i."""
    return np.asarray(member.matrix.normal_times(_indices(member, chosen), chosen.weights, coef))


def gram(member: Any, chosen: Chosen) -> NDArray[np.float64]:
    """Return Σ_i c_i k_i k_iᵀ."""
    with single_threaded_blas():  # more threads would sum up in another order
        return np.asarray(member.matrix.gram(_indices(member, chosen), chosen.weights))


def _indices(member: Any, chosen: Chosen) -> NDArray[np.int64]:
    if chosen.rows is None:
        return np.arange(member.matrix.n)
    return chosen.rows.astype(np.int64)

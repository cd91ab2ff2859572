"""What solvers need of the rows of a problem: four products, each of them a sum over rows.

A row x_i is a vector k_i of kernel values k(x_i, z_j), one for each term of a basis, and in orthonormal
coordinates g_i = L⁻¹ k_i (`basis.py`). Nothing is said of how rows are stored: in memory, sparse, computed
anew each time, or spread over machines that add up what each of them contributes. Coordinate ascent alone
looks at single rows; a matrix that can show them is a `RowMatrix`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from sys import maxsize
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from budgetsvm._polish.basis import Basis
from budgetsvm._problem.rows import Precision

#: Called between parts of a computation, with multiplications to come; may raise an exception to end it.
Tick: TypeAlias = Callable[..., None]
_Solved = TypeVar("_Solved")


def no_limit(multiplications: float = 0.0) -> None:
    """Go on in any case."""


@dataclass(eq=False)
class Matrix(ABC):
    """n rows on the span of a basis; `tick` is called between parts of a product."""

    n: int
    basis: Basis
    tick: Tick = no_limit
    dtype: Precision = field(default=np.float64, init=False)  #: in which kernel values are computed
    #: Whether a product with some rows costs much less than forming their Gram matrix does: it does not where
    #: kernel values are computed anew each time.
    at_hand: bool = field(default=True, init=False)
    #: Where kernel values are left out, the seconds that `exactly` takes, roughly; None: products are exact.
    exact_seconds: float | None = field(default=None, init=False)
    filled: float = field(
        default=1.0, init=False
    )  #: the share of kernel values that are not left out
    most_some: int = field(default=maxsize, init=False)  #: rows that `some` may be asked for
    share: float = field(default=1.0, init=False)  #: of all kernel values, that are not left out
    #: Terms that are near each other, where most of them are not: then diagonal blocks of a Gram matrix say most of it.
    groups: Sequence[NDArray[np.int64]] = field(default=(), init=False)

    @property
    def most_sampled(self) -> int:
        """Rows up to which products with a sample are cheap."""
        return self.most_some

    @abstractmethod
    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f(x_i) = <w, g_i> of all rows, for orthonormal coordinates w."""

    @abstractmethod
    def transposed_times(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i v_i g_i, in orthonormal coordinates; many v_i may be zero."""

    @abstractmethod
    def normal_times(
        self,
        indices: NDArray[np.int64],
        weights: NDArray[np.float64],
        coef: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return Σ_i weights_i <k_i, coef> k_i over the given rows k_i of kernel values."""

    @abstractmethod
    def gram(self, indices: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i weights_i k_i k_iᵀ over the given rows k_i of kernel values."""

    def gram_of_groups(
        self, indices: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the blocks of `gram` that belong to `groups`, (groups, s, s); smaller ones have zeros behind them."""
        largest = max(map(len, self.groups), default=0)
        whole = self.gram(indices, weights)
        blocks = np.zeros((len(self.groups), largest, largest))
        for block, group in zip(blocks, self.groups, strict=True):
            block[: len(group), : len(group)] = whole[np.ix_(group, group)]
        return blocks

    def gram_of_terms_times(self, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K_ZZ coef, up to what is left out."""
        return self.basis.gram_times(coef, self.dtype)

    @abstractmethod
    def some(self, chosen: NDArray[np.int64]) -> "Matrix":
        """Return a matrix of the chosen rows, at most `most_some`; `SomeRows` is one for any matrix."""

    @abstractmethod
    def against(self, basis: Basis) -> "Matrix":
        """Return the same rows on another basis, of few terms."""

    def exactly(
        self, w: NDArray[np.float64], v: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return `times(w)` and `transposed_times(v)` of the true kernel."""
        return self.times(w), self.transposed_times(v)

    def exact(self) -> "Matrix":
        """Return the matrix of the true kernel; this one is not to be used any more."""
        return self

    def for_each(self, solve: Callable[["Matrix", int], _Solved], count: int) -> "list[_Solved]":
        """Return what `solve` makes of this matrix for each of several outputs that do not know of each other."""
        return [solve(self, c) for c in range(count)]

    def orthonormal(self) -> "RowMatrix | None":
        """Return the same rows with features that are kept, for many visits; None: there is no room."""
        return None


class Block(NamedTuple):
    """An array that has the rows that were asked for, maybe among others, and where they are in it.

    Rows that follow each other in the matrix do so in the array.
    """

    rows: NDArray[Any]
    where: NDArray[np.int64]


class RowMatrix(Matrix):
    """A matrix whose rows can be visited, as coordinate ascent does."""

    n_threads: int = 1

    @property
    def most_features(self) -> int:
        """How many rows `feature_rows` may be asked for."""
        return self.most_some

    @abstractmethod
    def value_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the kernel values k_i of the chosen rows."""

    @abstractmethod
    def feature_rows(self, chosen: NDArray[np.int64]) -> Block:
        """Return the orthonormal features g_i of the chosen rows."""

    @abstractmethod
    def some(self, chosen: NDArray[np.int64]) -> "RowMatrix":
        """Return a matrix of the chosen rows, at most `most_some`."""

    def only(self, chosen: NDArray[np.int64]) -> "RowMatrix":
        """Return a matrix of the chosen rows, for many visits."""
        return self.some(chosen)

    @abstractmethod
    def against(self, basis: Basis) -> "RowMatrix":
        """Return the same rows on another basis, of few terms."""

    @abstractmethod
    def parts(self, n: int) -> list[slice]:
        """Return slices of n rows; the work of all threads on one each takes bounded memory."""

    def squared_norms(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return ‖g‖² of all rows of a block of features."""
        return np.asarray(np.einsum("ij,ij->i", features, features))

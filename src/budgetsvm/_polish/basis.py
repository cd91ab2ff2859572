"""The span of a model's terms, with orthonormal coordinates.

In the span of terms z_1..z_r a function is f = Σ_j β_j k(·, z_j) = Σ_j w_j g_j, where the features
g = L⁻¹ k(·, Z) are orthonormal: K_ZZ = L Lᵀ, ‖f‖² = ‖w‖², β = L⁻ᵀ w. A bias b is the coefficient of
one more function, the constant 1, that is orthogonal to all terms: ‖f + b‖² = ‖f‖² + b². A *free* constant
costs nothing, as LIBSVM has it: ‖f + b‖² = ‖f‖². Its coordinate is b / s, s² being a typical k(z, z), so that it
is of the size of the others.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, block_diag, lapack
from scipy.linalg.blas import dsymv, dtrmm, ssymv

from budgetsvm import _core
from budgetsvm._common.matrices.factorisation import (
    cut_to_lower,
    principal,
    symmetrised,
)
from budgetsvm._common.matrices.independent import explained, independent_rows, share_left_over
from budgetsvm._common.matrices.triangular import solve_lower, solve_upper, upper_times
from budgetsvm._common.threads import single_threaded_blas
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.points import Points
from budgetsvm._problem.rows import Precision, Rows
from budgetsvm.kernels import Kernel, Sigmoid

# A term is left out of the basis if less than this share of the largest k(z, z) is new in it: its
# coefficients would amplify the rounding errors of kernel values. Where C is large such a term may still
# count: those that are left out in single precision but would not be in double are remembered, the
# first few of them, so that `audit.py` can tell.
_RANK_TOLERANCE = {np.float32: 1e-5, np.float64: 1e-10}
# Distances between points far from the origin are less precise than that: coefficients may amplify the error
# of kernel values to this much, and no further.
_AMPLIFIED_ERROR, _LARGEST_TOLERANCE = 3e-3, 1e-3
_IMPRECISE = 1e3  # in units of rounding errors
_REMEMBERED = 16
_SMALL = 1024  # terms: of no more, LAPACK chooses
_SAFE = 0.1  # of the smallest pivot of K_ZZ: rounding errors of products in single precision
# In the place of the norm of a free constant, for Newton's method: a step that no row says anything of is finite.
_RIDGE = 1e-9


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Terms that were left out; `lower` are their rows of L, for the terms kept and then themselves."""

    points: Points
    lower: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Basis:
    """Linearly independent terms; `kept` says which, `gram` is K_ZZ, `lower` L.

    With a constant, these matrices have one more row and column than there are points; `free`: it costs nothing.
    """

    kernel: Kernel
    points: Points
    kept: NDArray[np.int64]
    gram: NDArray[np.float64]
    lower: NDArray[np.float64]
    left_out: LeftOut | None = None
    n_threads: int = 1  #: of products and systems with large matrices; they change no bit
    free: bool = False
    size_of_constant: float = 1.0  #: 1 / s
    lost: float = 0.0  #: of a kernel that is not positive definite: see `share_left_over`

    @classmethod
    def of(
        cls,
        points: Points,
        kernel: Kernel,
        *,
        constant: bool = False,
        free: bool = False,
        n_threads: int = 1,
        tick: Callable[[float], None] | None = None,
    ) -> Self:
        """Choose a basis among the points, by a Cholesky decomposition with pivots."""
        gram = _gram(points.astype(np.float64), kernel)
        largest = max(float(gram.max(initial=0.0)), -float(gram.min(initial=0.0)))
        least, tolerance = (
            largest * _tolerance(points, kernel, t) for t in (np.float64, points.dtype.type)
        )
        with single_threaded_blas():
            chosen = _choose(gram, least, tolerance, n_threads, tick or _no_limit)
        kept, more = chosen.kept, chosen.more
        left_out = LeftOut(points[more], chosen.lower_of_more) if len(more) else None
        unknown = kernel.in_python or (isinstance(kernel, Sigmoid) and not len(kept))
        lost = share_left_over(gram, kept, chosen.lower, n_threads) if unknown else 0.0
        if len(kept) < len(gram) or (np.diff(kept) != 1).any():
            gram = principal(gram, kept)
        matrices = gram, chosen.lower
        size = _size_of_constant(gram) if free else 1.0
        if constant or free:
            square = _RIDGE if free else 1.0
            matrices = block_diag(matrices[0], square), block_diag(matrices[1], size)
        return cls(kernel, points[kept], kept, *matrices, left_out, n_threads, free, size, lost)

    @classmethod
    def plain(cls, points: Points, kernel: Kernel) -> Self:
        """Return points as they are, as if they were orthonormal: sums over rows stay what they are."""
        one = np.eye(points.shape[0])
        return cls(kernel, points, np.arange(len(one)), one, one)

    @classmethod
    def bare(cls, points: Points, kernel: Kernel, dimension: int) -> "Basis":
        """Return points without what their matrices say: for sums over rows, which somebody else has coordinates for."""
        nothing = np.broadcast_to(0.0, (dimension, dimension))
        return _OrthonormalBasis(kernel, points, np.arange(int(points.shape[0])), nothing, nothing)

    def __len__(self) -> int:
        return int(self.points.shape[0])

    @property
    def dimension(self) -> int:
        """The dimension of the span."""
        return len(self.gram)

    def orthonormal(self) -> "Basis":
        """Return the same span with its orthonormal features as terms."""
        one = np.eye(self.dimension)
        gram = np.diag(np.append(np.ones(len(self)), _RIDGE)) if self.free else one
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return _OrthonormalBasis(**(own | {"gram": gram, "lower": one}))

    @cached_property
    def inverse(self) -> NDArray[np.float64]:
        """L⁻ᵀ, for whoever multiplies many rows with it: it takes as long as L itself.

        Ask for it before threads do: they would wait for each other. BLAS has one thread where bases are used.
        """
        inverse = lapack.dtrtri(self.lower, lower=1)[0] if self.dimension else self.lower
        return np.ascontiguousarray(inverse.T)

    @cached_property
    def _fits_single(self) -> bool:
        """Whether products with K_ZZ in single precision are precise in all directions.

        Their errors are up to ε r in any of them. Where eigenvalues are smaller than that, as those of wide kernels
        are, conjugate gradients diverge.
        """
        pivots = np.diag(self.lower) ** 2
        error = float(np.finfo(np.float32).eps) * float(np.trace(self.gram))
        return error < _SAFE * float(pivots.min(initial=np.inf))

    @cached_property
    def _gram_in_single(self) -> NDArray[np.float32]:
        return self.gram.astype(np.float32)

    def gram_times(self, coef: NDArray[np.float64], precision: Precision) -> NDArray[np.float64]:
        """Return K_ZZ coef, in that precision if it is precise enough; of the matrix, one half is read."""
        if precision == np.float32 and self._fits_single:
            return np.asarray(ssymv(1.0, self._gram_in_single.T, coef), np.float64)
        return np.asarray(dsymv(1.0, self.gram.T, coef))

    def costly(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w without what costs nothing: ‖f‖² is the squared norm of that."""
        if not self.free:
            return w
        w = w.copy()
        w[-1] = 0
        return w

    def raised(self, w: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
        """Return the coordinates of a function that is larger by a constant, where there is one."""
        w = w.copy()
        w[-1] += shift * self.size_of_constant
        return w

    def coefficients(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return β, and the bias behind them, for orthonormal coordinates w, of one output or in columns."""
        return solve_upper(self.lower, w, self.n_threads)

    def expand(
        self, points: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients (outputs, terms) and biases, for orthonormal coordinates of all outputs, one in each row."""
        coef = self.coefficients(points.T).T
        terms, bias = coef[:, : len(self)], coef[:, len(self) :].sum(axis=1)  # one number or none
        return np.ascontiguousarray(terms), bias

    def coordinates(self, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return orthonormal coordinates for coefficients β of the terms kept."""
        return upper_times(self.lower, coef, self.n_threads)

    def features(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the orthonormal features of rows of kernel values, with a constant behind them."""
        return orthonormal_features(self.inverse, values)

    def projection(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return orthonormal coordinates of a function whose products with the terms are `sums`."""
        return solve_lower(self.lower, sums, self.n_threads)


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Terms of a basis with their L, and some of those left out, with their rows of L."""

    kept: NDArray[np.int64]
    lower: NDArray[np.float64]
    more: NDArray[np.int64]
    lower_of_more: NDArray[np.float64]


def _choose(
    gram: NDArray[np.float64],
    least: float,
    tolerance: float,
    n_threads: int,
    tick: Callable[[float], None],
) -> _Chosen:
    """Choose terms; `least` must be new in those that are remembered, `tolerance` in those that are kept."""
    if len(gram) > _SMALL:
        # A kernel that is not positive definite: then pivots decide what is kept of it.
        with suppress(LinAlgError):
            return _choose_in_blocks(gram, least, tolerance, n_threads, tick)
    tick(len(gram) ** 3 / 6)
    # A symmetric matrix by columns is one by rows, and U is Lᵀ.
    factor, pivots, found, _ = lapack.dpstrf(gram.T, lower=0, tol=least)
    factor, order = factor.T, pivots.astype(np.int64) - 1
    # The pivots fall.
    rank = int(np.count_nonzero(np.diag(factor)[:found] ** 2 > tolerance))
    more = slice(rank, min(found, rank + _REMEMBERED))
    lower_of_more = np.tril(factor[more, : more.stop], rank)
    return _Chosen(order[:rank], cut_to_lower(factor[:rank, :rank]), order[more], lower_of_more)


def _choose_in_blocks(
    gram: NDArray[np.float64],
    least: float,
    tolerance: float,
    n_threads: int,
    tick: Callable[[float], None],
) -> _Chosen:
    found = independent_rows(gram, tolerance, n_threads, tick)
    others, rank = found.left_out, len(found.kept)
    if not len(others):
        return _Chosen(found.kept, found.lower, others, np.empty((0, rank)))
    tick(0.5 * len(others) * rank**2 / n_threads)
    known = explained(found.lower, gram[others][:, found.kept].T, n_threads)
    new = np.diag(gram)[others] - np.einsum("ij,ij->i", known, known)
    if new.min() < -tolerance:
        raise LinAlgError("not positive semi-definite")
    places, lower = _most_new(known, gram[np.ix_(others, others)], new, least)
    return _Chosen(found.kept, found.lower, others[places], lower)


def _most_new(
    known: NDArray[np.float64], gram: NDArray[np.float64], new: NDArray[np.float64], least: float
) -> tuple[list[int], NDArray[np.float64]]:
    """Return the first pivots of terms left out, and their rows of L; `new` is what the terms kept do not explain."""
    places: list[int] = []
    columns = np.empty((len(new), 0))
    while len(places) < _REMEMBERED and new.max() > least:
        place = int(new.argmax())
        rest = gram[place] - known @ known[place] - columns @ columns[place]
        column = rest / np.sqrt(new[place])
        columns, new = np.column_stack([columns, column]), new - column**2
        new[[*places, place]] = 0
        places.append(place)
    return places, np.hstack([known[places], np.tril(columns[places])])


def _no_limit(multiplications: float) -> None:
    """Go on in any case."""


class _OrthonormalBasis(Basis):
    """A basis whose terms are orthonormal themselves: there is nothing to solve."""

    def coefficients(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w."""
        return w

    def projection(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums."""
        return sums


def orthonormal_features(inverse: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.float64]:
    """Return rows of kernel values times L⁻ᵀ."""
    # L⁻ᵀ is triangular: half of the multiplications are with zeros, which BLAS leaves out.
    rows = values.astype(np.float64).T
    return np.asarray(dtrmm(1.0, inverse.T, rows, lower=1, overwrite_b=1).T)


def _size_of_constant(gram: NDArray[np.float64]) -> float:
    """Return 1 / s."""
    typical = float(np.mean(np.diag(gram))) if len(gram) else 1.0
    return 1 / np.sqrt(typical) if typical > 0 else 1.0


def _tolerance(points: Points, kernel: Kernel, precision: Precision) -> float:
    """Return the share of the largest kernel value that must be new in a term."""
    error = kernel.relative_error(points) * float(np.finfo(precision).eps)
    amplified = min(error / _AMPLIFIED_ERROR, _LARGEST_TOLERANCE**0.5) ** 2
    return float(max(_RANK_TOLERANCE[precision], amplified))


def _gram(points: Points, kernel: Kernel) -> NDArray[np.float64]:
    if (
        kernel.relative_error(points) > _IMPRECISE
    ):  # then by differences of features, which takes longer
        return kernel.matrix(points, points)
    n, rows = points.shape[0], Rows(points, np.float64, None)
    terms, gram = TermStore.of(points, np.zeros(n), kernel, 0), np.empty((n, n))
    source = rows.source(slice(0, n))
    _core.kernel_block(source, terms.arrays, terms.size, terms.core_kernel(kernel), gram)
    return symmetrised(gram)

"""Terms of a solution that can be left out, one after the other, while the others make up for it.

At the solution β of the full problem, whose terms are the support vectors, P is ½ δᵀH δ larger where β is moved by δ, with

    H = K + Σ_i c_i k_i k_iᵀ

over the rows on the margin, c_i = C_i / 2ε: those have a loss as soon as their value falls. To leave out term j at the least cost of all,
β_k -= β_j H⁻¹_kj / H⁻¹_jj, takes ½ β_j² / H⁻¹_jj (the *optimal brain surgeon*, Hassibi & Stork 1993). So the cheapest one goes, H⁻¹ follows by
a correction of rank one, and so on. Distances in the space of the kernel, ‖Δw‖² = δᵀK δ, are a poor guide beside that: they
let margins move, and every row of them costs C.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, blas, lapack, solve_triangular

from budgetsvm._common.limits import Limits
from budgetsvm._common.matrices.factorisation import mirrored
from budgetsvm._exact.dual import Certificate, certificate
from budgetsvm._exact.fewer_terms import Expansion
from budgetsvm._exact.solved import SolvedDual
from budgetsvm._exact.values.anew import ValuesAnew
from budgetsvm._polish.lines.shift import best_shift
from budgetsvm._problem.targets import SingleTarget

_Vector = NDArray[np.float64]
_Matrix = NDArray[np.float64]
_Indices = NDArray[np.int64]

#: Terms, whose Hessian takes a second to invert: of more, nothing is left out in this way.
MOST = 3000
_WIDTH = 0.05  # ε, in units of the margin
_AT_ONCE = 64  # that go, before the whole of H⁻¹ follows
_POOL = 4  # times these, candidates for that: corrections of rank one are theirs alone
# Of the largest diagonal entry; times that, where rounding makes H indefinite.
_RIDGE, _MORE = 1e-12, 100.0


def without_some(
    values: ValuesAnew, solved: SolvedDual, count: int
) -> tuple[Expansion, Certificate] | None:
    """Return a model with `count` of the terms of a solution, and its certificate: D is that of the solution.

    None: rounding errors are all that can be seen of the Hessian.
    """
    targets, terms = solved.targets, solved.support
    coef, box = solved.beta[terms], targets.box[terms]
    hessian = values.gram(terms).astype(np.float64)
    free = np.flatnonzero(abs(coef) < box)
    on_margin = hessian[free] * np.sqrt(box[free] / (2 * _WIDTH * margin(targets)))[:, np.newaxis]
    blas.dsyrk(1.0, on_margin.T, beta=1.0, c=hessian.T, lower=1, overwrite_c=1)
    try:
        stay, coef = eliminate(hessian, coef, count, values.limits)
    except LinAlgError:
        return None
    terms = terms[stay]
    f = values.sums(terms, coef)
    bias = best_shift(targets, 0.0, f)
    norms = float(coef @ f[terms]), float(solved.beta @ solved.f)
    known = certificate(targets, f + bias, norms[0], solved.alpha, norms[1])
    return Expansion(terms, coef[np.newaxis], np.array([bias])), known


def margin(targets: SingleTarget) -> float:
    """Return what slacks are measured by: the margin of a classifier, or ε."""
    return max((abs(kink) for kink in targets.loss.kinks), default=0.0) or 1.0


def eliminate(
    hessian: _Matrix, coef: _Vector, count: int, limits: Limits
) -> tuple[_Indices, _Vector]:
    """Return which `count` terms stay, and their coefficients; of the Hessian, which is lost, what is above the diagonal counts."""
    inverse, coef = _inverse(hessian), coef.copy()
    alive = np.ones(len(coef), np.bool_)
    excess = len(coef) - count
    while excess > 0:
        limits.tick()
        gone = _cheapest(inverse, coef, np.flatnonzero(alive), min(_AT_ONCE, excess))
        lower = np.linalg.cholesky(inverse[np.ix_(gone, gone)])
        share = solve_triangular(lower, inverse[gone], lower=True)
        coef -= solve_triangular(lower, coef[gone], lower=True) @ share
        # In place: it is symmetric, and so its own transpose, which is what BLAS wants.
        blas.dgemm(-1.0, share.T, share.T, 1.0, inverse.T, trans_b=1, overwrite_c=1)
        alive[gone] = False
        excess -= len(gone)
    stay = np.flatnonzero(alive)
    return stay, coef[stay]


def _inverse(hessian: _Matrix) -> _Matrix:
    """Return the inverse of a matrix that is positive definite, but for rounding."""
    diagonal = np.einsum("ii->i", hessian)
    ridge = _RIDGE * float(diagonal.max())
    while np.isfinite(ridge):
        diagonal += ridge
        lower, failed = lapack.dpotrf(hessian.T, lower=1)
        if not failed:
            return mirrored(lapack.dpotri(lower, lower=1, overwrite_c=1)[0].T)
        ridge *= _MORE
    raise LinAlgError("the Hessian is not positive definite")


def _cheapest(inverse: _Matrix, coef: _Vector, alive: _Indices, count: int) -> _Indices:
    """Return the terms to go next, each the cheapest one after those before it."""
    own, diagonal = coef[alive], inverse[alive, alive]
    size = min(_POOL * count, len(alive))
    pool = alive[np.argpartition(own**2 / diagonal, size - 1)[:size]]
    corner, own, chosen = inverse[np.ix_(pool, pool)], coef[pool], np.empty(count, np.int64)
    left = np.ones(size, np.bool_)
    for k in range(count):
        costs = np.full(size, np.inf)
        costs[left] = own[left] ** 2 / np.diag(corner)[left]
        j = int(np.argmin(costs))
        chosen[k], left[j] = j, False
        column = corner[:, j] / corner[j, j]
        own -= own[j] * column
        corner -= np.outer(column, corner[j])
    return pool[chosen]

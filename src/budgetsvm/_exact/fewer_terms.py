"""A model of no more terms than the budget, near a solution of the full problem that has more.

Terms are chosen among the support vectors: first pivots of a Cholesky decomposition, which takes the one with
the largest |α| times what is new in it, k(z, z) less the part that lies in the span of those before; then, as
that would take m B² operations for all, those with the largest such product after the first few hundred. Their
coefficients are those of the function in their span that is nearest to the solution: it has the same values
at all chosen points, K_ZZ β = f(Z), solved by conjugate gradients. The dual point is that of the full
problem, so that the gap between the two certifies the model against *all* models.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetsvm import _core
from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._common.threads import for_each
from budgetsvm._exact.dual import Certificate, OutputDual, certificate
from budgetsvm._exact.solved import SolvedDual
from budgetsvm._exact.values.anew import ValuesAnew
from budgetsvm._exact.values.kernel_rows import KernelRows
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import points_of
from budgetsvm._problem.rows import Rows
from budgetsvm.kernels import Kernel

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]
Dual: TypeAlias = OutputDual | SolvedDual
Values: TypeAlias = KernelRows | ValuesAnew

_PIVOTS = 256  # that take account of all before
_PROBES, _ROUGH = 64, 30.0  # pivots of a first look; times the tolerance, an estimate
_TOO_DEAR = 5.0  # times the tolerance, an estimate
_LOW = 1e-3  # of the kernel values
_LOOK, _MOST_STEPS = 10, 200  # of conjugate gradients
_ROWS_AT_ONCE = 512  # of a product
_AIM = 0.5  # of the gap that will do: what these look for, as it is cheap
_PROGRESS, _PATIENCE = (
    0.99,
    3,
)  # of P - D is left, after so many looks, where there is use in going on


@dataclass(frozen=True, eq=False)
class Expansion:
    """Rows that are the terms of a model, their coefficients (outputs, terms) and the biases."""

    terms: _Indices
    coef: NDArray[np.float64]
    bias: _Vector


def model_of(kernel: Kernel, rows: Rows, expansion: Expansion) -> KernelExpansion:
    """Return an expansion as a model of its own."""
    points = points_of(rows, expansion.terms)
    return KernelExpansion(kernel, points, expansion.coef, expansion.bias, rows.centre)


def whole(duals: Sequence[Dual], n: int) -> Expansion:
    """Return the solution itself, for n rows."""
    terms = np.flatnonzero(_sums(duals, n, 1))
    coef = np.empty((len(duals), len(terms)))
    for own, dual in zip(coef, duals, strict=True):
        own[:] = coefficients(dual, terms, n)
    return Expansion(terms, coef, np.array([dual.bias for dual in duals]))


def coefficients(dual: Dual, terms: _Indices, n: int) -> _Vector:
    """Return those of the terms; zero for rows that do not know of the output."""
    every = np.zeros(n)
    every[dual.rows] = dual.beta
    return every[terms]


def _sums(duals: Sequence[Dual], n: int, power: int) -> _Vector:
    """Return Σ |α|^power over all outputs, for every row."""
    total = np.zeros(n)
    for dual in duals:
        total[dual.rows] += abs(dual.alpha) ** power
    return total


class Pivots:
    """Pivots among some rows, by weight times what is new in them; `news` is what is new in each after all."""

    def __init__(
        self, kernel: Values, rows: _Indices, diagonal: _Vector, weights: _Vector, count: int
    ) -> None:
        self.rows, self.weights, self.news = rows, weights, diagonal.copy()
        least = float(np.finfo(kernel.rows.dtype).eps * diagonal.max(initial=0.0))
        self.chosen: list[int] = []
        lower = np.zeros((len(rows), count))
        for k in range(min(count, len(rows))):
            best = int(np.argmax(self.news * weights))
            if self.news[best] <= least:
                break  # what is left is rounding
            values = kernel.values(rows[best : best + 1], rows)[0]
            column = (values - lower[:, :k] @ lower[best, :k]) / np.sqrt(self.news[best])
            lower[:, k] = column
            self.news = np.maximum(0.0, self.news - column**2)
            self.news[best] = 0.0
            self.chosen.append(best)

    def best(self, count: int) -> _Indices:
        """Return so many rows, sorted: the pivots, and what promises most after them."""
        promise = self.news * self.weights
        promise[self.chosen] = np.inf
        return np.sort(self.rows[np.argsort(-promise, kind="stable")[:count]])


def pivots_of(kernel: Values, duals: Sequence[Dual], diagonal: _Vector, count: int) -> Pivots:
    """Return pivots among the support vectors of all outputs."""
    weights = _sums(duals, len(diagonal), 1)
    rows = nonzero_places(weights)
    return Pivots(kernel, rows, diagonal[rows], weights[rows], count)


def is_rough(kernel: Values, duals: Sequence[Dual], diagonal: _Vector, tol: float) -> bool:
    """Whether no support vector can be left out, by an estimate: then too much is new in each after some others.

    ½ Σ_i α_i² news_i is what leaving all of them out would cost if what is new in one were not in any other.
    """
    pivots = pivots_of(kernel, duals, diagonal, _PROBES)
    squares = _sums(duals, len(diagonal), 2)[pivots.rows]
    bound = sum(dual.certificate().dual for dual in duals)
    return 0.5 * float(squares @ pivots.news) > _ROUGH * tol * bound


def has_low_rank(kernel: Values, duals: Sequence[Dual], diagonal: _Vector) -> bool:
    """Whether next to nothing is new in a support vector after some others.

    Then coordinates hinder each other, and a solution in the span of those few is cheap.
    """
    if len(whole(duals, len(diagonal)).terms) <= 2 * _PROBES:  # there are no more than some
        return False
    pivots = pivots_of(kernel, duals, diagonal, _PROBES)
    every = float(diagonal[pivots.rows] @ pivots.weights)
    return float(pivots.news @ pivots.weights) <= _LOW * every


def choose_terms(
    kernel: Values, duals: Sequence[Dual], diagonal: _Vector, budget: int, good: float
) -> _Indices | None:
    """Return terms among the support vectors; None: what is left out would cost too much, by an estimate."""
    pivots = pivots_of(kernel, duals, diagonal, _PIVOTS)
    terms = pivots.best(budget)
    left_out = ~np.isin(pivots.rows, terms)
    squares = _sums(duals, len(diagonal), 2)[pivots.rows]
    cost = 0.5 * float((squares * pivots.news)[left_out].sum())
    scale = sum(dual.certificate().scale for dual in duals)
    return terms if cost <= _TOO_DEAR * good * scale else None


def fewer_terms(
    kernel: Values, duals: Sequence[Dual], diagonal: _Vector, budget: int, good: float
) -> Expansion | None:
    """Return a model of so many terms at most whose gap is good; None: there is none near by."""
    solution = whole(duals, len(diagonal))
    if len(solution.terms) <= budget:
        return solution
    terms = choose_terms(kernel, duals, diagonal, budget, good)
    if terms is None:
        return None
    coef, gap, scale = np.empty((len(duals), len(terms))), 0.0, 0.0
    for c, dual in enumerate(duals):
        coef[c], found = nearest_model(kernel, dual, terms, _AIM * good)
        gap, scale = gap + found.primal - found.dual, scale + found.scale
    return Expansion(terms, coef, solution.bias) if gap <= good * scale else None


def nearest_model(
    kernel: Values, dual: Dual, terms: _Indices, good: float
) -> tuple[_Vector, Certificate]:
    """Return coefficients of the terms for one output, and a certificate; a gap that is good ends the search."""
    n = len(kernel.rows)
    bias, best, values = dual.bias, coefficients(dual, terms, n), dual.f
    if len(dual.rows) < n:  # terms may be rows that do not know of the output
        support = dual.support
        values = kernel.sums(dual.rows[support], dual.beta[support])
    norm_of_alpha, found, since = float(dual.beta @ dual.f), None, 0
    for beta in _interpolations(kernel, terms, values[terms], best):
        f = kernel.sums(terms, beta)
        norm = float(beta @ f[terms])
        now = certificate(dual.targets, f[dual.rows] + bias, norm, dual.alpha, norm_of_alpha)
        before = np.inf if found is None else found.primal - found.dual
        since = 0 if now.primal - now.dual < _PROGRESS * before else since + 1
        if now.primal - now.dual < before:
            best, found = beta, now
        if now.gap <= good or since >= _PATIENCE:
            break
    assert found is not None
    return best, found


def _interpolations(
    kernel: Values, terms: _Indices, values: _Vector, start: _Vector
) -> Iterator[_Vector]:
    """Solve K_ZZ β = values by conjugate gradients from a start; gives β every few steps."""
    gram = kernel.gram(terms)
    beta = start.copy()
    rest = values - _times(kernel, gram, beta)
    direction, square = rest.copy(), float(rest @ rest)
    for step in range(1, _MOST_STEPS + 1):
        product = _times(kernel, gram, direction)
        curvature = float(direction @ product)
        if curvature > 0:
            length = square / curvature
            beta, rest = beta + length * direction, rest - length * product
            before, square = square, float(rest @ rest)
            direction = rest + (square / before) * direction
        if step % _LOOK == 0 or not (curvature > 0 and square > 0):
            yield beta
        if not (curvature > 0 and square > 0):  # solved, or but for rounding so
            return


def _times(kernel: Values, gram: NDArray[Any], v: _Vector) -> _Vector:
    """Return the product of a matrix and a vector; threads share the rows."""
    out, every = np.empty(len(gram)), np.arange(len(gram))
    parts = [slice(s, s + _ROWS_AT_ONCE) for s in range(0, len(gram), _ROWS_AT_ONCE)]
    kernel.limits.tick()
    threads = kernel.limits.n_threads
    for_each(lambda part: _core.times(gram, every[part], v, out[part]), parts, threads)
    return out

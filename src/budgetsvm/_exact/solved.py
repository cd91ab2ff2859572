"""Solutions of the full problem, output by output, or all of them side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.matrices.vectors import nonzero_places
from budgetsvm._exact.dual import Certificate
from budgetsvm._problem.pair_targets import PairTargets, pairs_of
from budgetsvm._problem.targets import SingleTarget, Targets

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SolvedDual:
    """A dual solution of one output; `f` is without the bias."""

    rows: _Indices
    targets: SingleTarget
    beta: _Vector
    f: _Vector
    bias: float
    found: Certificate
    passes: int

    @property
    def alpha(self) -> _Vector:
        """The dual variables."""
        return self.beta * self.targets.y

    @property
    def support(self) -> _Indices:
        """The rows whose α is not 0."""
        return nonzero_places(self.beta)

    def certificate(self) -> Certificate:
        """Return P and D."""
        return self.found


@dataclass(frozen=True, eq=False)
class SolvedDuals:
    """Dual solutions of all outputs: an entry for every row that knows of one."""

    outputs: _Indices  #: of every entry
    rows: _Indices
    beta: _Vector
    f: _Vector  #: without the bias
    bias: _Vector
    certificates: NDArray[np.float64]  #: P, D and what their gap is measured by
    passes: int
    alpha: _Vector | None = None  #: of a single output

    @classmethod
    def joined(cls, duals: Sequence[SolvedDual]) -> Self:
        """Return outputs one after the other."""
        lengths = [len(dual.rows) for dual in duals]
        return cls(
            np.repeat(np.arange(len(duals)), lengths),
            np.concatenate([dual.rows for dual in duals]),
            np.concatenate([dual.beta for dual in duals]),
            np.concatenate([dual.f for dual in duals]),
            np.array([dual.bias for dual in duals]),
            np.array([(one.primal, one.dual, one.scale) for one in (dual.found for dual in duals)]),
            max(dual.passes for dual in duals),
            duals[0].alpha if len(duals) == 1 else None,
        )

    def each(self, targets: Targets) -> Iterator[SolvedDual]:
        """Return one output after the other."""
        ends = np.cumsum(np.bincount(self.outputs, minlength=len(self.bias)))
        for c, (primal, dual, scale) in enumerate(self.certificates.tolist()):
            own = slice(ends[c - 1] if c else 0, ends[c])
            rows, found = self.rows[own], Certificate(primal, dual, scale)
            if isinstance(targets, PairTargets):  # whose rows are in another order here
                of_first = targets.labels[rows] == pairs_of(targets.n_classes)[c, 0]
                y = np.where(of_first, 1.0, -1.0)
                single = SingleTarget.of_labels(y, targets.box[rows], targets.loss)
            else:
                single = targets.of_output(c)
            beta, f, bias = self.beta[own], self.f[own], float(self.bias[c])
            yield SolvedDual(rows, single, beta, f, bias, found, self.passes)

    def coefficients(self, n: int) -> tuple[_Indices, NDArray[np.float64]]:
        """Return which of n rows are terms of any output, and the coefficients, (outputs, terms)."""
        chosen = self.beta != 0
        terms = np.flatnonzero(np.bincount(self.rows[chosen], minlength=n))
        places = np.zeros(n, np.int64)
        places[terms] = np.arange(len(terms))
        coef = np.zeros((len(self.bias), len(terms)))
        coef[self.outputs[chosen], places[self.rows[chosen]]] = self.beta[chosen]
        return terms, coef

    def values(self, rows: _Indices, n: int) -> NDArray[np.float64]:
        """Return the values of some of n rows, (rows, outputs); zero where a row does not know of an output."""
        places = np.full(n, -1)
        places[rows] = np.arange(len(rows))
        here = places[self.rows]
        known = here >= 0
        outputs, values = self.outputs[known], np.zeros((len(rows), len(self.bias)))
        values[here[known], outputs] = self.f[known] + self.bias[outputs]
        return values

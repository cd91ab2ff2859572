"""What is kept of the problems of outputs: their models and certificates, and what an audit needs."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.limits import OutOfTime
from budgetsvm._polish.certificate.audit import LeftOutTerms, sample_rows
from budgetsvm._polish.matrix.interface import Matrix, RowMatrix
from budgetsvm._polish.one_against_one.pairs import SolvedPairs
from budgetsvm._polish.result import Solving
from budgetsvm._polish.span_problem import SpanProblem, relative_gap
from budgetsvm._problem.pair_targets import PairTargets, of_known_pairs, pairs_of

_Vector = NDArray[np.float64]
_Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Settled:
    """What is kept of some outputs; a number of every row is too much for many."""

    w: _Matrix  #: a row for each output, as of all but the values
    certificates: _Matrix  #: P, D and what their gap is measured by
    passes: NDArray[np.int64]
    values: _Matrix  #: of the rows of a sample, (rows, outputs); zero where a row does not know of an output
    pulls: _Vector
    alpha: _Vector | None = None  #: of a single output

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return outputs one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.w for part in parts]),
            np.concatenate([part.certificates for part in parts]),
            np.concatenate([part.passes for part in parts]),
            np.column_stack([part.values for part in parts]),
            np.concatenate([part.pulls for part in parts]),
        )

    @property
    def gaps(self) -> _Vector:
        """The relative duality gaps."""
        return np.array([relative_gap(*one) for one in self.certificates.tolist()])

    def put(self, c: int, other: Self) -> None:
        """Take another solution of output c."""
        self.w[c], self.certificates[c], self.passes[c] = (
            other.w[0],
            other.certificates[0],
            other.passes[0],
        )
        self.values[:, c], self.pulls[c] = other.values[:, 0], other.pulls[0]


class Settle:
    """Draws up what is to be kept: α only where there is a single output."""

    def __init__(self, matrix: Matrix, how: Solving) -> None:
        self.rows = sample_rows(matrix.n, how.rng)
        self._tol = how.limits.tol
        self._left_out = LeftOutTerms(matrix.basis)
        others = self._left_out.basis
        self._matrix = None if others is None else matrix.against(others)

    def __call__(
        self,
        span: SpanProblem,
        rows: NDArray[np.int64] | None = None,
        *,
        keep_alpha: bool = False,
    ) -> Settled:
        """Take an output that these rows know of; None: all."""
        pull = self._pull(span.gap, span.alpha * span.targets.y, span.point_of_alpha, rows)
        return Settled(
            w=span.w[np.newaxis],
            certificates=np.array([[span.primal, span.dual, span.scale]]),
            passes=np.array([span.passes]),
            values=self._values(span, rows)[:, np.newaxis],
            pulls=np.array([pull]),
            alpha=span.alpha if keep_alpha else None,
        )

    def pairs(
        self, found: Sequence[SolvedPairs], targets: PairTargets, features: RowMatrix
    ) -> tuple[Settled, NDArray[np.int64]]:
        """Take pairs of classes that the core has solved; returns also which there was no time for, whose models are zero."""
        count, dimension = targets.count, features.basis.dimension
        kept = Settled(
            np.zeros((count, dimension)),
            np.zeros((count, 3)),
            np.zeros(count, np.int64),
            np.zeros((len(self.rows), count)),
            np.zeros(count),
        )
        missing = np.ones(count, np.bool_)
        for some in found:
            kept.w[some.numbers], kept.certificates[some.numbers] = some.w, some.certificates[:, :3]
            kept.passes[some.numbers] = some.certificates[:, 3].astype(np.int64)
            missing[some.numbers] = False
            if self._matrix is not None:
                kept.pulls[some.numbers] = self._pulls(some, targets)
        self._fill(kept, targets, features)
        return kept, np.flatnonzero(missing)

    def _fill(self, kept: Settled, targets: PairTargets, features: RowMatrix) -> None:
        """Evaluate all pairs for the rows of the sample that know of them."""
        block = features.feature_rows(self.rows)
        seen, labels = block.rows[block.where], targets.labels[self.rows]
        kept.values[:] = of_known_pairs(seen, kept.w, labels, targets.n_classes)

    def _pulls(self, some: SolvedPairs, targets: PairTargets) -> list[float]:
        """Return what terms left out of the basis add for each of these pairs."""
        members, first, pulls = targets.rows_of_classes, 0, []
        for k, number in enumerate(some.numbers):
            a, b = (members[c] for c in pairs_of(targets.n_classes)[number])
            alpha = some.alpha[first : first + len(a) + len(b)]
            first += len(alpha)
            beta = np.append(alpha[: len(a)], -alpha[len(a) :])
            gap = relative_gap(*some.certificates[k, :3].tolist())
            pulls.append(self._pull(gap, beta, some.points[k], np.append(a, b)))
        return pulls

    def _values(self, span: SpanProblem, rows: NDArray[np.int64] | None) -> _Vector:
        """Return f of the sample; zero for rows that do not know of the output, and that nobody asks for."""
        if rows is None:
            return span.f[self.rows]
        values, place = np.zeros(len(self.rows)), np.searchsorted(rows, self.rows)
        known = place < len(rows)
        known[known] = rows[place[known]] == self.rows[known]
        values[known] = span.f[place[known]]
        return values

    def _pull(
        self, gap: float, beta: _Vector, point: _Vector, rows: NDArray[np.int64] | None
    ) -> float:
        """Return what terms left out of the basis add to ½‖w(α)‖², if there is a solution and time."""
        if self._matrix is not None and gap <= self._tol:
            with suppress(OutOfTime):
                if rows is not None:
                    beta, own = np.zeros(self._matrix.n), beta
                    beta[rows] = own
                return self._left_out.pull(self._matrix.transposed_times(beta), point)
        return 0.0

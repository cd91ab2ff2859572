"""Phase 2 for one weight of the errors after another: the same rows, the same terms, one matrix.

All that depends on neither C nor the point reached so far is computed once: kernel values, and features of several
outputs. Each solution starts from the one before, which is why C should grow from call to call.
"""

from dataclasses import replace

import numpy as np

from budgetsvm._common.limits import Limits
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.orthonormal import OrthonormalMatrix
from budgetsvm._polish.polish import Outcome, Polishing, all_values, kernel_matrix, polish_model
from budgetsvm._polish.result import Start
from budgetsvm._problem.problem import Problem


class SpanPath:
    """A problem in the span of a model's terms, for any multiple of the weights of its rows."""

    def __init__(self, model: KernelExpansion, problem: Problem, how: Polishing) -> None:
        self._model, self._problem = model, problem
        self._kept = _KeptMatrix()
        self._how = replace(how, make_matrix=self._kept)
        self._last: tuple[float, Outcome] | None = None

    def solve(self, scale: float, *, adapts_C: bool = False) -> Outcome:
        """Solve the problem with `scale` times its weights; `adapts_C` as a polish has it."""
        problem = replace(self._problem, targets=self._problem.targets.scaled(scale))
        how = replace(self._how, adapts_C=adapts_C)
        outcome = polish_model(self._model, problem, how, self._start(scale))
        dtype = outcome.problem.rows.dtype
        if dtype != self._problem.rows.dtype:  # a larger C will need double precision, too
            self._model = self._model.in_precision(dtype)
            self._problem = replace(self._problem, rows=outcome.problem.rows)
        self._last = scale, outcome
        return outcome

    def close(self) -> None:
        """Let go of the matrix."""
        self._kept.drop()

    def _start(self, scale: float) -> Start | None:
        """Return where the solution before ended, as a share of the weights, which have changed."""
        if self._last is None or self._kept.basis is None:
            return None
        before, outcome = self._last
        polished, kept = outcome.polished, self._kept.basis.kept
        if not polished.converged or polished.coef.shape[1] != len(kept):
            return None
        coef = np.zeros((len(polished.coef), len(self._model)))
        coef[:, kept] = polished.coef
        alpha = polished.alpha
        # A factor that the span has put on C is put on α again.
        ratio = scale / (before * outcome.factor)
        return Start(coef, polished.bias, None if alpha is None else ratio * alpha)


class _KeptMatrix:
    """Makes the matrix of the first problem, and keeps it for all others."""

    def __init__(self) -> None:
        self._matrix: Matrix | None = None

    @property
    def basis(self) -> Basis | None:
        """The basis of the matrix."""
        return None if self._matrix is None else self._matrix.basis

    def __call__(self, problem: Problem, basis: Basis, limits: Limits) -> Matrix:
        if self._matrix is None or not self._serves(problem, basis):
            self.drop()  # there may not be room for both
            self._matrix = kernel_matrix(problem, basis, limits, self._all)
        return self._matrix

    def _serves(self, problem: Problem, basis: Basis) -> bool:
        """Whether rows and terms are the same: terms are left out where time or precision say so."""
        matrix = self._matrix
        assert matrix is not None
        same = matrix.dtype == problem.rows.dtype and matrix.n == len(problem.rows)
        return same and np.array_equal(matrix.basis.kept, basis.kept)

    def _all(self, problem: Problem, basis: Basis, limits: Limits) -> Matrix:
        """Make the matrix of all values, also in the place of one without the small ones."""
        self._matrix = all_values(problem, basis, limits, _WithFeatures)
        return self._matrix

    def drop(self) -> None:
        """Let go of the matrix; its features refer to it, and both would stay until a garbage collection."""
        if isinstance(self._matrix, _WithFeatures):
            self._matrix.features = None
        self._matrix = None


class _WithFeatures(KernelMatrix):
    """A matrix that computes its orthonormal features once."""

    features: OrthonormalMatrix | None = None

    def orthonormal(self) -> OrthonormalMatrix | None:
        """Return the features of all rows, if there is memory for them."""
        if self.features is None:
            self.features = super().orthonormal()
        return self.features

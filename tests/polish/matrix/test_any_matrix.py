"""Solvers take any matrix that has the four products, however its rows are stored."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from oracles.problems import noisy_xor
from polish.spans import KINDS, PLENTY, basis_of, several_outputs
from scipy import sparse

from budgetsvm import kernels
from budgetsvm._common.limits import Limits
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.interface import Matrix, RowMatrix
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._polish.matrix.some_rows import SomeRows
from budgetsvm._polish.polish import Polishing, kernel_matrix, polish_model
from budgetsvm._polish.result import Polished, Solving
from budgetsvm._polish.solve import polish_in_span
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets, SingleTarget
from budgetsvm.losses import Hinge


class SparseMatrix(Matrix):
    """Kernel values as a sparse matrix of SciPy, with constants as one more column."""

    def __init__(self, values: Any, basis: Basis) -> None:
        super().__init__(values.shape[0], basis)
        self.values = sparse.csr_array(values)

    def times(self, w: Any) -> Any:
        return self.values @ self.basis.coefficients(w)

    def transposed_times(self, v: Any) -> Any:
        return self.basis.projection(self.values.T @ v)

    def normal_times(self, indices: Any, weights: Any, coef: Any) -> Any:
        rows = self.values[indices]
        return rows.T @ (weights * (rows @ coef))

    def gram(self, indices: Any, weights: Any) -> Any:
        rows = self.values[indices]
        return (rows.T @ sparse.diags_array(weights) @ rows).toarray()

    def some(self, chosen: Any) -> Matrix:
        return SparseMatrix(self.values[chosen], self.basis)

    def against(self, basis: Basis) -> Matrix:
        raise NotImplementedError  # nothing is left out of the bases here


class SpreadMatrix(Matrix):
    """Rows that are spread over several matrices, as over several machines: each adds its share."""

    def __init__(self, members: Sequence[Matrix]) -> None:
        super().__init__(sum(member.n for member in members), members[0].basis)
        self.members = members
        self.ends = np.cumsum([member.n for member in members])

    def shares(self, indices: Any) -> Any:
        """The members, which of the indices are theirs, and where these are in them."""
        owner = np.searchsorted(self.ends, indices, side="right")
        for number, member in enumerate(self.members):
            own = np.flatnonzero(owner == number)
            yield member, own, indices[own] - (self.ends[number] - member.n)

    def times(self, w: Any) -> Any:
        return np.concatenate([member.times(w) for member in self.members])

    def transposed_times(self, v: Any) -> Any:
        everyone = np.arange(self.n)
        return sum(member.transposed_times(v[own]) for member, own, _ in self.shares(everyone))

    def normal_times(self, indices: Any, weights: Any, coef: Any) -> Any:
        shares = self.shares(indices)
        return sum(member.normal_times(i, weights[own], coef) for member, own, i in shares)

    def gram(self, indices: Any, weights: Any) -> Any:
        return sum(member.gram(i, weights[own]) for member, own, i in self.shares(indices))

    def some(self, chosen: Any) -> Matrix:
        return SomeRows(self, chosen)

    def against(self, basis: Basis) -> Matrix:
        return SpreadMatrix([member.against(basis) for member in self.members])


def sparse_matrix(problem: Problem, basis: Basis, limits: Limits) -> Matrix:
    values = KernelMatrix(problem.rows, basis, 1, PLENTY).value_rows(np.arange(len(problem.rows)))
    return SparseMatrix(values.rows, basis)


def spread_matrix(problem: Problem, basis: Basis, limits: Limits) -> Matrix:
    X, n = problem.rows.X, len(problem.rows)
    parts = (slice(0, n // 3), slice(n // 3, n // 2), slice(n // 2, n))
    rows = [Rows(X[part], problem.rows.dtype, problem.rows.centre) for part in parts]
    return SpreadMatrix([KernelMatrix(some, basis, 1, PLENTY) for some in rows])


OTHERS = {"sparse": sparse_matrix, "spread": spread_matrix}


def xor(C: float, n: int = 3000, dtype: Any = np.float64) -> Problem:
    X, y = noisy_xor(n, 0)
    box = C * np.random.default_rng(0).uniform(0.5, 1.5, n)
    return Problem(Rows(X, dtype, None), SingleTarget.of_labels(y, box))


def solve(problem: Problem, basis: Basis, make: Any, tol: float = 1e-3) -> Polished:
    limits = Limits(tol, 500, np.inf, PLENTY, 1)
    how = Solving(limits, np.random.default_rng(0))
    return polish_in_span(problem, make(problem, basis, limits), how)


@pytest.mark.parametrize("name", OTHERS)
def test_products_are_those_of_the_kernel_matrix(name: str) -> None:
    problem = several_outputs()
    basis, limits = basis_of(problem), Limits(1e-3, 500, np.inf, PLENTY, 1)
    ours, theirs = (make(problem, basis, limits) for make in (kernel_matrix, OTHERS[name]))
    assert not isinstance(theirs, RowMatrix)
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(ours.basis.dimension), rng.standard_normal(ours.n)
    chosen = np.sort(rng.permutation(ours.n)[:70])
    for one, other in ((ours, theirs), (ours.some(chosen), theirs.some(chosen))):
        indices = rng.permutation(one.n)[: one.n // 2]
        c = rng.random(len(indices))
        for find in (
            lambda matrix: matrix.times(w),
            lambda matrix: matrix.transposed_times(v[: matrix.n]),
            lambda matrix, i=indices, c=c: matrix.normal_times(i, c, w),
            lambda matrix, i=indices, c=c: matrix.gram(i, c),
        ):
            np.testing.assert_allclose(find(other), find(one), rtol=0, atol=1e-9)


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("name", OTHERS)
def test_newtons_method_reaches_the_same_certificate(name: str, C: float) -> None:
    problem = xor(C)
    basis = Basis.of(problem.rows.X[:30].copy(), kernels.Gaussian(0.7), constant=True)
    ours, theirs = (solve(problem, basis, make) for make in (kernel_matrix, OTHERS[name]))
    assert theirs.converged
    assert theirs.passes == ours.passes
    # A full step may end where the derivative vanishes. Then rounding errors, which depend on the instruction
    # set, decide whether a line search makes it a little shorter, and paths part: P does not mind, as both end
    # next to its minimum, while D may be anything within the gap.
    same = C == 1
    rel = 1e-9 if same else 1e-6
    assert theirs.primal == pytest.approx(ours.primal, rel=rel)
    assert theirs.dual == pytest.approx(ours.dual, rel=rel if same else 1e-3)
    assert theirs.dual <= ours.primal
    assert ours.dual <= theirs.primal
    if same:
        np.testing.assert_allclose(theirs.coef, ours.coef, rtol=0, atol=1e-7 * abs(ours.coef).max())
    # P is strongly convex: ½‖w − w*‖² is no more than the gap of w.
    apart = (theirs.coef - ours.coef)[0]
    reach = sum(np.sqrt(2 * (one.primal - one.dual)) for one in (ours, theirs))
    assert apart @ basis.gram[:30, :30] @ apart <= reach**2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHERS)
def test_several_outputs_one_after_the_other(name: str, kind: str) -> None:
    problem = several_outputs(kind)
    basis = basis_of(problem)
    ours, theirs = (solve(problem, basis, make) for make in (kernel_matrix, OTHERS[name]))
    assert theirs.converged
    assert theirs.dual <= ours.primal
    assert ours.dual <= theirs.primal


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_without_rows_newtons_method_goes_as_far_as_it_gets(C: float) -> None:
    """Where ascent would take over, the certificate is what Newton's method has, and it holds."""
    problem = xor(C, n=400)
    basis = Basis.of(problem.rows.X[:30].copy(), kernels.Gaussian(0.7))
    ours, theirs = (solve(problem, basis, make, 1e-9) for make in (kernel_matrix, sparse_matrix))
    assert 0 < theirs.dual <= ours.primal * (1 + 1e-12)
    assert ours.dual <= theirs.primal * (1 + 1e-12)
    assert theirs.gap < 1e-4


def test_terms_that_were_left_out_are_asked_for_the_same_rows() -> None:
    problem = xor(1.0, dtype=np.float32)
    basis = Basis.of(problem.rows.X[:60].astype(np.float32), kernels.Gaussian(0.01))
    assert basis.left_out is not None
    ours, theirs = (solve(problem, basis, make, 1e-2) for make in (kernel_matrix, spread_matrix))
    assert ours.evidence is not None
    assert theirs.evidence is not None
    assert theirs.evidence.pull == pytest.approx(ours.evidence.pull, rel=1e-3)
    assert theirs.evidence.pull > 0


def test_classes_that_compete_need_rows() -> None:
    problem = several_outputs()
    labels = problem.targets.labels  # type: ignore[attr-defined]
    coupled = ClassTargets(problem.targets.box, Hinge(), labels, 4, coupled=True)
    with pytest.raises(TypeError, match="rows can be visited"):
        solve(Problem(problem.rows, coupled), basis_of(problem), sparse_matrix)


def test_the_door_takes_a_way_to_make_matrices() -> None:
    problem = xor(1.0)
    points = problem.rows.X[:30].copy()
    model = KernelExpansion(
        kernels.Gaussian(0.7), points, np.zeros((1, 30)), np.zeros(1), problem.rows.centre
    )
    found = []
    for make in (kernel_matrix, spread_matrix):
        how = Polishing(
            Limits(1e-3, 500, np.inf, PLENTY, 1),
            np.random.default_rng(0),
            intercept=False,
            may_widen=False,
            make_matrix=make,
        )
        outcome = polish_model(model, problem, how, None)
        assert outcome.trusted
        assert outcome.complete
        found.append(outcome.polished)
    assert found[1].primal == pytest.approx(found[0].primal, rel=1e-9)
    assert found[1].dual == pytest.approx(found[0].dual, rel=1e-9)

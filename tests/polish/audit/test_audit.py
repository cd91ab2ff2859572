"""What checks a certificate: other arithmetic, terms that were left out, and what a gap is measured by."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polish.spans import solve_in_span
from sklearn.datasets import make_circles

from budgetsvm import kernels
from budgetsvm._common.limits import Limits, OutOfTime
from budgetsvm._estimators.fitting.warm_start import Origin
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.certificate import audit
from budgetsvm._polish.certificate.audit import LeftOutTerms, _error, complete, doubt, trustworthy
from budgetsvm._polish.matrix.kernel_values import KernelMatrix
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget, gap_scale
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge

LIMITS = Limits(1e-3, 500, np.inf, 1e9, 1)


def circles(dtype: Any, C: float = 1.0) -> Problem:
    X, y = make_circles(300, noise=0.05, factor=0.6, random_state=0)
    targets = SingleTarget.of_labels(2.0 * y - 1, np.full(300, C))
    return Problem(Rows(X, dtype, None), targets)


# ---- terms that were left out ----


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("gamma", [0.002, 0.05])
def test_the_pull_is_what_a_larger_span_takes_from_the_dual_objective(
    gamma: float, constant: bool
) -> None:
    """D in the span of the terms kept, less D in that of the first terms left out as well."""
    problem, rng = circles(np.float32), np.random.default_rng(0)
    X = problem.rows.X
    basis = Basis.of(X[:40].astype(np.float32), kernels.Gaussian(gamma), constant=constant)
    assert basis.left_out is not None
    left_out = replace(basis.left_out, points=basis.left_out.points.astype(np.float64))
    basis = replace(basis, points=basis.points.astype(np.float64), left_out=left_out)
    weights = rng.uniform(-1, 1, 300)
    small = KernelMatrix(Rows(X, np.float64, None), basis, 1, 1e9)
    point = small.transposed_times(weights)
    terms = LeftOutTerms(basis)
    assert terms.basis is not None
    found = terms.pull(small.against(terms.basis).transposed_times(weights), point)

    Z = np.vstack([basis.points, left_out.points])
    gram = kernels.Gaussian(gamma).matrix(Z, Z)
    sums = kernels.Gaussian(gamma).matrix(Z, X) @ weights
    larger = sums @ np.linalg.lstsq(gram, sums, rcond=1e-14)[0] + constant * weights.sum() ** 2
    assert found == pytest.approx(0.5 * (larger - point @ point), rel=1e-2)


def test_nothing_is_left_out_where_double_would_leave_it_out_too() -> None:
    X = np.random.default_rng(0).standard_normal((20, 3))
    for dtype in (np.float32, np.float64):
        basis = Basis.of(np.vstack([X, X]).astype(dtype), kernels.Gaussian(1.0))
        assert len(basis) == 20
        assert basis.left_out is None


def test_terms_that_a_large_C_needs_are_missed() -> None:
    gamma = 2.0**-9
    for C, missed in ((1e-3, False), (2.0**13, True)):
        problem = circles(np.float32, C)
        basis = Basis.of(problem.rows.X.astype(np.float32), kernels.Gaussian(gamma))
        polished = solve_in_span(problem, basis, LIMITS)
        assert polished.converged
        assert complete(polished, 1e-2) is not missed


# ---- other arithmetic ----


def is_trusted(problem: Problem, model: KernelExpansion, polished: Any, tol: float) -> bool:
    error = doubt(problem, model, polished, can_state=False)
    return trustworthy(model, polished, error, tol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_audit_notices_what_is_wrong(dtype: Any) -> None:
    problem, kernel = circles(dtype), kernels.Gaussian(1.0)
    basis = Basis.of(problem.rows.X[:40].astype(dtype), kernel)
    polished = solve_in_span(problem, basis, LIMITS)
    points = polished.points.astype(dtype)
    model = KernelExpansion(kernel, points, polished.coef, polished.bias, None)
    assert is_trusted(problem, model, polished, 1e-3)
    for wrong in (
        replace(model, coef=1.1 * model.coef),
        replace(model, bias=np.array([0.1])),
        replace(model, points=model.points + dtype(0.1)),
        replace(model, kernel=kernels.Gaussian(1.2)),
        replace(model, coef=np.nan * model.coef),
    ):
        assert not is_trusted(problem, wrong, polished, 1e-3)


@pytest.mark.parametrize(("shift", "trusted"), [(0.0, True), (0.02, False)])
def test_of_few_rows_an_audit_is_in_doubt_and_asks_more(
    monkeypatch: pytest.MonkeyPatch, shift: float, trusted: bool
) -> None:
    """Errors that cancel each other look worse in a few rows than in many; those that do not, look the same."""
    problem, kernel, tol = circles(np.float64), kernels.Gaussian(1.0), 1e-2
    polished = solve_in_span(problem, Basis.of(problem.rows.X[:40], kernel), LIMITS)
    model = KernelExpansion(kernel, polished.points, polished.coef, polished.bias, None)
    evidence = polished.evidence
    assert evidence is not None
    noise = 0.005 * np.random.default_rng(0).standard_normal(evidence.values.shape) + shift
    noisy = replace(polished, evidence=replace(evidence, values=evidence.values + noise))
    seen = []

    def error(problem: Any, model: Any, evidence: Any, stride: int) -> float:
        found = _error(problem, model, evidence, stride)
        seen.append((stride, found))
        return found

    monkeypatch.setattr(audit, "_error", error)
    monkeypatch.setattr(audit, "_WORK", 0.0)
    monkeypatch.setattr(audit, "_FEWEST", 20)
    assert is_trusted(problem, model, noisy, tol) == trusted
    assert [stride for stride, _ in seen] == [15, 1]
    if trusted:
        assert seen[0][1] > seen[1][1]


def test_a_row_that_weighs_more_than_all_others_may_not_be_in_a_sample() -> None:
    """Its value is as wrong as others, and what it costs more so than all of theirs."""
    problem, kernel = circles(np.float64), kernels.Gaussian(1.0)
    polished = solve_in_span(problem, Basis.of(problem.rows.X[:40], kernel), LIMITS)
    model = KernelExpansion(kernel, polished.points, polished.coef, polished.bias, None)
    evidence = polished.evidence
    assert evidence is not None
    noise = 1e-3 * np.random.default_rng(0).standard_normal(evidence.values.shape)
    some = np.arange(100)
    seen = replace(evidence, rows=some, values=(evidence.values + noise)[some])
    of_equals = _error(problem, model, seen, 1)
    box = problem.targets.box.copy()
    box[200] = 1e5
    heavy = replace(problem, targets=replace(problem.targets, box=box))
    assert _error(heavy, model, seen, 1) > 10 + of_equals


# ---- what a gap is measured by ----


@given(primal=st.floats(1e-3, 1e9), saved=st.floats(-1e9, 1e9))
def test_a_gap_is_measured_by_p_at_the_most(primal: float, saved: float) -> None:
    scale = gap_scale(primal, saved)
    assert 0 < scale <= primal
    assert saved < primal / 3 or scale == primal


def test_naming_the_larger_class_is_no_solution() -> None:
    """With a small C it is within 1 % of the best P, and a model that tells classes apart is better."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(2000) < 100, 1.0, -1.0)
    X = rng.standard_normal((2000, 2)) + np.where(y > 0, 2.0, 0.0)[:, np.newaxis]
    targets = SingleTarget.of_labels(y, np.full(2000, 1e-3))
    problem = Problem(Rows(X, np.float64, None), targets)
    basis = Basis.of(X[::20].copy(), kernels.Gaussian(0.05))
    limits = Limits(1e-2, 500, np.inf, 1e9, 1)
    polished = solve_in_span(problem, basis, limits)
    exact = solve_in_span(problem, basis, replace(limits, tol=1e-6))
    values = kernels.Gaussian(0.05).matrix(X, polished.points) @ polished.coef[0]
    wanted = kernels.Gaussian(0.05).matrix(X, exact.points) @ exact.coef[0]
    assert polished.converged
    assert np.corrcoef(values, wanted)[0, 1] > 0.99


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)])
def test_what_becomes_feasible_is_a_slope(loss: Any) -> None:
    share = np.array([-np.inf, -3.0, -0.5, 0.0, 0.3, 1.0, 7.0, np.inf, np.nan])
    found = loss.feasible(share)
    low, high = loss.slopes
    assert ((found >= low) & (found <= high)).all()
    inside = (share >= low) & (share <= high)
    np.testing.assert_array_equal(found[inside], share[inside])
    assert np.isfinite(loss.conjugate(np.minimum(found, 1e9))).all()


# ---- limits and origins ----


def test_time_that_a_factorisation_would_take_counts() -> None:
    limits = Limits(1e-2, 500, 100.0, 1e9, 1, clock=lambda: 99.0)
    limits.tick()
    with pytest.raises(OutOfTime):
        limits.tick(1e12)


def test_an_origin_knows_rows_targets_and_options() -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6)
    origin = Origin.of(X, y, "learned", 10)
    assert origin == Origin.of(X.copy(order="F"), y.copy(), "learned", 10)
    assert origin == Origin.of(X.astype(np.float32), y, "learned", 10)
    for other in (
        Origin.of(X + 1e-9, y, "learned", 10),
        Origin.of(X[::-1], y, "learned", 10),
        Origin.of(X.reshape(4, 3), y, "learned", 10),
        Origin.of(X, y + 1, "learned", 10),
        Origin.of(X, y, "random", 10),
        Origin.of(X, y, X[:2], 10),
        Origin.of(X, y, "learned", 11),
    ):
        assert other != origin

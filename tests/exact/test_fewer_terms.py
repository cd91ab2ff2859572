"""Fewer terms than support vectors: pivots as of Cholesky, coefficients of the nearest function."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, moons

from budgetsvm._common.limits import Limits
from budgetsvm._exact import fewer_terms
from budgetsvm._exact.dual import OutputDual
from budgetsvm._exact.fewer_terms import is_rough, nearest_model, pivots_of, whole
from budgetsvm._exact.values.kernel_rows import KernelRows
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget

N = 80


def solved(C: float = 1.0, *, constant: bool = False, gap: float = 1e-4) -> tuple[OutputDual, Any]:
    X, y = moons(N, 0, noise=0.3)
    kernel, gram = KERNELS["rbf"]
    rows = KernelRows(Rows(X, np.float64, None), kernel, Limits(0.01, 99, np.inf, 1e9, 2), N)
    targets = SingleTarget.of_labels(y, np.full(N, C))
    one = OutputDual(rows, targets, np.zeros(N), constant=constant)
    while one.certificate().gap > gap:
        one.climb()
    return one, gram(X, X)


def plain_pivots(K: Any, weights: Any, count: int) -> list[int]:
    residual, chosen = K.copy(), []
    for _ in range(count):
        news = np.diag(residual) * weights
        news[chosen] = -1
        p = int(np.argmax(news))
        chosen.append(p)
        residual = residual - np.outer(residual[:, p], residual[p]) / residual[p, p]
    return chosen


def test_pivots_are_those_of_the_plain_version() -> None:
    one, K = solved()
    support = one.support
    found = pivots_of(one.kernel, [one], np.ones(N), 12)
    weights = abs(one.alpha[support])
    expected = plain_pivots(K[np.ix_(support, support)], weights, 12)
    assert found.chosen == expected
    best = found.best(15)
    assert set(support[expected]) < set(best)
    assert (np.diff(best) > 0).all()


@pytest.mark.parametrize("constant", [False, True])
def test_the_nearest_function_has_the_same_values(constant: bool) -> None:
    one, K = solved(constant=constant)
    terms = pivots_of(one.kernel, [one], np.ones(N), 20).best(20)
    beta, found = nearest_model(one.kernel, one, terms, 0.0)
    f = K[:, terms] @ beta
    # As near as conjugate gradients get where P is no longer better for it.
    np.testing.assert_allclose(f[terms], one.f[terms], atol=0.05)
    primal = 0.5 * beta @ K[np.ix_(terms, terms)] @ beta
    primal += one.targets.cost(one.targets.slack(f + one.bias))
    assert found.primal == pytest.approx(primal, rel=1e-9)
    assert found.dual == pytest.approx(one.certificate().dual, rel=1e-9)


def test_a_model_that_is_as_good_is_found_and_no_other() -> None:
    one, _ = solved()
    enough = len(one.support) - 2
    found = fewer_terms.fewer_terms(one.kernel, [one], np.ones(N), enough, 0.05)
    assert found is not None
    assert len(found.terms) == enough
    assert fewer_terms.fewer_terms(one.kernel, [one], np.ones(N), 2, 0.05) is None
    same = fewer_terms.fewer_terms(one.kernel, [one], np.ones(N), N, 0.05)
    assert same is not None
    np.testing.assert_array_equal(same.terms, whole([one], N).terms)


def test_a_wide_kernel_is_smooth_and_a_narrow_one_rough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fewer_terms, "_PROBES", 8)
    smooth, rough = solved(0.01)[0], solved(100.0)[0]
    assert not is_rough(smooth.kernel, [smooth], np.ones(N), 0.5)
    assert is_rough(rough.kernel, [rough], np.ones(N), 1e-4)

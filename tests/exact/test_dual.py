"""The dual of one output: working sets lead to the optimum of the full problem, for every loss."""

from typing import Any

import numpy as np
import pytest
from oracles.judge import Machine, features
from oracles.problems import KERNELS
from tools.core.losses import LOSSES, epsilon_of

from budgetsvm._common.limits import Limits
from budgetsvm._exact import dual
from budgetsvm._exact.dual import OutputDual
from budgetsvm._exact.values.kernel_rows import KernelRows
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import SingleTarget
from budgetsvm.losses import EpsilonInsensitive

N = 60


@pytest.fixture(autouse=True)
def _small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual, "_FEWEST", 8)


def problem(name: str, *, constant: bool = False, alpha: Any = None) -> tuple[OutputDual, Machine]:
    loss, rng = LOSSES[name], np.random.default_rng(0)
    X = rng.standard_normal((N, 2))
    y, box = np.where(X[:, 0] + rng.standard_normal(N) > 0, 1.0, -1.0), rng.uniform(0.5, 2.0, N)
    target = np.full(N, loss.target)
    if isinstance(loss, EpsilonInsensitive):
        y, target = np.ones(N), X[:, 0] + 0.3 * rng.standard_normal(N)
    kernel, gram = KERNELS["rbf"]
    rows = KernelRows(Rows(X, np.float64, None), kernel, Limits(0.01, 99, np.inf, 1e9, 1), N)
    targets = SingleTarget(box, loss, y, target)
    start = np.zeros(N) if alpha is None else alpha
    G = features(gram(X, X))
    G = np.column_stack([G, np.ones(N)]) if constant else G
    judge = Machine(loss.name, G, y, target, box, epsilon_of(loss), free=constant)
    return OutputDual(rows, targets, start, constant=float(constant)), judge


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("constant", [False, True])
def test_working_sets_lead_to_the_optimum(name: str, constant: bool) -> None:
    one, judge = problem(name, constant=constant)
    before = one.certificate()
    while one.certificate().gap > 1e-6:
        assert one.climb()
        now = one.certificate()
        # It climbs; with a bias, on the Lagrangian of a constraint, and not all rounds are good for D.
        assert constant or now.dual >= before.dual - 1e-12 * abs(before.dual)
        before = now
        assert one.rounds < 10_000
    w = judge.G.T @ one.beta
    if constant:
        assert abs(w[-1]) <= 1e-12 * abs(one.beta).sum()
        w[-1] = one.bias
    np.testing.assert_allclose(one.f + one.bias, judge.G @ w, atol=1e-8)
    assert before.primal == pytest.approx(judge.primal(w), rel=1e-8)
    assert before.dual == pytest.approx(judge.dual(one.alpha), rel=1e-8)
    assert bool(one.bias) == constant
    judge.check(one.alpha, w, 2e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_what_rows_contribute_is_the_gap(name: str) -> None:
    one, _ = problem(name)
    one.climb()
    found = one.certificate()
    assert one._gaps().sum() == pytest.approx(found.primal - found.dual, rel=1e-9)


@pytest.mark.parametrize("constant", [False, True])
def test_it_goes_on_from_a_point(constant: bool) -> None:
    one, _ = problem("hinge", constant=constant)
    for _ in range(5):
        one.climb()
    other, _ = problem("hinge", constant=constant, alpha=one.alpha)
    np.testing.assert_allclose(other.f, one.f, atol=1e-10)
    np.testing.assert_allclose(other.alpha, one.alpha, rtol=0, atol=1e-12 * constant)
    assert other.certificate().gap == pytest.approx(one.certificate().gap, rel=1e-6)


def test_half_of_a_working_set_stays() -> None:
    one, _ = problem("hinge")
    one.climb()
    first = set(one._set)
    one.climb()
    assert len(one._set) == len(first) == dual.set_size(N)
    assert len(first & set(one._set)) >= len(first) // 2


def test_passes_count_rows_in_working_sets() -> None:
    one, _ = problem("hinge")
    for _ in range(7):
        one.climb()
    assert one.passes == -(-7 * dual.set_size(N) // N)

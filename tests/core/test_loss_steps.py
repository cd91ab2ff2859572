"""The core's steps for every loss: of coordinate ascent, of phase 1, of gradient descent."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import judge
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_moons
from tools.core.arguments import core_problem, core_rows
from tools.core.losses import LOSSES, core_step, epsilon_of

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._model.term_store import TermStore
from budgetsvm.losses import EpsilonInsensitive, Logistic, Loss, SquaredHinge
from budgetsvm.maintenance import Remove

# ---- steps of coordinate ascent ----


def best_step(loss: Loss, alpha: float, u: float, curvature: float, C: float) -> float:
    """The maximum of the dual along a coordinate; `minimize_scalar` on the pieces between kinks."""
    low, high = judge.domain(loss.name)
    high = min(high, 2 * (abs(u) + curvature * abs(alpha / C) * C) + abs(alpha) / C + 1)
    pieces = [(low, 0.0), (0.0, high)] if low < 0 else [(low, high)]

    def negative(share: float) -> float:
        step = C * share - alpha
        conjugate = float(judge.conjugate(loss.name, np.float64(share), epsilon_of(loss)))
        return -(u * step - 0.5 * curvature * step**2) / C + conjugate

    candidates = [end for piece in pieces for end in piece]
    for piece in pieces:
        found = minimize_scalar(negative, bounds=piece, method="bounded", options={"xatol": 1e-12})
        candidates.append(float(found.x))
    return C * min(candidates, key=negative)


@pytest.mark.parametrize("C", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("curvature", [1e-9, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("name", LOSSES)
def test_steps_are_the_best(name: str, curvature: float, C: float) -> None:
    loss = LOSSES[name]
    low, high = judge.domain(loss.name)
    for share in (low, low + 0.1, 0.0, 0.3, min(high, 2.5)):
        for u in (-2.0, -0.4, -0.29, 0.0, 0.2, 0.31, 1.0, 4.0):
            found = core_step(loss, share * C, u, curvature, C)
            best = best_step(loss, share * C, u, curvature, C)
            assert found == pytest.approx(best, rel=1e-5, abs=1e-6 * C)


@given(
    name=st.sampled_from(list(LOSSES)),
    share=st.floats(0, 1),
    u=st.floats(-50, 50),
    curvature=st.one_of(st.just(0.0), st.floats(1e-14, 1e4)),
    C=st.floats(-10, 12).map(lambda power: 10.0**power),
)
def test_steps_meet_the_optimality_conditions(
    name: str, share: float, u: float, curvature: float, C: float
) -> None:
    """α / C is a slope of φ at the slack after the step: for extreme numbers, too."""
    loss = LOSSES[name]
    alpha = share * C
    found = core_step(loss, alpha, u, curvature, C)
    low, high = judge.domain(loss.name)
    assert low * C <= found <= high * C
    after = u - curvature * (found - alpha)
    # The slack is as precise as the step, and a step of less than 1e-12 is none.
    margin = 1e-9 * (1 + abs(u) + curvature * (abs(found) + abs(alpha))) + curvature * 1e-12
    slopes = loss.slope(np.array([after - margin, after + margin]), 0.0)
    assert slopes[0] - 1e-9 <= found / C <= slopes[1] * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e15])
@pytest.mark.parametrize("name", LOSSES)
def test_without_curvature_the_step_is_to_the_slope(name: str, C: float) -> None:
    """Zero rows under a linear kernel. No bound: still no infinity."""
    loss = LOSSES[name]
    for u in (-1.5, 0.7, 2.0):
        expected = C * float(loss.slope(np.array([u]), 0.0)[0])
        assert core_step(loss, 0.0, u, 0.0, C) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_negative_curvature_leads_to_no_infinity(name: str) -> None:
    for alpha in (0.0, 0.5, 1.0):
        for u in (-1.5, 0.0, 0.7):
            assert 0 <= abs(core_step(LOSSES[name], alpha, u, -2.0, 1.0)) <= 1.0


@given(st.floats(-1, 1), st.floats(-5, 5), st.floats(0, 5), st.floats(0, 1))
def test_regression_is_symmetric(share: float, u: float, curvature: float, epsilon: float) -> None:
    loss = EpsilonInsensitive(epsilon)
    step, mirrored = (core_step(loss, s * share, s * u, curvature, 1.0) for s in (1, -1))
    assert step == -mirrored


def test_rows_within_epsilon_have_no_step() -> None:
    loss = EpsilonInsensitive(0.25)
    for u in (-0.25, -0.1, 0.0, 0.25):
        assert core_step(loss, 0.0, u, 1.0, 5.0) == 0
    assert core_step(loss, 0.0, 0.26, 1.0, 5.0) == pytest.approx(0.01)
    assert core_step(loss, -0.1, 0.9, 1.0, 5.0) == pytest.approx(0.55)  # across the kink
    assert core_step(loss, 0.2, -0.3, 1.0, 5.0) == 0  # and up to it


def visit(loss: Loss, u: float, C: float, alpha: float = 0.0) -> tuple[float, list[Any]]:
    """One visit of phase 1, where a step costs a term; k(x, x) = 1. Returns α and the counts."""
    variable, terms, kernel = np.array([alpha]), TermStore(4, 2, np.float64), kernels.Gaussian(1.0)
    index, one = np.zeros(1, np.int64), np.ones(1)
    problem = core_problem(index, one, one, np.array([C]), variable, np.empty(0, np.int32))
    problem = (loss.core(), *problem[1:4], np.array([u]), *problem[5:])
    rows, common = core_rows(np.zeros((1, 2)), np.float64), (2, kernel.core(), Remove().core())
    _, *counts, _ = _core.bsca(rows, problem, terms.arrays, 0, *common, (1, 1))
    return float(variable[0]), counts


@pytest.mark.parametrize("name", LOSSES)
def test_phase_one_takes_the_same_steps(name: str) -> None:
    for u in (-2.0, 0.1, 1.5):
        found, counts = visit(LOSSES[name], u, 3.0)
        assert found == pytest.approx(core_step(LOSSES[name], 0.0, u, 1.0, 3.0), abs=1e-15)
        assert counts[0] == (found != 0)
        assert counts[-1] == pytest.approx(float(LOSSES[name].value(np.array([u]))[0]))


def test_short_logistic_steps_cost_no_term() -> None:
    exact = core_step(Logistic(), 0.0, 0.3, 1.0, 2.0)
    near = exact + 1e-4
    assert visit(Logistic(), 0.3 - near, 2.0, near)[0] == near
    assert core_step(Logistic(), near, 0.3 - near, 1.0, 2.0) == pytest.approx(exact, rel=1e-9)
    far = exact + 1e-1
    assert visit(Logistic(), 0.3 - far, 2.0, far)[0] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("C", [1.0, 1e4, 1e8])
def test_logistic_steps_with_a_large_C(C: float) -> None:
    """All are short in comparison with C; but they change f(x), and so count."""
    found, counts = visit(Logistic(), 0.0, C)
    assert counts[0] == 1
    assert found == pytest.approx(C / (1 + np.exp(found)), rel=1e-9)


def test_logistic_functions_at_the_ends() -> None:
    """No overflow, and no NaN from 0 · log 0."""
    loss, u = Logistic(), np.array([-1e4, -800.0, 800.0, 1e4])
    np.testing.assert_allclose(loss.value(u), [0, 0, 800, 1e4])
    np.testing.assert_array_equal(loss.conjugate(np.array([0.0, 1.0])), 0)
    assert core_step(loss, 0.0, 1e4, 1.0, 5.0) == pytest.approx(5.0)
    assert core_step(loss, 5.0, -1e4, 1.0, 5.0) == pytest.approx(0.0, abs=1e-12)


# ---- steps of gradient descent ----


def descend(
    loss: Loss, u: float, C: float, *, t: int, n: float, curvature: float, joint: bool
) -> float:
    """The coefficient that one visit of BSGD inserts in iteration t, for a point of slack u."""
    terms, kernel = TermStore(4, 2, np.float64), kernels.Linear()
    index, one, box = np.zeros(1, np.int64), np.ones(1), np.array([C])
    X = np.array([[np.sqrt(curvature), 0.0]])
    rows, common = core_rows(X, np.float64), (2, kernel.core(), Remove().core())
    diagonal, target = np.array([curvature]), np.array([u])
    if joint:
        wanted = (loss.core(), False, np.empty(0, np.int32), target[:, None], box)
        wanted = (*wanted, np.zeros((1, 1), np.float32))
        coef = np.zeros((terms.capacity, 1))
        size, *_ = _core.joint(
            *(rows, index, diagonal, wanted, terms.arrays, 0, coef, np.empty(0)), *common, t - 1, n
        )
        return float(coef[0, 0]) / t if size else 0.0
    problem = (loss.core(), index, diagonal, one, target, box, np.zeros(1))
    problem = (*problem, np.empty(0, np.int32), np.empty(0))
    size, *_ = _core.bsgd(rows, problem, terms.arrays, 0, *common, (1, 1), t - 1, n)
    return float(terms.coef[0]) / t if size else 0.0


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_steps_of_gradient_descent(name: str, joint: bool) -> None:
    """n C φ'(u) / t; for the squared hinge the implicit step, which no C lets overshoot."""
    loss = LOSSES[name]
    grid = itertools.product([-1.5, 0.2, 3.0], [1e-3, 1.0, 1e4], [1, 7, 1000], [0.3, 1.0, 25.0])
    for u, C, t, curvature in grid:
        rate = 50 * C / t
        found = descend(loss, u, C, t=t, n=50.0, curvature=curvature, joint=joint)
        expected = rate * float(loss.slope(np.array([u]), 0.0)[0])
        if name == "squared_hinge":
            expected = 2 * rate * max(0.0, u) / (1 + 2 * rate * curvature)
            after = u - curvature * found  # it is the gradient step from where it leads to
            assert found == pytest.approx(2 * rate * max(0.0, after), rel=1e-6, abs=1e-9 * rate)
            assert after >= 0 or u < 0
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3])
def test_squared_hinge_by_gradient_descent(C: float, n_classes: int) -> None:
    """It does not diverge, whatever the C (it did, to NaN, from C = 1 on)."""
    X, y = make_moons(3000, noise=0.2, random_state=0)
    y = y + ((X[:, 0] > 1) & (y == 1)) * (n_classes > 2)
    for options in ({"budget": 50}, {"budget": 50, "fit_intercept": True}, {"budget": None}):
        model = BudgetSVC(
            **options,  # type: ignore[arg-type]
            solver="bsgd",
            loss="squared_hinge",
            polish=False,
            epochs=2,
            gamma=5.0,
            C=C,
            random_state=0,
        ).fit(X, y)
        f = model.decision_function(X)
        assert np.isfinite(f).all()
        assert abs(f).max() < 30
        assert model.score(X, y) > 0.93


# ---- passes of coordinate ascent ----


def linear_machine(loss: Loss, *, n: int, d: int, C: float, seed: int = 0) -> judge.Machine:
    """A linear problem with rows of different weight, two of them zero."""
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, d))
    G[[3, 7]] = 0
    y, target = np.where(G[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0), np.full(n, loss.target)
    if isinstance(loss, EpsilonInsensitive):
        y, target = np.ones(n), G[:, 0] + 0.5 * rng.standard_normal(n)
    return judge.Machine(loss.name, G, y, target, C * rng.uniform(0.5, 1.5, n), epsilon_of(loss))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 1e-4)])
@pytest.mark.parametrize("C", [0.02, 1.0, 10.0])
@pytest.mark.parametrize("name", LOSSES)
def test_ascent_reaches_the_optimum(name: str, C: float, dtype: Any, tolerance: float) -> None:
    """With shrinking; and what a pass reports says how far it is."""
    machine = linear_machine(LOSSES[name], n=50, d=4, C=C)
    G = machine.G.astype(dtype)
    alpha, w = np.zeros(50), np.zeros(4, dtype)
    arrays = (G, np.einsum("ij,ij->i", G, G), machine.y, machine.target, machine.box, alpha, w)
    rng, everyone, last = np.random.default_rng(0), np.arange(50), -np.inf
    active, limits, precision = everyone, (np.inf, -np.inf), 1e-9 if dtype == np.float64 else 3e-5
    for number in range(30_000):
        order = rng.permutation(active)
        kept, upper, lower = _core.ascend(LOSSES[name].core(), *arrays, order, *limits)
        if dtype == np.float64 and number < 100:
            assert machine.dual(alpha) >= last - 1e-12 * (1 + abs(last))
            last = machine.dual(alpha)
        whole, active = len(active) == 50, order[:kept]
        limits = (upper if upper > 0 else np.inf, lower if lower < 0 else -np.inf)
        if upper - lower <= precision:
            if whole:
                break
            active, limits = everyone, (np.inf, -np.inf)
    else:
        raise AssertionError("no convergence")
    machine.check(alpha, machine.G.T @ (alpha * machine.y), tolerance)


@pytest.mark.parametrize("name", LOSSES)
def test_a_pass_reports_the_extreme_gradients(name: str) -> None:
    """Of all variables that could follow theirs; with the squared hinge there is no upper bound."""
    loss = LOSSES[name]
    C, n = 0.1, 12
    alpha = C * np.linspace(0, 1, n) * (5 if name == "squared_hinge" else 1)
    slack = np.full(n, 2.0)
    curvature, rows, box = np.full(n, 1e3), np.zeros((n, 1)), np.full(n, C)
    arrays = (rows, curvature, np.ones(n), slack, box, alpha.copy(), np.zeros(1))
    kept, upper, lower = _core.ascend(loss.core(), *arrays, np.arange(n), np.inf, -np.inf)
    assert kept == n
    gradient = slack - epsilon_of(loss)
    if name == "squared_hinge":
        gradient = slack - alpha / (2 * C)
    if name == "logistic":
        gradient = loss.slope(slack, 0.0) - alpha / C
    free = alpha < C if name != "squared_hinge" else alpha >= 0
    assert upper == pytest.approx(max(0, gradient[free].max()))
    assert lower == pytest.approx(min(0, gradient[alpha > 0].min()))


def test_the_squared_hinge_is_never_shrunk_from_above() -> None:
    """Variables beyond C are at no bound, whatever their gradient."""
    n = 5
    arrays = (np.ones((n, 1)), np.ones(n), np.ones(n), np.full(n, 9.0), np.full(n, 0.1))
    order = np.arange(n)
    kept, upper, _ = _core.ascend(
        SquaredHinge().core(), *arrays, np.full(n, 0.5), np.zeros(1), order, 1.0, -1.0
    )
    assert kept == n
    assert upper > 1

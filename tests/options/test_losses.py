"""Losses: what they promise to each other, and the core's steps for them."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import judge
from oracles.problems import core_problem, core_rows
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.targets import ManyTargets, OneVsRest, Targets
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredHinge, make_loss
from budgetsvm.maintenance import Remove

LOSSES: dict[str, Loss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "insensitive": EpsilonInsensitive(0.3),
    "absolute": EpsilonInsensitive(0.0),
}
WIDTHS = [2.0, 0.5, 0.01]
SLACK = np.linspace(-3, 3, 241) + 1e-3  # not at a kink


def epsilon_of(loss: Loss) -> float:
    return loss.core()[1]


# ---- the functions ----


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_values_are_those_of_the_definition(loss: Loss) -> None:
    expected = judge.phi(loss.name, SLACK, epsilon_of(loss))
    np.testing.assert_allclose(loss.value(SLACK), expected, rtol=1e-14)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_slopes_and_curvatures_are_derivatives(loss: Loss, width: float) -> None:
    h = 1e-6
    kinks = np.array([-1, 1]) * epsilon_of(loss)
    kinks = (kinks + np.array([[-width], [width], [0]])).ravel()
    u = SLACK[(abs(SLACK[:, np.newaxis] - kinks) > 2 * h).all(axis=1)]
    rise = (loss.smoothed(u + h, width) - loss.smoothed(u - h, width)) / (2 * h)
    np.testing.assert_allclose(loss.slope(u, width), rise, rtol=0, atol=1e-8)
    rise = (loss.slope(u + h, width) - loss.slope(u - h, width)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(u, width), rise, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_smoothing_adds_little_and_vanishes_with_its_width(loss: Loss) -> None:
    for width in WIDTHS:
        excess = loss.smoothed(SLACK, width) - loss.value(SLACK)
        assert (excess >= -1e-15).all()
        assert excess.max() <= width / 2 + 1e-15  # width / 4 at each of two kinks
        assert loss.has_kinks == (excess.max() > 0)
    np.testing.assert_allclose(
        loss.slope(SLACK, 0.0), loss.slope(SLACK, 1e-9), rtol=0, atol=1e-12
    )  # off the kinks


@pytest.mark.parametrize("width", [0.0, *WIDTHS])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_slopes_are_feasible_and_monotone(loss: Loss, width: float) -> None:
    low, high = judge.domain(loss.name)
    u = np.concatenate([SLACK, [-1e6, -700.0, 0.0, 700.0, 1e6]])
    slope = loss.slope(np.sort(u), width)
    assert (np.diff(slope) >= 0).all()
    assert (slope >= low).all()
    assert (slope <= high).all()
    assert np.isfinite(loss.value(u)).all()
    assert np.isfinite(loss.curvature(u, width or 1.0)).all()


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_conjugates_are_suprema(loss: Loss) -> None:
    low, high = judge.domain(loss.name)
    u = np.linspace(-60, 60, 240_001)
    shares = np.linspace(low, min(high, 4.0), 23)
    expected = np.array([(s * u - loss.value(u)).max() for s in shares])
    np.testing.assert_allclose(loss.conjugate(shares), expected, rtol=0, atol=1e-6)


@given(st.floats(-30, 30), st.sampled_from(list(LOSSES)), st.floats(0, 1))
def test_fenchel_and_young(u: float, name: str, share: float) -> None:
    """φ(u) + φ*(s) ≥ s u, with equality where s is the slope at u."""
    loss, at = LOSSES[name], np.array([u])
    low, high = judge.domain(loss.name)
    s = np.array([low + share * (min(high, 5.0) - low)])
    assert loss.value(at) + loss.conjugate(s) >= s * at - 1e-12
    s = loss.slope(at, 0.0)
    assert loss.value(at) + loss.conjugate(s) == pytest.approx(s * at, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_distance_to_where_the_slope_changes(loss: Loss) -> None:
    """Within the distance the slope is constant; beyond, it is not."""
    for u in SLACK[::7]:
        d = float(loss.distance(np.array([u]))[0])
        assert d >= 0
        slope = loss.slope(u + 0.999 * d * np.linspace(-1, 1, 21), 0.0)
        assert np.ptp(slope) == 0
        assert np.ptp(loss.slope(u + (d + 1e-3) * np.linspace(-1, 1, 4001), 0.0)) > 0


@pytest.mark.parametrize("C", [0.2, 3.0])
@pytest.mark.parametrize("name", LOSSES)
def test_settled_variables_are_those_that_would_stay(name: str, C: float) -> None:
    """A variable is settled if it is at a bound of its box, and the dual would not rise inside."""
    loss, box = LOSSES[name], np.full(1, C)
    low, high = judge.domain(loss.name)
    for share in np.linspace(low, min(high, 3.0), 13 if low == 0 else 25):
        for u in SLACK[::10]:
            alpha = np.array([share * C])
            unsettled = bool(loss.unsettled(alpha, np.array([u]), box)[0])
            moved = core_step(loss, share * C, u, 0.0, C) != pytest.approx(share * C, abs=2e-4 * C)
            if name == "squared_hinge":
                assert unsettled == (share > 0 or u > 0)
            elif name == "logistic":
                assert unsettled == (abs(1 / (1 + np.exp(-u)) - share) > 1e-4)
            else:
                inside = share not in (low, 0.0, high)
                assert unsettled == (inside or moved)


def test_classes_of_targets() -> None:
    rng = np.random.default_rng(0)
    box, labels = rng.uniform(1, 2, 7), np.array([0, 2, 1, 1, 0, 2, 2], np.int32)
    classes = OneVsRest(box, Logistic(), labels, 3)
    assert (classes.count, len(classes)) == (3, 7)
    np.testing.assert_array_equal(classes.of_output(2).y, [-1, 1, -1, -1, -1, 1, 1])
    assert (classes.of_output(1).target == 0).all()
    values = ManyTargets(box, EpsilonInsensitive(0.5), rng.standard_normal((7, 2)))
    one = values.of_output(1)
    np.testing.assert_array_equal(one.target, values.values[:, 1])
    f, chosen = rng.standard_normal(7), np.array([5, 1, 2])
    for targets in (classes.of_output(0), one, Targets.of_labels(np.sign(f), box)):
        slack = targets.slack(f)
        np.testing.assert_allclose(slack, targets.target - targets.y * f)
        some = targets.some(chosen, 3.0)
        np.testing.assert_allclose(some.slack(f[chosen]), slack[chosen])
        np.testing.assert_allclose(some.box, 3 * box[chosen])
        assert targets.cost(slack) == pytest.approx(box @ targets.loss.value(slack))
        alpha = targets.alpha(slack, 0.0)
        assert targets.cost(slack) == pytest.approx(
            targets.gain(alpha) - alpha @ (targets.y * f), abs=1e-12
        )  # Fenchel and Young, summed up
        assert targets.gap(slack, 0.0) == pytest.approx(0, abs=1e-12)
        assert targets.gap(slack, 1.0) >= (1e-3 if targets.loss.has_kinks else -1e-12)
        np.testing.assert_array_equal(targets.scaled(2.0).box, 2 * box)


def test_scores() -> None:
    box = np.ones(4)
    values = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5], [1.0, 0.9]])
    classes = OneVsRest(box, Hinge(), np.array([1, 0, 0, 0], np.int32), 2)
    assert classes.score(values) == 0.75
    assert Targets.of_labels(np.array([1.0, -1, 1, 1]), box).score(values[:, :1]) == 0.5
    errors = np.array([[0.5, 0], [0, 0], [0.1, 0], [0, 1]])
    many = ManyTargets(box, EpsilonInsensitive(0.25), values + errors)
    assert many.score(values) == pytest.approx(-(0.25 + 0.75) / 8)


def test_losses_by_name() -> None:
    for name in ("hinge", "squared_hinge", "logistic"):
        assert make_loss(name) == LOSSES[name]
        assert make_loss(LOSSES[name]) is LOSSES[name]
    with pytest.raises(ValueError, match="loss"):
        make_loss("epsilon_insensitive")
    for wrong in (EpsilonInsensitive(), None, Hinge):
        with pytest.raises(TypeError, match="squared_hinge"):
            make_loss(wrong)


# ---- the core's steps ----


def core_step(loss: Loss, alpha: float, u: float, curvature: float, C: float) -> float:
    """One step of coordinate ascent, on a problem with one row."""
    variable, one = np.array([alpha]), np.ones(1)
    arrays = (np.ones((1, 1)), np.array([curvature]), one, np.array([u]), np.array([C]))
    _core.ascend(
        loss.core(), *arrays, variable, np.zeros(1), np.zeros(1, np.int64), np.inf, -np.inf
    )
    return float(variable[0])


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

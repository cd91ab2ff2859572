"""Where two terms merge, and what it costs: the core's formulas against SciPy and against limits."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.reference import Kernel, Model, merge_value, squared_distance
from scipy.optimize import minimize_scalar

from budgetsvm import _core

E2 = 2.0  # L at κ = e⁻², where v gets a second maximum for ρ = 1

# The square (ρ, κ): its inside, its edges and its corners, in terms of ρ and L = −ln κ.
RHOS = [-1.0, -1 + 1e-12, -0.999, -0.9, -0.5, -0.1, -1e-3, -1e-8]
RHOS += [1e-8, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-12, 1.0]
LENGTHS = [1e-12, 1e-6, 1e-3, 0.05, 0.3, 1.0, E2 - 1e-3, E2 - 1e-9, E2, E2 + 1e-9, E2 + 1e-3]
LENGTHS += [2.5, 4.0, 10.0, 50.0, 300.0, 800.0, 1e5, 1e300]
SQUARE = list(itertools.product(RHOS, LENGTHS))

signed = st.floats(-1, 1, allow_subnormal=False)
lengths = st.floats(1e-9, 700, allow_subnormal=False)


def v(rho: float, L: float, h: float) -> float:
    return float(merge_value(np.float64(rho), np.float64(L), np.float64(h)))


def scipy_best(rho: float, L: float) -> float:
    """max_h v(h)², by SciPy from many starts over far more than the interval of the optimum."""

    def negative(h: float) -> float:
        return -(v(rho, L, h) ** 2)

    reach = 3 / math.sqrt(2 * L) + 3
    edges = np.concatenate([np.linspace(-reach, 1 + reach, 25), [0.0, 0.25, 0.5, 0.75, 1.0]])
    edges = np.unique(np.concatenate([edges, np.array([-1, 1]) / math.sqrt(2 * L)]))
    grid = np.linspace(-reach, 1 + reach, 2001)
    values = [-negative(0.0), float(np.max(merge_value(rho, L, grid) ** 2))]
    for low, high in itertools.pairwise(edges):
        found = minimize_scalar(
            negative, bounds=(low, high), method="bounded", options={"xatol": 1e-10}
        )
        values.append(-found.fun)
    return max(values)


def degradation(rho: float, L: float, v_squared: float) -> float:
    return rho**2 + 1 + 2 * rho * math.exp(-L) - v_squared


@pytest.mark.sampled(4)
@pytest.mark.parametrize("L", LENGTHS)
def test_newton_finds_the_best_merge_on_the_whole_square(L: float) -> None:
    for rho in RHOS:
        h, value, cost = _core.merge_point(rho, L)
        best = scipy_best(rho, L)
        assert value == pytest.approx(v(rho, L, h), rel=1e-12)
        # v is a difference for ρ < 0: rounding, relative to the larger part, is what is left of it
        assert value**2 == pytest.approx(best, rel=1e-10, abs=1e-15 * value), (rho, L)
        assert cost == pytest.approx(degradation(rho, L, value**2), abs=1e-14)


def test_scipy_would_notice_a_worse_point() -> None:
    for rho, L in [(1.0, 1.0), (-0.5, 0.3), (0.3, 4.0)]:
        h, _, _ = _core.merge_point(rho, L)
        assert v(rho, L, h + 0.02) ** 2 < scipy_best(rho, L) * (1 - 1e-5)


@given(signed, lengths)
@example(1.0, E2)
@example(-1.0, 1e-9)
def test_newton_is_no_worse_than_a_fine_grid(rho: float, L: float) -> None:
    _, value, _ = _core.merge_point(rho, L)
    reach = 1 + 1 / math.sqrt(2 * L)
    grid = np.concatenate([np.linspace(-reach, 1 + reach, 3001), np.linspace(-1, 2, 1001)])
    assert value**2 >= np.max(merge_value(rho, L, grid) ** 2) - 1e-14


@pytest.mark.parametrize(("rho", "L"), SQUARE)
def test_golden_section_finds_the_best_merge_where_there_is_one_maximum(
    rho: float, L: float
) -> None:
    """With equal signs and κ < e⁻² v may have two maxima, and golden section may take the lesser."""
    h, value, cost = _core.merge_point(rho, L, golden=True)
    assert value == pytest.approx(v(rho, L, h), rel=1e-12)
    assert cost == pytest.approx(degradation(rho, L, value**2), abs=1e-14)
    _, best, least = _core.merge_point(rho, L)
    assert cost >= least - 1e-14
    if rho < 0 or L <= E2:
        assert value**2 == pytest.approx(best**2, rel=1e-10)
    else:  # one of the two maxima: no neighbour is higher
        assert value >= max(v(rho, L, h - 1e-3), v(rho, L, min(1.0, h + 1e-3))) - 1e-9


@pytest.mark.parametrize("golden", [False, True])
@given(signed, st.floats(0, 700))
@example(1.0, 0.0)
@example(-1.0, 0.0)
@example(0.0, 1.0)
@example(0.0, 0.0)
def test_ranges(golden: bool, rho: float, L: float) -> None:
    h, value, cost = _core.merge_point(rho, L, golden)
    assert all(map(math.isfinite, (h, value, cost)))
    # Removing the lighter term costs ρ². Golden section finds h to 1e-6, so v² to L 1e-12.
    assert 0 <= cost <= rho**2 * (1 + 1e-12) + 1e-15 + (1e-12 * max(1, L) if golden else 0)
    if rho > 0:
        assert 0 <= h <= (1 if golden else 0.5 + 1e-7)
    if rho < 0:
        assert h <= 0


def test_h_jumps_at_equal_weights_but_the_degradation_does_not() -> None:
    """ρ = 1: below κ = e⁻² the middle is no maximum any more."""
    for L in (0.1, 1.0, E2 - 1e-6, E2):
        assert _core.merge_point(1.0, L)[0] == pytest.approx(0.5, abs=2e-3)
    assert _core.merge_point(1.0, E2 + 0.5)[0] < 0.2
    costs = [_core.merge_point(1.0, L)[2] for L in np.linspace(E2 - 0.05, E2 + 0.05, 101)]
    assert np.all(np.diff(costs) > 0)
    assert np.max(np.diff(costs)) < 1e-3


@pytest.mark.parametrize("golden", [False, True])
@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.3, 1.0])
def test_limits(rho: float, golden: bool) -> None:
    """Duplicates cost nothing; terms that do not see each other cost the lighter one."""
    h, value, cost = _core.merge_point(rho, 0.0, golden)
    assert value == pytest.approx(1 + rho)
    assert cost == 0
    for L in (1e3, 1e10, 1e307):
        h, value, cost = _core.merge_point(rho, L, golden)
        assert (abs(h), value, cost) == pytest.approx((0, 1, rho**2), abs=1e-6), L


@pytest.mark.parametrize("L", [1e308, math.inf])
@pytest.mark.parametrize("rho", [-1.0, 0.3])
def test_distances_that_overflow(rho: float, L: float) -> None:
    """κ = 0 exactly is still removal of the lighter term."""
    for golden in (False, True):
        assert _core.merge_point(rho, L, golden) == pytest.approx((0, 1, rho**2), abs=1e-12)


@pytest.mark.parametrize("L", [1e-4, 1e-2, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("rho", [1e-4, -1e-4])
def test_light_terms_cost_what_is_outside_the_tangent_space(rho: float, L: float) -> None:
    """As ρ → 0 the degradation tends to ρ² (1 − κ² (1 − 2 ln κ))."""
    residual = -math.expm1(-2 * L) - 2 * L * math.exp(-2 * L)
    assert _core.merge_point(rho, L)[2] / rho**2 == pytest.approx(residual, rel=1e-3)


@given(
    st.one_of(st.floats(-1, -0.01), st.floats(0.01, 1)),
    st.floats(0.05, 4),
    st.floats(1e-3, 1e3),
    st.integers(1, 5),
    st.integers(0, 99),
)
def test_degradation_is_the_distance_in_feature_space(
    rho: float, length: float, scale: float, d: int, seed: int
) -> None:
    """From the kernel matrix of z_a, z_b and z; scaling both coefficients scales it by the square."""
    rng = np.random.default_rng(seed)
    gamma = rng.uniform(0.1, 3)
    direction = rng.standard_normal(d)
    z_b = rng.standard_normal(d)
    z_a = z_b + direction / np.linalg.norm(direction) * math.sqrt(length / gamma)
    beta_b = scale * rng.choice([-1, 1])
    h, value, cost = _core.merge_point(rho, length)
    before: Model = [(rho * beta_b, z_a), (beta_b, z_b)]
    after: Model = [(beta_b * value, h * z_a + (1 - h) * z_b)]
    expected = squared_distance(before, after, Kernel("rbf", gamma))
    assert beta_b**2 * cost == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale**2)


# ---- the table ----


def corner(rho: float, L: float) -> bool:
    """Terms that nearly cancel: the table's ratio vanishes there, and so does what is at stake."""
    return rho < -0.8 and -math.log(0.9) > L


@given(signed, st.floats(0, 50))
@example(-1.0, 1e-3)
@example(-0.995, 0.01)
@example(1.0, E2)
def test_table_is_accurate(rho: float, L: float) -> None:
    exact = _core.merge_point(rho, L)[2]
    table = _core.table_degradation(rho, L)
    assert table >= 0
    assert abs(table - exact) <= (2e-4 if corner(rho, L) else 5e-4)
    assert table == pytest.approx(exact, rel=0.5 if corner(rho, L) else 3e-3, abs=1e-15)


def test_table_is_accurate_everywhere() -> None:
    """A dense grid off the table's nodes, measured against what the table claims."""
    rhos = np.linspace(-1, 1, 203)
    kappas = np.concatenate([np.linspace(0.002, 0.9999, 199), 1 - 10.0 ** -np.arange(3, 9)])
    worst = {True: 0.0, False: 0.0}
    for rho, kappa in itertools.product(rhos, kappas):
        L = -math.log(kappa)
        exact, table = _core.merge_point(rho, L)[2], _core.table_degradation(rho, L)
        assert abs(table - exact) <= (2e-4 if corner(rho, L) else 5e-4)
        if exact > 1e-12:
            worst[corner(rho, L)] = max(worst[corner(rho, L)], abs(table / exact - 1))
    assert worst[False] < 3e-3
    assert worst[True] < 0.5  # 20 % at ρ = -0.99, κ = 0.9999, where the degradation is 6e-5


@pytest.mark.parametrize("rho", [-1.0, -0.7, -1e-6, 1e-6, 0.5, 1.0])
def test_table_is_exact_for_duplicates(rho: float) -> None:
    assert _core.table_degradation(rho, 0.0) == 0
    for L in (1e-20, 1e-15, 1e-9):
        assert 0 <= _core.table_degradation(rho, L) <= 3 * L


@pytest.mark.parametrize("rho", [-1.0, -0.7, 0.5, 1.0])
def test_table_ends_at_removal(rho: float) -> None:
    for L in (100.0, 1e5, 1e308, math.inf):
        assert _core.table_degradation(rho, L) == pytest.approx(rho**2)


def test_ranking_by_the_table_loses_almost_nothing() -> None:
    """Over random candidate sets, the partner that the table likes best against the best."""
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(300):
        size = rng.integers(2, 60)
        scale = 10 ** rng.uniform(-2, 1)
        candidates = list(
            zip(rng.uniform(-1, 1, size), rng.gamma(2, scale, size), strict=True)
        )  # costs in units of β_a², as β_a is what all candidates share
        exact = [_core.merge_point(rho, L)[2] / rho**2 for rho, L in candidates]
        table = [_core.table_degradation(rho, L) / rho**2 for rho, L in candidates]
        losses.append(exact[int(np.argmin(table))] / min(exact) - 1)
    assert max(losses) < 0.02
    assert np.mean(losses) < 1e-4
    assert np.count_nonzero(losses) < 15


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_bound_of_the_search_holds_for_the_table(sign: int) -> None:
    """What src/core/maintenance/partner.hpp says of r: a partner beyond the bound costs more, by the table, too."""
    rng = np.random.default_rng(8)
    for rho, L in zip(rng.random(20_000), 10 ** rng.uniform(-5, 1.3, 20_000), strict=True):
        kappa, x = np.exp(-L), 2 * L
        s = 1 - np.exp(-x) * (1 + x) if x > 1e-2 else x * x * (1 / 2 - x / 3 + x * x / 8)
        c = min(kappa, 3.01 * kappa**2) if sign > 0 else 0.0
        cost = _core.table_degradation(sign * rho, L) / rho**2
        assert s <= 1.0002 * cost * (1 + c * (2 * rho + rho**2))

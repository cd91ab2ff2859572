"""Losses: what their functions promise to each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import judge
from tools.core.losses import LOSSES, core_step, epsilon_of

from budgetsvm.losses import EpsilonInsensitive, Hinge, Loss, make_loss

WIDTHS = [2.0, 0.5, 0.01]
SLACK = np.linspace(-3, 3, 241) + 1e-3  # not at a kink


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


def test_losses_by_name() -> None:
    for name in ("hinge", "squared_hinge", "logistic"):
        assert make_loss(name) == LOSSES[name]
        assert make_loss(LOSSES[name]) is LOSSES[name]
    with pytest.raises(ValueError, match="loss"):
        make_loss("epsilon_insensitive")
    for wrong in (EpsilonInsensitive(), None, Hinge):
        with pytest.raises(TypeError, match="squared_hinge"):
            make_loss(wrong)

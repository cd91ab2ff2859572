"""The scale of regression targets: the standard deviation, but for outliers, from 1e-320 to 1e300."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.svm import SVR

from budgetsvm import BudgetSVR
from budgetsvm._problem.target_scale import TargetScale, robust_moments


def make(**options: Any) -> BudgetSVR:
    given = {"C": 5, "gamma": 1.0, "epsilon": 0.05, "budget": 40, "random_state": 0}
    return BudgetSVR(**{**given, **options})


def rows(n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.05 * rng.standard_normal(n)


RNG = np.random.default_rng(1)
ORDINARY = {
    "normal": RNG.standard_normal(1500),
    "uniform": RNG.random(1500),
    "exponential": RNG.exponential(size=1500),
    "counts": RNG.poisson(2.0, 1500),
    "labels": RNG.integers(0, 2, 1500),
    "rare events": RNG.random(1500) < 0.03,
    "a few": np.array([1.0, 2.0, 5.0]),
    "two": np.array([1.0, 2.0]),
    "two groups": np.where(RNG.random(1500) < 0.15, 1e6, 0) + RNG.standard_normal(1500),
}


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_ordinary_targets_have_their_mean_and_standard_deviation(kind: str, shift: float) -> None:
    y = ORDINARY[kind].astype(float) + shift
    mean, scale = robust_moments(y, np.ones(len(y)))
    exact = 1e-2 if kind == "exponential" else 1e-12  # its tail is long: a value is farther out
    assert mean == pytest.approx(y.mean(), abs=exact * y.std() + 1e-14 * abs(shift))
    assert scale == pytest.approx(y.std(), rel=exact)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e160, 1e300, -1e6, -1.7e308])
@pytest.mark.parametrize("share", [0.0007, 0.002, 0.004])
@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential", "counts"])
def test_outliers_count_as_ten_standard_deviations(kind: str, share: float, far: float) -> None:
    y = ORDINARY[kind].astype(float)
    plain, count = y.std(), round(share * 1500)
    y[:count] = far
    mean, scale = robust_moments(y, np.ones(1500))
    assert 0.9 * plain < scale < plain * np.sqrt(1 + 300 * share)
    assert abs(mean - np.median(y)) < 1.5 * scale


@pytest.mark.parametrize("far", [1e3, 1e6, 1e160, 1e300, -1e6, -1.7e308])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.09])
@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential", "counts"])
def test_a_group_that_is_far_away_counts_as_it_is(kind: str, share: float, far: float) -> None:
    y = ORDINARY[kind].astype(float)
    count = round(share * 1500)
    y[:count] = far * (1 - 0.1 * RNG.random(count))
    moments = robust_moments(y, np.ones(1500))
    unit = 2.0**900 if abs(far) > 1e100 else 1.0  # whose squares are numbers
    in_units = y / unit
    assert moments == pytest.approx((in_units.mean() * unit, in_units.std() * unit), rel=1e-12)


TAILS = {
    "lognormal": np.exp,
    "a long tail": lambda z: np.exp(2 * z),
    "both ends": lambda z: z**3 * abs(z),
    "a hinge": lambda z: 10 * np.maximum(0, z - 1),
    "nearly all zero": lambda z: np.where(z > 1.7, np.exp(z), 0.0),
}


@pytest.mark.parametrize("n", [100, 2000, 50_000])
@pytest.mark.parametrize("kind", TAILS)
def test_tails_are_no_outliers(kind: str, n: int) -> None:
    """Seen from tens of standard deviations they are few, but the next value is never far."""
    shares = []
    for seed in range(10):
        y = TAILS[kind](np.random.default_rng(seed).standard_normal(n))
        shares.append(robust_moments(y, np.ones(n))[1] / y.std())
    assert max(shares) <= 1 + 1e-9
    assert np.sort(shares)[1] > 0.93  # one of ten samples may happen to have a gap


@pytest.mark.parametrize("kind", ["normal", "lognormal", "group"])
def test_the_scale_is_bounded_without_a_gap(kind: str) -> None:
    rng = np.random.default_rng(3)
    y = rng.standard_normal(200_000)
    if kind == "lognormal":
        y = np.exp(0.8 * y)
    if kind == "group":
        y[1000:20_000] += 1000.0
    plain = y.std()
    y[:1000] = 10.0 ** rng.uniform(4 if kind == "group" else 1, 6, 1000)  # no gap between them
    most = {"normal": 2.1, "lognormal": 5.0, "group": 3.5}[kind] * plain
    assert plain < robust_moments(y, np.ones(200_000))[1] < most


@pytest.mark.parametrize("n", [20, 50, 150])
@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_an_outlier_among_few_rows(n: int, weight: float) -> None:
    """Half a percent of them is less than a row."""
    y = np.random.default_rng(n).standard_normal(n)
    plain, weights = y.std(), np.ones(n)
    y[7], weights[7] = 1e6, weight
    assert 0.8 * plain < robust_moments(y, weights)[1] < 3 * plain
    weights[7] = n / 5  # and this is no outlier, but a sixth of what is known
    assert robust_moments(y, weights)[1] > 1e5


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1.0])
def test_outliers_beside_a_group(share: float, noise: float) -> None:
    rng = np.random.default_rng(4)
    y = noise * rng.standard_normal(3000)
    y[: round(share * 3000)] += 1000.0 * (1 + 0.01 * rng.standard_normal(round(share * 3000)))
    plain = y.std()
    y[-6:] = [1e6, 2e6, -1e7, 1e9, 1e6, -3e8]
    assert plain < robust_moments(y, np.ones(3000))[1] < 1.5 * plain


@pytest.mark.parametrize("far", [1e6, 1e300])
def test_outliers_among_zeros(far: float) -> None:
    """Where most targets are the same, the others tell the scale."""
    y = np.where(np.arange(1500) % 25 == 0, 1.0, 0.0)
    y[77] = far
    _, scale = robust_moments(y, np.ones(1500))
    assert 0.1 < scale < 0.3
    y = np.zeros(1500)
    y[77] = far  # nothing else is there
    assert robust_moments(y, np.ones(1500))[1] == pytest.approx(far / np.sqrt(1500), rel=1e-2)


VALUES = st.floats(-1e300, 1e300) | st.integers(-3, 3).map(float) | st.just(5e-324)


@settings(deadline=None)
@given(st.data())
def test_a_weight_of_two_is_a_value_that_comes_twice(data: st.DataObject) -> None:
    y = data.draw(arrays(float, st.integers(1, 30), elements=VALUES))
    times = data.draw(arrays(int, len(y), elements=st.integers(1, 3)))
    for factor in (1.0, 2.0**-900, 2.0**900):  # of all weights, whatever it is
        weighted = robust_moments(y, times * factor)
        repeated = robust_moments(np.repeat(y, times), np.full(times.sum(), factor))
        np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9 * abs(y).max())


@settings(deadline=None)
@given(st.data())
def test_any_targets_have_a_scale(data: st.DataObject) -> None:
    """Finite, without a warning; the same for other units, signs and orders."""
    y = data.draw(arrays(float, st.integers(1, 30), elements=VALUES))
    mean, scale = robust_moments(y, np.ones(len(y)))
    assert y.min() <= mean <= y.max()
    assert 0 <= scale <= (y.max() - y.min())
    assert scale > 0 or y.max() - y.min() <= 1e-9 * abs(y).max()
    mirrored = robust_moments(-y[::-1], np.ones(len(y)))
    np.testing.assert_allclose(mirrored, (-mean, scale), rtol=1e-9, atol=1e-12 * abs(y).max())
    if abs(y[y != 0]).min(initial=1.0) > 1e-200:  # no digit gets lost
        smaller = robust_moments(np.ldexp(y, -100), np.ones(len(y)))
        assert smaller == tuple(np.ldexp([mean, scale], -100))


# ---- of an estimator ----

NOISE = np.random.default_rng(5).standard_normal(3000)
SHAPES = {
    "group": lambda X: np.where(X[:, 0] > 1.28, 1000 + X[:, 1], NOISE),
    "small group": lambda X: np.where(X[:, 0] > 1.88, 1000 + X[:, 1], NOISE),
    "lognormal": lambda X: np.exp(X[:, 0]),
    "long tail": lambda X: np.exp(2 * X[:, 0]),
    "sum": lambda X: np.exp(X[:, 0] + X[:, 1]),
    "fourth power": lambda X: X[:, 0] ** 4,
    "hinge": lambda X: 10 * np.maximum(0, X[:, 0] - 1),
    "zeros": lambda X: np.where(X[:, 0] > 1.645, np.exp(X[:, 1]), 0.0),
    "smooth": lambda X: np.sin(2 * X[:, 0]) + 0.2 * NOISE,
}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("kind", SHAPES)
def test_any_shape_is_learned_as_by_svr_on_standardised_targets(kind: str, several: bool) -> None:
    X = np.random.RandomState(0).randn(3000, 5)
    y = SHAPES[kind](X)
    mean, unit = y[:2000].mean(), y[:2000].std()
    theirs = SVR().fit(X[:2000], (y[:2000] - mean) / unit).score(X[2000:], (y[2000:] - mean) / unit)
    targets = np.column_stack([y, X[:, 0]]) if several else y
    predicted = BudgetSVR(random_state=0).fit(X[:2000], targets[:2000]).predict(X[2000:])
    ours = r2_score(y[2000:], predicted[:, 0] if several else predicted)
    assert ours > theirs - 0.005


@pytest.mark.parametrize("kind", ["lognormal", "smooth", "hinge"])
def test_outliers_do_no_harm_to_any_shape(kind: str) -> None:
    X = np.random.RandomState(0).randn(3000, 5)
    y = SHAPES[kind](X)
    plain = BudgetSVR(random_state=0).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    rng = np.random.default_rng(0)
    wrong = y[:2000].copy()
    wrong[rng.permutation(2000)[:10]] *= 10.0 ** rng.uniform(3, 6, 10)
    model = BudgetSVR(random_state=0).fit(X[:2000], wrong)
    assert model.score(X[2000:], y[2000:]) > plain - 0.02


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e-3, -1.0, 1e5, 1e160, 1e200, 1e300])
@pytest.mark.parametrize("shift", [0.0, 3.0])
@pytest.mark.parametrize("polish", [True, False])
def test_units_do_not_matter(unit: float, shift: float, polish: bool) -> None:
    X, y = rows()
    plain = make(polish=polish).fit(X, y).predict(X)
    if unit < 0:  # the order of ties among terms may differ
        y, plain = -y, make(polish=polish).fit(X, -y).predict(X)
    other = make(polish=polish).fit(X, abs(unit) * (y + shift)).predict(X)
    digits = 2e-3
    if unit == 1e-320:  # targets have three digits, and phase 1 amplifies what the others are worth
        digits = 1e-2 if polish else 1e-1
    np.testing.assert_allclose(other / abs(unit) - shift, plain, atol=digits * np.std(y))


@pytest.mark.parametrize("far", [1e6, 1e20, 1e160, 1e300, -1.7e308])
def test_an_outlier_does_not_change_the_scale(far: float) -> None:
    X, y = rows(1500)
    plain = make().fit(X, y)
    y[77] = far
    model = make().fit(X, y)
    np.testing.assert_allclose(model.target_scale_, plain.target_scale_, rtol=0.05)
    np.testing.assert_allclose(model.target_mean_, plain.target_mean_, atol=0.05)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize("far", [1e3, 1e6, 1e300])
def test_an_outlier_does_not_ruin_phase_one(far: float) -> None:
    X, y = rows(1500)
    true = y.copy()
    y[77] = far
    model = make(polish=False, epochs=10).fit(X, y)
    assert np.corrcoef(model.predict(X), true)[0, 1] > 0.97


def test_every_target_has_its_own_scale() -> None:
    X, y = rows()
    far = y.copy()
    far[5] = 1e12
    units = np.array([1.0, 1e150, 1e-150, 1.0])
    model = make().fit(X, np.column_stack([y, y, y, far]) * units)
    np.testing.assert_allclose(model.target_scale_[:3], y.std() * units[:3], rtol=1e-12)
    assert 0.9 < model.target_scale_[3] / y.std() < 1.2
    predicted = model.predict(X) / units
    np.testing.assert_allclose(predicted[:, 1:3], predicted[:, [0, 0]], atol=0.05)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_what_is_no_number(bad: float, method: str) -> None:
    X, y = rows(100)
    for targets in (y, np.column_stack([y, y])):
        targets[3] = bad
        with pytest.raises(ValueError, match=r"y contains (NaN|infinity)"):
            getattr(make(), method)(X, targets)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="no wider numbers here")
def test_numbers_that_are_too_large() -> None:
    X, y = rows(100)
    wide = y.astype(np.longdouble)
    wide[3] = np.longdouble("1e400")
    with pytest.raises(
        ValueError, match=r"y (has values that are|contains infinity or a value) too"
    ):
        make().fit(X, wide)


# ---- of a stream ----


@pytest.mark.parametrize("before", [0, 1, 10])
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_the_first_block_that_differs_settles_it(before: int, weight: float) -> None:
    """The constant rows before it count, too; blocks after it do not."""
    y = np.array([5.0, 7.0, 4.0, 9.0, 1.0])[:, np.newaxis]
    blocks = [np.full((1, 1), 5.0)] * before + [y, 1e6 * y]
    scale: TargetScale | None = None
    for block in blocks:
        weights = np.full(len(block), weight)
        scale = TargetScale.of(block, weights) if scale is None else scale.after(block, weights)
    assert scale is not None
    seen = np.concatenate(blocks[:-1])
    np.testing.assert_allclose(scale.mean, seen.mean())
    np.testing.assert_allclose(scale.scale, seen.std())


def test_targets_settle_one_by_one() -> None:
    X, y = rows(300)
    targets = np.column_stack([y, np.full(300, 2.0), 1e100 * y])
    targets[:100, 2] = 0.0
    model = make().partial_fit(X[:100], targets[:100])
    first = model.target_scale_
    assert first.tolist()[1:] == [1.0, 1.0]
    model.partial_fit(X[100:], targets[100:])
    assert model.target_scale_[0] == first[0] != model.target_scale_[2]
    np.testing.assert_allclose(model.target_scale_[2], targets[:, 2].std())
    np.testing.assert_allclose(model.polish_now().predict(X)[:, 1], 2.0)


def test_nothing_changes_in_place() -> None:
    X, y = rows(300)
    model = make().partial_fit(X[:1], y[:1])
    before, state = dict(vars(model)), pickle.dumps(model)
    model.partial_fit(X[1:], y[1:])
    old = clone(model)
    vars(old).update(before)
    vars(old).pop("_skl_callbacks", None)
    for name, value in vars(pickle.loads(state)).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(before[name], value)
    old.partial_fit(X[1:], y[1:])
    np.testing.assert_array_equal(old.predict(X), model.predict(X))

"""One reduction at a time: what it does to the model, and what it says that it cost."""

import itertools
from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import KERNELS
from tools.core.arguments import core_rows, store
from tools.core.reductions import GAUSSIAN, PLAIN, random_terms, reduce, state

from budgetsvm import _core, kernels
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove

STRATEGIES: dict[str, Maintenance] = {
    "merge": Merge(),
    "same-sign": Merge(partners="same-sign"),
    "golden": Merge(search="golden"),
    "merge-3": Merge(n_terms=3),
    "merge-5": Merge(n_terms=5),
    "project": Project(),
    "remove": Remove(),
}
# What rounding of points, and of kernel values, may do relative to (Σ|β|)².
ROUNDING = {np.float32: 1e-6, np.float64: 1e-13}


def distance(before: Any, after: Any, gram: Any) -> float:
    """‖w_before − w_after‖² from the full kernel matrix."""
    coef = np.concatenate([before[0], -after[0]])
    points = np.concatenate([before[1], after[1]])
    return float(coef @ gram(points, points) @ coef)


# ---- the degradation is what it says ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", STRATEGIES)
def test_degradation_is_the_distance_in_feature_space(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    for size in (2, 3, 7, 33, 70):
        for spread in (0.05, 0.5, 2.0):
            terms = store(*random_terms(rng, size, 3, spread), GAUSSIAN, dtype)
            before = state(terms)
            degradation = reduce(terms, GAUSSIAN, STRATEGIES[name])
            expected = distance(before, state(terms), PLAIN)
            scale = float(np.abs(before[0]).sum()) ** 2
            assert degradation == pytest.approx(expected, rel=1e-3, abs=ROUNDING[dtype] * scale)
            assert degradation >= 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("maintenance", [Project(), Remove()])
@pytest.mark.parametrize("kernel", [k for k in KERNELS if k != "sigmoid"])
def test_degradation_with_other_kernels(kernel: str, maintenance: Maintenance, dtype: Any) -> None:
    ours, gram = KERNELS[kernel]
    rng = np.random.default_rng(2)
    for size in (2, 9, 40):
        terms = store(*random_terms(rng, size, 6), ours, dtype)
        before = state(terms)
        degradation = reduce(terms, ours, maintenance)
        expected = distance(before, state(terms), gram)
        scale = float(np.abs(before[0]).sum()) ** 2 * gram(before[1], before[1]).max()
        assert degradation == pytest.approx(expected, rel=1e-5, abs=ROUNDING[dtype] * scale)


@pytest.mark.parametrize("maintenance", [Project(), Remove()])
def test_degradation_with_a_python_kernel(maintenance: Maintenance) -> None:
    """The slow path gives what the built-in kernel gives."""
    rng = np.random.default_rng(3)
    points, coef = random_terms(rng, 12)
    for name in ("rbf", "poly"):
        ours, gram = KERNELS[name]
        built_in, callback = store(points, coef, ours), store(points, coef, kernels.Callback(gram))
        expected = reduce(built_in, ours, maintenance)
        assert reduce(callback, kernels.Callback(gram), maintenance) == pytest.approx(expected)
        np.testing.assert_allclose(state(callback)[0], state(built_in)[0], rtol=1e-6)


# ---- which terms go ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100])
def test_the_term_of_least_weight_goes(size: int, dtype: Any) -> None:
    """At every position, so that all remainders of the vectorised search are met."""
    rng = np.random.default_rng(size)
    for position in range(0, size, max(1, size // 9)):
        points, coef = random_terms(rng, size)
        coef[position] = rng.choice([-1, 1]) * 1e-3
        terms = store(points, coef, GAUSSIAN, dtype)
        assert reduce(terms, GAUSSIAN, Remove()) == pytest.approx(1e-6)
        left = np.delete(points.astype(dtype).astype(float), position, axis=0)
        coef_after, points_after = state(terms)
        np.testing.assert_array_equal(np.sort(coef_after), np.sort(np.delete(coef, position)))
        np.testing.assert_array_equal(
            points_after[np.argsort(coef_after)], left[np.argsort(np.delete(coef, position))]
        )


@pytest.mark.parametrize(("n_terms", "left"), [(2, 11), (3, 10), (4, 9), (5, 8), (12, 1), (40, 1)])
def test_multimerge_makes_one_of_many(n_terms: int, left: int) -> None:
    terms = store(*random_terms(np.random.default_rng(4), 12), GAUSSIAN)
    before = state(terms)
    degradation = reduce(terms, GAUSSIAN, Merge(n_terms=n_terms))
    assert terms.size == left
    assert degradation == pytest.approx(distance(before, state(terms), PLAIN), rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("partners", ["any", "same-sign"])
@pytest.mark.parametrize("power", [1.0, 0.01])
def test_pruned_search_is_as_good_as_an_exhaustive_one(
    partners: Any, dtype: Any, power: float
) -> None:
    """The search asks the table about a handful of partners; asking about all gives the same.

    Coefficients are of all sizes, or, as where most rows are on the wrong side, nearly equal ones.
    """
    rng = np.random.default_rng(6)
    maintenance = Merge(partners=partners)
    for _ in range(400):
        size, d = int(rng.integers(2, 90)), int(rng.integers(1, 6))
        points, coef = random_terms(rng, size, d, 10 ** rng.uniform(-1.5, 0.7))
        coef = np.sign(coef) * abs(coef) ** power
        terms = store(points, coef, GAUSSIAN, dtype)
        points = terms.points().astype(float)
        reduce(terms, GAUSSIAN, maintenance)
        a = int(np.argmin(abs(coef)))
        rho, L = coef[a] / coef, 0.6 * ((points - points[a]) ** 2).sum(axis=1)
        allowed = (rho > 0) | (partners == "any")
        costs = np.array([_core.table_degradation(*x) for x in zip(rho, L, strict=True)]) / rho**2
        costs[~allowed] = np.inf
        costs[a] = np.inf
        kept = np.isin(coef, terms.coef[: terms.size])
        if not np.isfinite(costs).any():
            np.testing.assert_array_equal(kept, np.arange(size) != a)
            continue
        partner = np.flatnonzero(~kept & (np.arange(size) != a))
        # A partner so far away that its coefficient did not change costs as much as removal.
        cost = costs[partner].item() if len(partner) else 1.0
        rounding = 2e-5 if dtype == np.float32 else 1e-10  # float32 distances cancel
        assert cost <= costs.min() * (1 + 100 * rounding) + rounding


def test_merging_agrees_with_the_reference() -> None:
    """The merged term, not only its cost."""
    rng = np.random.default_rng(7)
    for golden, same_sign in itertools.product([False, True], repeat=2):
        ours = Merge(
            search="golden" if golden else "table", partners="same-sign" if same_sign else "any"
        )
        theirs = reference.Merge(golden=golden, same_sign=same_sign)
        for _ in range(20):
            points, coef = random_terms(rng, 8)
            terms = store(points, coef, GAUSSIAN)
            reduce(terms, GAUSSIAN, ours)
            model = theirs.reduce(
                list(zip(coef, points, strict=True)), PLAIN, reference.argmin, reference.argmin
            )
            expected, places = reference.split(model, 3)
            beta, z = state(terms)
            order, other = np.argsort(beta), np.argsort(expected)
            tolerance = 1e-5 if golden else 1e-9
            np.testing.assert_allclose(beta[order], expected[other], rtol=tolerance)
            np.testing.assert_allclose(z[order], places[other], rtol=0, atol=tolerance)


# ---- special cases ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["merge", "golden", "merge-3", "merge-5", "project"])
def test_duplicates_cost_nothing(name: str, dtype: Any) -> None:
    """κ = 1: one of two equal points is redundant, whatever the signs of their coefficients."""
    rng = np.random.default_rng(8)
    for sign in (1, -1):
        points, coef = random_terms(rng, 20, 40)
        coef[3], points[3] = 1e-3, points[11]
        coef[11] = sign * 0.5
        if name in ("merge-3", "merge-5"):
            points[:5] = points[11]
            coef[:3], coef[4] = 0.3, -0.2
        terms = store(points, coef, GAUSSIAN, dtype)
        f = np.zeros(20)
        rows = core_rows(points, dtype)
        _core.decision(rows, terms.arrays, terms.size, GAUSSIAN.core(), f)
        rounding = 1e-5 if dtype == np.float32 else 1e-9
        assert reduce(terms, GAUSSIAN, STRATEGIES[name]) <= 1e-6 * rounding
        after = np.zeros(20)
        _core.decision(rows, terms.arrays, terms.size, GAUSSIAN.core(), after)
        np.testing.assert_allclose(after, f, rtol=0, atol=rounding)


@pytest.mark.parametrize("gamma", [1e-6, 1e-3, 0.6, 100.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exactly_opposite_duplicates_cancel(dtype: Any, gamma: float) -> None:
    """BSCA's steps up to C and back to 0 leave β and −β on one point: they are to meet.

    Rounding may put their distance, from norms and a product, a little above zero.
    """
    rng = np.random.default_rng(9)
    for _ in range(30):
        points, coef = random_terms(rng, 12, 7)
        coef = np.sign(coef) * rng.uniform(2, 3, 12)
        points[5], coef[5], coef[9] = points[9], 1.0, -1.0
        kernel = kernels.Gaussian(gamma)
        terms = store(points, coef, kernel, dtype)
        assert reduce(terms, kernel, Merge()) <= 1e-12
        kept = np.isin(coef, terms.coef[:11])
        np.testing.assert_array_equal(kept, ~np.isin(np.arange(12), [5, 9]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("point", [0.0, 1.7, -300.0])
def test_all_points_equal(name: str, dtype: Any, point: float) -> None:
    """Reduced to one term step by step, without loss but by removal."""
    coef = np.array([0.5, 1.0, 2.0, 0.25, 4.0, 3.0, 0.125])
    terms = store(np.full((7, 5), point), coef, GAUSSIAN, dtype)
    while terms.size > 1:
        reduce(terms, GAUSSIAN, STRATEGIES[name])
    expected = 4.0 if name == "remove" else coef.sum()
    assert terms.coef[0] == pytest.approx(expected, rel=1e-4 if dtype == np.float32 else 1e-7)
    np.testing.assert_allclose(terms.points(), np.full((1, 5), point), rtol=1e-6)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_single_term_is_removed(name: str) -> None:
    terms = store(np.ones((1, 2)), [0.5], GAUSSIAN)
    assert reduce(terms, GAUSSIAN, STRATEGIES[name]) == pytest.approx(0.25)
    assert terms.size == 0


@pytest.mark.parametrize("n_terms", [2, 3])
@pytest.mark.parametrize("search", ["table", "golden"])
def test_without_a_partner_of_the_same_sign_the_term_is_removed(search: Any, n_terms: int) -> None:
    points, coef = random_terms(np.random.default_rng(10), 9)
    coef = abs(coef) + 0.1
    coef[4] = -0.05
    terms = store(points, coef, GAUSSIAN)
    maintenance = Merge(n_terms, search, "same-sign")
    assert reduce(terms, GAUSSIAN, maintenance) == pytest.approx(0.05**2)
    np.testing.assert_array_equal(np.sort(terms.coef[: terms.size]), np.sort(np.delete(coef, 4)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_coefficients_of_any_magnitude(name: str) -> None:
    """Scaling all coefficients scales the result: also far from one, also in float32."""
    points, coef = random_terms(np.random.default_rng(11), 15)
    results = []
    for scale in (1.0, 1e-30, 1e30):
        terms = store(points, scale * coef, GAUSSIAN, np.float32)
        degradation = reduce(terms, GAUSSIAN, STRATEGIES[name]) / scale**2
        results.append((degradation, terms.coef[: terms.size] / scale, terms.points()))
    for degradation, beta, z in results[1:]:
        assert degradation == pytest.approx(results[0][0], rel=1e-6)
        np.testing.assert_allclose(beta, results[0][1], rtol=1e-6)
        np.testing.assert_allclose(z, results[0][2], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["laplacian", "poly", "sigmoid", "linear"])
def test_merging_is_refused_without_the_gaussian_kernel(name: str) -> None:
    ours, _ = KERNELS[name]
    terms = store(np.ones((3, 2)), np.ones(3), ours)
    with pytest.raises(ValueError, match="merging needs the Gaussian kernel"):
        reduce(terms, ours, Merge())
    assert not Merge().suits(ours)

"""Terms that are left out while the others make up for it: against the plain version, and as a minimum."""

from typing import Any

import numpy as np
import pytest

from budgetsvm._common.limits import Limits
from budgetsvm._exact.candidates import elimination
from budgetsvm._exact.candidates.elimination import eliminate

LIMITS = Limits(0.01, 99, np.inf, 1e9, 1)


def problem(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, 3))
    K = np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(axis=2))
    return K + 0.01 * np.eye(n) + 5 * K[:, ::3] @ K[::3], rng.standard_normal(n)


def plain(H: Any, coef: Any, count: int) -> tuple[list[int], Any]:
    """One term after the other, all of it anew each time."""
    left, coef = list(range(len(coef))), coef.copy()
    while len(left) > count:
        inverse = np.linalg.inv(H[np.ix_(left, left)])
        j = int(np.argmin(coef**2 / np.diag(inverse)))
        coef = np.delete(coef - coef[j] * inverse[:, j] / inverse[j, j], j)
        del left[j]
    return left, coef


@pytest.mark.parametrize("count", [29, 20, 7, 1])
def test_it_is_the_plain_version(count: int) -> None:
    H, coef = problem(30)
    expected = plain(H, coef, count)
    stay, found = eliminate(H.copy(), coef, count, LIMITS)
    assert stay.tolist() == expected[0]
    np.testing.assert_allclose(found, expected[1], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("at_once", "pool"), [(1, 1), (5, 2), (16, 4)])
def test_blocks_and_pools_choose_as_well(
    at_once: int, pool: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool may lack a term that gets cheap while others go: next to nothing is lost by that."""
    monkeypatch.setattr(elimination, "_AT_ONCE", at_once)
    monkeypatch.setattr(elimination, "_POOL", pool)
    H, coef = problem(120, 1)
    stay, found = eliminate(H.copy(), coef, 60, LIMITS)

    def cost(stay: Any, kept: Any) -> float:
        moved = -coef
        moved[stay] += kept
        return float(0.5 * moved @ H @ moved)

    best, _ = plain(H, coef, 60)
    others = np.setdiff1d(np.arange(120), stay)
    # What stays makes up for what goes as well as it can.
    optimum = coef[stay] + np.linalg.solve(
        H[np.ix_(stay, stay)], H[np.ix_(stay, others)] @ coef[others]
    )
    np.testing.assert_allclose(found, optimum, rtol=1e-5, atol=1e-6)
    gone = np.setdiff1d(np.arange(120), best)
    reference = coef[best] + np.linalg.solve(
        H[np.ix_(best, best)], H[np.ix_(best, gone)] @ coef[gone]
    )
    assert cost(stay, found) <= 1.1 * cost(best, reference)
    chance = np.arange(0, 120, 2)
    rest = np.setdiff1d(np.arange(120), chance)
    random = coef[chance] + np.linalg.solve(
        H[np.ix_(chance, chance)], H[np.ix_(chance, rest)] @ coef[rest]
    )
    assert cost(stay, found) < 0.5 * cost(chance, random)


def test_terms_that_are_the_same() -> None:
    """Their Hessian has no inverse but for rounding: one of them takes the coefficient of both."""
    H, coef = problem(10)
    twice = np.repeat(np.arange(10), 2)
    stay, found = eliminate(H[np.ix_(twice, twice)].copy(), np.repeat(coef, 2), 10, LIMITS)
    assert sorted(twice[stay]) == list(range(10))
    np.testing.assert_allclose(found, 2 * coef[twice[stay]], rtol=1e-3)

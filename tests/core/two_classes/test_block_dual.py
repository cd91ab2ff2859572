"""The dual with all kernel values at hand: against SciPy's quadratic optimum, definitions, and what the core refuses."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.metrics.pairwise import rbf_kernel

from budgetsvm import _core


def _problem(n, seed, epsilon):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    box = rng.uniform(0.2, 2.0, n)
    if epsilon:
        return rbf_kernel(X, gamma=0.5), np.sin(2 * X[:, 0]) + X[:, 1], -box, box
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return rbf_kernel(X, gamma=0.5), y, np.minimum(0.0, box * y), np.maximum(0.0, box * y)


def _blocks(K, first):
    """Return a matrix cut into two groups of rows."""
    a, b = slice(0, first), slice(first, len(K))
    return tuple(
        np.ascontiguousarray(K[rows, columns]) for rows, columns in ((a, a), (a, b), (b, a), (b, b))
    )


def _climb(K, first, target, lower, upper, *, epsilon, dtype=np.float64, goal=1e-6, rounds=1000):
    """Return β, residuals and what the core says, for a matrix cut into two groups of rows."""
    blocks = _blocks(K.astype(dtype), first)
    beta, residual = np.zeros(len(K)), target.copy()
    trivial = float(
        upper @ np.maximum(0, target - epsilon) - lower @ np.maximum(0, -target - epsilon)
    )
    bounds, state, everything = (target, lower, upper, epsilon), (beta, residual), _everything(K)
    *found, waits = _core.climb_blocks(
        blocks, bounds, state, (trivial, 0.0), goal, rounds, everything
    )
    assert not waits
    return beta, residual, found


def _everything(K):
    """Return a working set that is empty, of a matrix whose rows are all there."""
    return None, np.zeros(len(K), np.int64)


def _objectives(K, problem, beta, bias):
    target, lower, upper, epsilon = problem
    f = K @ beta
    left = target - f - bias
    cost = upper @ np.maximum(0, left - epsilon) - lower @ np.maximum(0, -left - epsilon)
    return 0.5 * beta @ f + cost, target @ beta - epsilon * abs(beta).sum() - 0.5 * beta @ f


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("n", [2, 12, 30])
def test_the_optimum_is_that_of_scipy(n, epsilon):
    K, target, lower, upper = _problem(n, n, epsilon)
    target[:2] = 1.0, -1.0
    if not epsilon:
        lower[:2], upper[:2] = (0.0, -1.0), (1.0, 0.0)
    _, _, (_, dual, *_) = _climb(K, n // 2, target, lower, upper, epsilon=epsilon)

    def negative(both):  # β = p - q, so that |β| is smooth
        beta = both[:n] - both[n:]
        return 0.5 * beta @ K @ beta - target @ beta + epsilon * both.sum()

    bounds = [*((0, u) for u in upper), *((0, -one) for one in lower)]
    balance = LinearConstraint(np.concatenate([np.ones(n), -np.ones(n)]), 0, 0)
    best = minimize(
        negative,
        np.zeros(2 * n),
        bounds=bounds,
        constraints=balance,
        options={"ftol": 1e-12, "maxiter": 500},
    )
    np.testing.assert_allclose(dual, -best.fun, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("first", [0, 150, 500])
def test_what_it_says_is_what_it_does(first, epsilon, dtype):
    """Feasible to the last bit but for the sum, residuals that belong to β, P and D by definition, the best bias."""
    K, target, lower, upper = _problem(500, 3, epsilon)
    if dtype is np.float32:
        K = K.astype(np.float32).astype(float)
    beta, residual, found = _climb(
        K, first, target, lower, upper, epsilon=epsilon, dtype=dtype, goal=1e-3
    )
    primal, dual, scale, bias, rounds = found
    assert (lower <= beta).all()
    assert (beta <= upper).all()
    assert abs(beta.sum()) < 1e-9
    np.testing.assert_allclose(residual, target - K @ beta, atol=1e-9)
    np.testing.assert_allclose(
        (primal, dual), _objectives(K, (target, lower, upper, epsilon), beta, bias), rtol=1e-9
    )
    assert 0 <= primal - dual <= 1e-3 * scale
    assert rounds > 1
    for other in (bias - 0.01, bias + 0.01):
        worse, _ = _objectives(K, (target, lower, upper, epsilon), beta, other)
        assert worse >= primal - 1e-9


def test_groups_do_not_matter():
    K, target, lower, upper = _problem(400, 5, 0.0)
    bits = [
        _climb(K, first, target, lower, upper, epsilon=0.0, goal=1e-4)[0].tobytes()
        for first in (0, 1, 200, 399, 400)
    ]
    assert len(set(bits)) == 1


def test_some_rounds_leave_a_feasible_point_to_go_on_from():
    K, target, lower, upper = _problem(600, 6, 0.0)
    duals = []
    for rounds in (0, 1, 2, 5, 10):
        beta, residual, found = _climb(
            K, 300, target, lower, upper, epsilon=0.0, goal=0.0, rounds=rounds
        )
        assert abs(beta.sum()) < 1e-10
        np.testing.assert_allclose(residual, target - K @ beta, atol=1e-9)
        duals.append(found[1])
    assert duals == sorted(duals)
    assert duals[0] == 0


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize(("n", "first"), [(600, 600), (600, 250), (100, 100), (600, 0)])
def test_rows_may_come_when_they_are_asked_for(n, first, epsilon):
    """Whatever their order: a set waits for the rows that it lacks, and goes on as if they had been there."""
    K, target, lower, upper = _problem(n, 7, epsilon)
    bounds, scale, goal = (target, lower, upper, epsilon), (1.0, 0.0), 1e-3
    points = []
    for asks in (False, True):
        first_block, *others = _blocks(K, first)
        state, ages = (np.zeros(n), target.copy()), np.zeros(n, np.int64)
        places = np.full(first, -1, np.int32) if asks else None
        values = np.full((first, first), np.nan) if asks else first_block
        rounds, held, waits = 0, 0, True
        while waits:
            *_, made, waits = _core.climb_blocks(
                (values, *others), bounds, state, scale, goal, 1000, (places, ages)
            )
            rounds += made
            fresh = np.flatnonzero(ages[:first] != 0)
            fresh = fresh[places[fresh] < 0][::-1] if asks else fresh[:0]
            assert bool(len(fresh)) == waits
            values[held : held + len(fresh)] = first_block[fresh]
            if asks:
                places[fresh] = np.arange(held, held + len(fresh))
            held += len(fresh)
        points.append((state[0].tobytes(), state[1].tobytes(), rounds))
        assert asks or held == 0
    assert points[0] == points[1]
    assert held == first if n == 100 else held < max(1, first)


def test_a_set_that_waits_makes_no_round():
    K, target, lower, upper = _problem(300, 8, 0.0)
    blocks, beta, ages = _blocks(K, 300), np.zeros(300), np.zeros(300, np.int64)
    places = np.full(300, -1, np.int32)
    problem = blocks, (target, lower, upper, 0.0), (beta, target.copy()), (1.0, 0.0)
    answers = [_core.climb_blocks(*problem, 1e-3, 9, (places, ages)) for _ in range(3)]
    assert {answer[-2:] for answer in answers} == {(0, True)}
    assert answers[0][0] < np.inf
    assert answers[1][0] == answers[2][0] == np.inf  # nothing new is known, and nobody has looked
    assert not beta.any()
    assert np.count_nonzero(ages) <= 192


@pytest.mark.parametrize("what", ["blocks", "cross", "length", "tolerance", "ages", "places"])
def test_wrong_shapes_are_refused(what):
    K, target, lower, upper = _problem(6, 0, 0.0)
    blocks = [K[:3, :3], K[:3, 3:], K[3:, :3], K[3:, 3:]]
    blocks = [np.ascontiguousarray(block) for block in blocks]
    beta, goal, ages, places = np.zeros(6), 0.1, np.zeros(6, np.int64), None
    if what == "blocks":
        blocks[0] = np.ones((3, 2))
    if what == "cross":
        blocks[1] = np.ones((2, 3))
    if what == "length":
        beta = np.zeros(5)
    if what == "tolerance":
        goal = -1.0
    if what == "ages":
        ages = np.zeros(3, np.int64)
    if what == "places":
        places = np.zeros(4, np.int32)
    problem = tuple(blocks), (target, lower, upper, 0.0), (beta, target.copy()), (1.0, 0.0)
    with pytest.raises(ValueError, match=r"shapes|length|negative"):
        _core.climb_blocks(*problem, goal, 5, (places, ages))


def test_a_place_that_does_not_exist_is_refused():
    K, target, lower, upper = _problem(6, 0, 0.0)
    problem = _blocks(K, 6), (target, lower, upper, 0.0), (np.zeros(6), target.copy()), (1.0, 0.0)
    places = np.array([0, 1, 2, 3, 4, 6], np.int32)
    with pytest.raises(ValueError, match="no such place"):
        _core.climb_blocks(*problem, 0.1, 5, (places, np.zeros(6, np.int64)))


@pytest.mark.parametrize("scarce", [1.0, 1e-4])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 32])
def test_what_is_known_at_the_end_of_a_call_is_of_the_end(rounds, epsilon, scarce):
    """Also where the rows are so many that nobody looks after every round, and far from the optimum the best bias."""
    K, target, lower, upper = _problem(1100, 3, epsilon)
    upper = upper * scarce
    beta, residual = np.zeros(1100), target.copy()
    problem = target, lower, upper, epsilon
    primal, dual, _, bias, made, _ = _core.climb_blocks(
        _blocks(K, 1100), problem, (beta, residual), (1.0, 0.0), 0.0, rounds, _everything(K)
    )
    assert made == rounds or primal - dual < 1e-9 * primal
    assert (primal, dual) == pytest.approx(_objectives(K, problem, beta, bias))
    kinks = np.concatenate([residual - epsilon, residual + epsilon])
    best = min(_objectives(K, problem, beta, kink)[0] for kink in kinks)
    assert primal == pytest.approx(best, rel=1e-9)

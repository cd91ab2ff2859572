"""Pairs of classes on the kernel matrix of all rows: each is the problem of its rows, and what the core refuses."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from budgetsvm import _core

SIZES = np.array([30, 1, 250, 40])  # together, two of them are more than a working set
STARTS = np.concatenate([[0], np.cumsum(SIZES)])
PAIRS = np.array([[0, 2], [1, 3], [3, 0], [0, 1]])


def _problem(dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SIZES.sum(), 3)) + np.repeat(
        rng.standard_normal((4, 3)), SIZES, axis=0
    )
    return rbf_kernel(X, gamma=0.5).astype(dtype), rng.uniform(0.2, 2.0, len(X))


def _climb(K, box, pairs, *, goal=1e-4, rounds=1000, starts=STARTS, short=0):
    members = int(SIZES[pairs].sum()) - short
    found = np.full(members, np.nan), np.full(members, np.nan), np.full((len(pairs), 5), np.nan)
    _core.climb_pairs(K, box, starts, pairs, goal, rounds, found)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_pair_is_the_problem_of_its_rows(dtype):
    K, box = _problem(dtype)
    beta, residual, certificates = _climb(K, box, PAIRS)
    begin = 0
    for (a, b), (primal, dual, scale, bias, rounds) in zip(PAIRS, certificates, strict=True):
        rows = np.concatenate([np.arange(STARTS[c], STARTS[c + 1]) for c in (a, b)])
        y = np.repeat([1.0, -1.0], SIZES[[a, b]])
        own, left = (some[begin : begin + len(rows)] for some in (beta, residual))
        begin += len(rows)
        C, gram = box[rows], K[np.ix_(rows, rows)].astype(float)
        assert (own * y >= 0).all()
        assert (own * y <= C).all()
        assert abs(own.sum()) < 1e-9
        f = gram @ own
        np.testing.assert_allclose(left, y - f, atol=1e-5)
        cost = C @ np.maximum(0, 1 - y * (f + bias))
        np.testing.assert_allclose(primal, 0.5 * own @ f + cost, rtol=1e-5)
        np.testing.assert_allclose(dual, own @ y - 0.5 * own @ f, rtol=1e-5)
        assert primal - dual <= 1e-4 * scale
        assert rounds > 0


def test_a_pair_does_not_know_of_the_others():
    K, box = _problem(np.float64)
    together = _climb(K, box, PAIRS)
    begin = 0
    for p, pair in enumerate(PAIRS):
        beta, residual, certificates = _climb(K, box, pair[np.newaxis])
        end = begin + len(beta)
        np.testing.assert_array_equal(beta, together[0][begin:end])
        np.testing.assert_array_equal(residual, together[1][begin:end])
        np.testing.assert_array_equal(certificates[0], together[2][p])
        begin = end


@pytest.mark.parametrize(
    "what", ["kernel", "box", "starts", "empty", "pair", "same", "found", "goal"]
)
def test_what_does_not_fit_is_refused(what):
    K, box = _problem(np.float64)
    changed = {
        "kernel": {"K": np.ascontiguousarray(K[:, :-1])},
        "box": {"box": box[:-1]},
        "starts": {"starts": STARTS + 1},
        "empty": {"starts": np.array([0, 30, 30, 281, 321])},
        "pair": {"pairs": np.array([[0, 4]])},
        "same": {"pairs": np.array([[1, 1]])},
        "found": {"short": 1},
        "goal": {"goal": -1.0},
    }[what]
    arguments = {"K": K, "box": box, "pairs": PAIRS} | changed
    if what == "pair":
        found = np.zeros(30), np.zeros(30), np.zeros((1, 5))
        with pytest.raises(ValueError, match="no such class"):
            _core.climb_pairs(K, box, STARTS, arguments["pairs"], 0.1, 5, found)
        return
    with pytest.raises(ValueError, match=r"shapes|length|negative|differ|no rows|two classes"):
        _climb(**arguments)

"""Pairs of classes on common features, by the core: definitions, indifference, and what it refuses."""

import numpy as np
import pytest
from sklearn.svm import SVC

from budgetsvm import _core

_SIZES = (40, 25, 35)


def _features(dtype, seed=0):
    """Return rows of three classes, one class after the other, with a constant as the last feature."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.standard_normal((3, 6)), _SIZES, axis=0)
    rows = centres + rng.standard_normal(centres.shape)
    return np.hstack([rows, np.full((len(rows), 1), 1.5)]).astype(dtype)


def _solve(G, pairs, *, goal=1e-3, rounds=60, seed=1, box=None, values=np.inf):
    pairs = np.array(pairs, np.int64)
    sizes = np.array(_SIZES)
    box = np.ones(len(G)) if box is None else box
    room = (len(pairs), G.shape[1])
    w, point, certificates = np.zeros(room), np.zeros(room), np.zeros((len(pairs), 4))
    alpha = np.zeros(int(sizes[pairs].sum()))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    norms = np.einsum("ij,ij->i", G, G)
    found = w, point, certificates, alpha
    count = _core.ascend_pairs((G, norms, box, starts), pairs, goal, rounds, values, seed, found)
    assert count == (len(pairs) if values == np.inf else 1)
    return w, point, certificates, alpha


def _rows(a, b):
    starts = np.concatenate([[0], np.cumsum(_SIZES)])
    rows = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in (a, b)])
    return rows, np.repeat([1.0, -1.0], [_SIZES[a], _SIZES[b]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2), (2, 0)])
def test_certificates_are_what_they_say(pair, dtype):
    G, box = _features(dtype), np.linspace(0.5, 2, sum(_SIZES))
    (w,), (point,), ((primal, dual, scale, passes),), alpha = _solve(G, [pair], box=box)
    (rows, y), wide = _rows(*pair), G.astype(float)
    assert (alpha >= 0).all()
    assert (alpha <= box[rows]).all()
    assert abs(alpha @ y) < 1e-6
    own = wide[rows].T @ (alpha * y)
    np.testing.assert_allclose(point[:-1], own[:-1], atol=1e-6)
    np.testing.assert_allclose(dual, alpha.sum() - 0.5 * own[:-1] @ own[:-1], rtol=1e-6)
    cost = box[rows] @ np.maximum(0, 1 - y * (wide[rows] @ w))
    np.testing.assert_allclose(primal, 0.5 * w[:-1] @ w[:-1] + cost, rtol=1e-6)
    assert primal - dual <= 1e-3 * scale
    assert passes > 0


def test_it_is_the_machine_of_scikit_learn():
    G = _features(np.float64)
    (w,), _, ((primal, *_),), _ = _solve(G, [(0, 1)], goal=1e-5, rounds=200)
    rows, y = _rows(0, 1)
    exact = SVC(kernel="linear", C=1.0, tol=1e-8).fit(G[rows, :-1], y)
    np.testing.assert_allclose(G[rows] @ w, exact.decision_function(G[rows, :-1]), atol=2e-2)
    best = (
        0.5 * exact.coef_[0] @ exact.coef_[0]
        + np.maximum(0, 1 - y * exact.decision_function(G[rows, :-1])).sum()
    )
    np.testing.assert_allclose(primal, best, rtol=1e-5)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_pairs_do_not_know_of_each_other(k):
    G, pairs = _features(np.float64), [(0, 1), (0, 2), (1, 2)]
    *together, alpha = _solve(G, pairs)
    *alone, alpha_alone = _solve(G, pairs[k : k + 1])
    for many, one in zip(together, alone, strict=True):
        np.testing.assert_array_equal(many[k], one[0])
    ends = np.cumsum([_SIZES[a] + _SIZES[b] for a, b in pairs])
    np.testing.assert_array_equal(np.split(alpha, ends)[k], alpha_alone)


def test_no_pair_is_begun_after_so_much_work():
    G, pairs = _features(np.float64), [(0, 1), (0, 2), (1, 2)]
    w, _, certificates, alpha = _solve(G, pairs, values=1)
    np.testing.assert_array_equal(w[0], _solve(G, pairs)[0][0])
    assert not (w[1:].any())
    assert not (certificates[1:].any())
    assert not (alpha[_SIZES[0] + _SIZES[1] :].any())


@pytest.mark.parametrize(
    ("pairs", "match"),
    [([(0, 3)], "no such class"), ([(-1, 0)], "no such class"), ([(1, 1)], "two classes")],
)
def test_classes_that_are_not_there_are_refused(pairs, match):
    G = _features(np.float64)
    arrays = np.zeros((1, 7)), np.zeros((1, 7)), np.zeros((1, 4)), np.zeros(50)
    starts = np.array([0, 40, 65, 100])
    with pytest.raises(ValueError, match=match):
        _core.ascend_pairs(
            (G, G[:, 0].copy(), np.ones(100), starts), np.array(pairs), 0.1, 5, np.inf, 0, arrays
        )


@pytest.mark.parametrize("starts", [[0, 40, 40, 100], [0, 40, 65, 99], [1, 40, 65, 100]])
def test_classes_must_have_rows_and_all_of_them(starts):
    G = _features(np.float64)
    arrays = np.zeros((1, 7)), np.zeros((1, 7)), np.zeros((1, 4)), np.zeros(65)
    with pytest.raises(ValueError, match=r"no rows|differ"):
        _core.ascend_pairs(
            (G, G[:, 0].copy(), np.ones(100), np.array(starts)),
            np.array([[0, 1]]),
            0.1,
            5,
            np.inf,
            0,
            arrays,
        )

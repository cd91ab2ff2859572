"""Learning from streams: polish_now, fit_stream, files, memory."""

import json
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest
from oracles.problems import noisy_xor
from scipy import sparse
from sequences.runs import SUBJECTS, Data
from sklearn.base import clone
from tools.streaming import in_blocks, make

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.streams import read_blocks

MACHINES = [subject for subject in SUBJECTS if subject != "features"]


# ---- polish_now ----


def objective(model, X, y, C):
    """P of a binary model on all rows."""
    f = model.decision_function(X)
    Z, beta = model.support_vectors_, model.dual_coef_[0]
    squared = ((Z[:, np.newaxis] - Z) ** 2).sum(axis=2)
    norm = beta @ np.exp(-model.kernel_.gamma * squared) @ beta
    return 0.5 * norm + C * np.maximum(0, 1 - y * f).sum()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("reservoir", [1, 2, 40])
def test_classes_that_the_sample_lacks(reservoir, loss):
    """Of rare classes, of pairs of them, there may be no row; the others are told apart all the same."""
    X, y = noisy_xor(600, 2)
    labels = (y > 0) + 0
    labels[:6] = [2, 3, 4, 2, 3, 4]
    model = BudgetSVC(gamma=2.0, budget=20, reservoir=reservoir, loss=loss, random_state=0)
    model.fit_stream([(X, labels)])
    assert model.converged_
    values = model.set_params(decision_function_shape="ovo").decision_function(X)
    assert values.shape == (600, 10)
    assert np.isfinite(values).all()
    kept = model._reservoir.rows()[1]
    unknown = [not np.isin(pair, kept).any() for pair in np.column_stack(np.triu_indices(5, 1))]
    assert any(unknown)
    np.testing.assert_array_equal(values[:, unknown], 0)
    if reservoir == 40:
        assert model.score(X, labels) > 0.75


@pytest.mark.parametrize("reservoir", [500, 20_000])
def test_polish_now_improves_the_objective(reservoir):
    X, y = noisy_xor(3000, 2)
    model = make(reservoir=reservoir)
    for block in in_blocks(X, y, [250]):
        model.partial_fit(*block)
    before = deepcopy(model)
    model.polish_now()
    after = objective(model, X, y, model.C_)
    assert after < 0.9 * objective(before, X, y, model.C_)
    assert model.converged_
    # The sample stands for all rows: so does its objective.
    assert model.objective_[0] == pytest.approx(after, rel=1e-3 if reservoir > 3000 else 0.5)
    model.partial_fit(X[:100], y[:100])
    assert not hasattr(model, "converged_")
    assert model.polish_now().converged_


def test_polish_now_needs_a_sample_of_all_rows():
    X, y = noisy_xor(500, 3)
    with pytest.raises(ValueError, match="not fitted"):
        make().polish_now()
    with pytest.raises(ValueError, match=r"there are no rows to polish with.*reservoir > 0"):
        make().fit(X, y).polish_now()
    with pytest.raises(ValueError, match=r"reservoir > 0 \(it is 0\)"):
        make(reservoir=0).partial_fit(X, y).polish_now()
    model = make().fit(X, y).partial_fit(X[:10], y[:10])
    with pytest.raises(ValueError, match=r"sample of the last 10 rows only.* seen 510"):
        model.polish_now()


def test_weights_in_streams():
    """Rows of weight zero leave no trace; other weights multiply C."""
    X, y = noisy_xor(1000, 4)
    weights = np.where(np.arange(1000) % 4 == 0, 0.0, 2.0)
    wrong = np.where(weights == 0, -y, y)
    blocks = [
        (X[s : s + 100], wrong[s : s + 100], weights[s : s + 100]) for s in range(0, 1000, 100)
    ]
    weighted = make(C=5).fit_stream(blocks)
    plain = make(C=10).fit_stream([(x[w > 0], v[w > 0]) for x, v, w in blocks])
    np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-6)


# ---- fit_stream ----


def xor_stream(n, rows=5000):
    for seed in range(n // rows):
        yield noisy_xor(rows, 100 + seed)


@pytest.mark.slow
def test_a_stream_is_as_good_as_all_rows_at_once():
    X_test, y_test = noisy_xor(20_000, 99)
    streamed = make().fit_stream(xor_stream(200_000))
    assert streamed.n_features_in_ == 2
    X, y = map(np.concatenate, zip(*xor_stream(200_000), strict=True))
    at_once = make().fit(X, y)
    assert streamed.score(X_test, y_test) > at_once.score(X_test, y_test) - 0.01


def test_fit_stream_starts_from_scratch(blobs):
    X, y = blobs
    model = make(gamma=0.1).fit_stream([(X, y)])
    values = model.decision_function(X)
    X2, y2 = noisy_xor(300, 5)
    model.fit_stream([(X2[:, [0, 1, 0]], y2)])
    assert model.classes_.tolist() == [-1, 1]
    np.testing.assert_array_equal(model.fit_stream([(X, y)]).decision_function(X), values)


def test_empty_streams_and_odd_blocks(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="the stream has no rows"):
        make().fit_stream([])
    with pytest.raises(ValueError, match="0 sample"):
        make().fit_stream([(X[:0], y[:0])])
    with pytest.raises(ValueError, match=r"must be \(X, y\) or \(X, y, sample_weight\), not 4"):
        make().fit_stream([(X, y, y, y)])
    with pytest.raises(ValueError, match=r"must be \(X, y\) or \(X, y, sample_weight\), not 4"):
        make().fit_stream([[X, y, y, y]])
    with pytest.raises(ValueError, match="requires y"):
        make().fit_stream([X])


@pytest.mark.parametrize(
    "table",
    [
        np.asarray,
        np.ndarray.tolist,
        list,
        sparse.csr_array,
        sparse.csr_matrix,
        lambda X: tuple(map(tuple, X.tolist())),
        lambda X: pytest.importorskip("pandas").DataFrame(X),
    ],
    ids=["array", "lists", "arrays", "csr_array", "csr_matrix", "tuples", "frame"],
)
def test_blocks_may_be_lists(blobs, table):
    """[X, y] is (X, y), whatever a table is; a list of rows is X alone."""
    X, y = blobs
    weights = np.where(y == "x", 2.0, 1.0)
    for parts in ([table(X), y], [table(X), y.tolist()], [table(X), y, weights]):
        a, b = make().fit_stream([parts]), make().fit_stream([tuple(parts)])
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    alone = [[table(X)], (table(X),)] + ([] if isinstance(table(X), tuple) else [table(X)])
    scores = [
        BudgetOneClassSVM(budget=20, random_state=0).fit_stream([block]).score_samples(X)
        for block in alone
    ]
    for others in scores[1:]:
        np.testing.assert_array_equal(others, scores[0])
    with pytest.raises(ValueError, match="requires y"):
        make().fit_stream([[table(X)]])


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR, BudgetOneClassSVM])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"early_stopping": True}, "set early_stopping=False"),
        ({"basis": "random"}, r"it is 'random'\): set basis='learned'"),
        ({"basis": "kmeans"}, r"it is 'kmeans'\): set basis='learned'"),
        ({"basis": np.zeros((3, 2))}, r"it is an array\): set basis='learned'"),
    ],
    ids=lambda value: str(next(iter(value))) if isinstance(value, dict) else "",
)
def test_what_a_stream_cannot_do(blobs, kind, options, message):
    X, y = blobs
    y = (y == "x").astype(int)
    model = kind(budget=20, **options)
    for call in (lambda: model.partial_fit(X, y), lambda: model.fit_stream([(X, y)])):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("subject", MACHINES)
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_all_estimators_may_be_lists(subject: str, weighted: bool) -> None:
    data = Data(n=100, d=2, weights="wide" if weighted else "none")
    parts = [data.rows(), data.targets(subject), data.sample_weight()][: 3 if weighted else 2]
    made = (SUBJECTS[subject](budget=10, random_state=0, n_jobs=1) for _ in range(2))
    tuples, lists = (
        model.fit_stream([kind(parts)] * 2) for model, kind in zip(made, (tuple, list), strict=True)
    )
    np.testing.assert_array_equal(tuples.dual_coef_, lists.dual_coef_)


def test_rows_alone_may_be_nested_lists() -> None:
    data = Data(n=100, d=2)
    made = [SUBJECTS["one class"](budget=10, random_state=0, n_jobs=1) for _ in range(2)]
    for model, block in zip(made, (data.rows(), data.rows().tolist()), strict=True):
        model.fit_stream([block, block])
    np.testing.assert_array_equal(made[0].dual_coef_, made[1].dual_coef_)


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR, BudgetOneClassSVM])
def test_rows_count_as_seen_once_they_are_learned(blobs, kind, monkeypatch):
    X, y = blobs
    y = (y == "x").astype(int)
    model = kind(budget=20, random_state=0).partial_fit(X[:300], y[:300])
    before = model._reservoir

    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[300:], y[300:])
    assert model._rows_seen == before.seen == before.size == 300
    assert model._reservoir is before
    monkeypatch.undo()
    assert model.partial_fit(X[300:], y[300:])._rows_seen == 900 == model._reservoir.seen


def test_without_a_reservoir_there_is_no_polish(blobs):
    X, y = blobs
    for options in ({"reservoir": 0}, {"polish": False}, {"budget": None}):
        model = make(C=1, gamma=0.1, **options).fit_stream(in_blocks(X, y, [300]))
        assert not hasattr(model, "duality_gap_")
        assert model.score(X, y) > 0.9
    model = BudgetOneClassSVM(nu=0.1, reservoir=0, random_state=0).fit_stream([X, X])
    assert np.mean(model.predict(X) == -1) == pytest.approx(0.1, abs=0.01)


def test_equal_random_states_give_equal_models(blobs):
    X, y = blobs

    def values(seed):
        blocks = in_blocks(X, y, [100])
        return make(reservoir=50, random_state=seed).fit_stream(blocks).decision_function(X)

    np.testing.assert_array_equal(values(3), values(3))
    assert not np.array_equal(values(3), values(4))


@pytest.mark.parametrize("suffix", ["csv", "libsvm"])
def test_files(blobs, tmp_path, suffix):
    X, y = blobs
    path = tmp_path / f"rows.{suffix}"
    if suffix == "csv":
        lines = [f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True)]
        blocks = read_blocks(path_with(path, ["east,north,kind", *lines]), rows=128, target="kind")
    else:
        codes = np.searchsorted(["x", "y", "z"], y)
        lines = [f"{c} 1:{a} 2:{b}" for (a, b), c in zip(X, codes, strict=True)]
        y, blocks = codes, read_blocks(path_with(path, lines), rows=128)
    model = make(gamma=0.1)
    model.fit_stream(blocks)
    assert model.score(X, y) > 0.93
    read = [tuple(block) for block in blocks]
    again = clone(model).fit_stream(read)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def path_with(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


# ---- memory ----

MEMORY = """
import json, resource
import numpy as np
from budgetsvm import BudgetSVC, BudgetSVR, BudgetOneClassSVM

def blocks(count, kind):
    for seed in range(count):
        X = np.random.default_rng(seed).standard_normal((1000, 100))
        y = np.digitize(X[:, 0], [-0.5, 0.5]) if kind == "c" else X[:, 0]
        yield (X, None) if kind == "d" else (X, y)

def peak(count):
    options = dict(budget=20, reservoir=2000, polish=False, random_state=0, n_jobs=1)
    BudgetSVC(**options).fit_stream(blocks(count, "c"))
    BudgetSVR(**options).fit_stream(blocks(count, "r"))
    BudgetOneClassSVM(**options).fit_stream(blocks(count, "d"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(json.dumps([peak(10), peak(150)]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs the module resource")
def test_memory_does_not_grow_with_the_stream():
    """150 blocks would be 120 MB."""
    command = [sys.executable, "-c", MEMORY]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    few, many = json.loads(done.stdout)
    unit = 1024 if sys.platform != "darwin" else 1
    assert (many - few) * unit < 15e6

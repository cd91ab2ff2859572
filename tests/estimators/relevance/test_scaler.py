"""RelevanceScaler: finds what matters, leaves alone what does not, and is a scaler like others."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_friedman1, make_moons
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import budgetsvm
from budgetsvm import BudgetSVC, RelevanceScaler


def scaler(**options: Any) -> RelevanceScaler:
    return RelevanceScaler(**{"random_state": 0, "n_jobs": 1, **options})


def two_of_eight(n: int = 1000, seed: int = 0) -> tuple[Any, Any]:
    X = np.random.default_rng(seed).normal(size=(n, 8))
    return X, X[:, 2] * X[:, 5] > 0


@parametrize_with_checks([RelevanceScaler(max_iter=3, random_state=0)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# ---- what it finds ----


def test_features_that_matter_come_first() -> None:
    X, y = two_of_eight()
    found = scaler().fit(X, y)
    assert found.strength_ == 1
    assert set(np.argsort(-found.relevance_)[:2]) == {2, 5}
    assert np.sort(found.relevance_)[-2] > 5 * np.sort(found.relevance_)[-3]
    assert np.mean(found.relevance_**2) == pytest.approx(1)
    assert found.errors_[1.0] < found.errors_[0.0] - 0.05
    new, labels = two_of_eight(seed=1)
    scores = [
        make_pipeline(one, BudgetSVC(budget=50, random_state=0)).fit(X, y).score(new, labels)
        for one in (StandardScaler(), scaler())
    ]
    assert scores[1] > scores[0] + 0.05


@pytest.mark.slow
def test_several_classes() -> None:
    X, y = two_of_eight(1000)
    names = np.array(["down", "left", "up"])[y * 1 + (X[:, 2] > 1)]
    found = scaler().fit(X, names)
    assert set(np.argsort(-found.relevance_)[:2]) == {2, 5}


@pytest.mark.parametrize("targets", [1, 2])
def test_regression(targets: int) -> None:
    X, y = make_friedman1(1000, n_features=10, random_state=0)
    y = y if targets == 1 else np.column_stack([y, 1e6 * np.sin(9 * X[:, 9])])
    found = scaler().fit(X, y)
    useless = found.relevance_[5:9]  # 3 and 4 are linear in y: a kernel sees them from afar
    assert found.strength_ > 0
    assert useless.max() < found.relevance_[:3].min()
    assert (found.relevance_[9] > 1.2 * useless.max()) == (targets == 2)


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_left_alone(seed: int) -> None:
    """Labels that mean nothing, or features that all mean the same: other rows see that nothing is gained."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 12))
    found = scaler(random_state=seed).fit(X, rng.permutation(600) % 2)
    chance = found.errors_[0.0] - min(found.errors_.values())
    assert found.strength_ == 0 or chance < 3 * 0.5 / np.sqrt(120)
    if found.strength_ == 0:
        np.testing.assert_array_equal(found.relevance_, 1)


def test_without_a_gain_it_is_a_standard_scaler() -> None:
    X, y = make_moons(400, noise=0.2, random_state=0)
    found, plain = scaler(strength=0).fit(X, y), StandardScaler().fit(X)
    np.testing.assert_array_equal(found.transform(X), plain.transform(X))
    assert found.n_iter_ == 0


def test_a_sample_may_be_a_part_of_the_rows() -> None:
    X, y = two_of_eight(1000)
    given = X.copy()
    found = scaler(sample=5e2).fit(X, y)
    assert set(np.argsort(-found.relevance_)[:2]) == {2, 5}
    assert found.n_samples_seen_ == 1000
    found.transform(X)
    np.testing.assert_array_equal(X, given)


def test_strength_is_a_power() -> None:
    X, y = two_of_eight(400)
    whole, half = (scaler(strength=one).fit(X, y).relevance_ for one in (1.0, 0.5))
    expected = np.sqrt(whole)
    np.testing.assert_allclose(half, expected / np.sqrt(np.mean(expected**2)), rtol=1e-12)


# ---- what it does not depend on ----


def test_units_of_features_do_not_matter() -> None:
    X, y = two_of_eight(300)
    units, zero = 10.0 ** np.arange(-20, 20, 5), np.arange(8) * 1e-3
    plain, other = scaler().fit(X, y), scaler().fit((X + zero) * units, y)
    np.testing.assert_allclose(other.relevance_, plain.relevance_, rtol=1e-4)
    np.testing.assert_allclose(
        other.transform((X + zero) * units), plain.transform(X), rtol=1e-4, atol=1e-4
    )


def test_threads_do_not_matter() -> None:
    X, y = two_of_eight(300)
    one, two = (scaler(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.relevance_, two.relevance_)
    assert one.errors_ == two.errors_


def test_scale_of_targets_does_not_matter() -> None:
    X, y = make_friedman1(300, random_state=0)
    one, other = (scaler().fit(X, values).relevance_ for values in (y, 1e150 * y + 1e151))
    np.testing.assert_allclose(one, other, rtol=1e-3)


def test_rows_of_weight_zero_do_not_matter() -> None:
    X, y = two_of_eight(300)
    weights = np.ones(300)
    weights[200:] = 0
    wrong = np.where(weights > 0, y, ~y)
    one = scaler().fit(X[:200], y[:200])
    other = scaler().fit(X, wrong, sample_weight=weights)
    np.testing.assert_allclose(one.relevance_, other.relevance_, rtol=1e-6)
    np.testing.assert_allclose(one.scale_, other.scale_, rtol=1e-6)


def test_sparse_rows_stay_sparse() -> None:
    X, y = two_of_eight(400)
    X = X * (np.random.default_rng(1).random(X.shape) < 0.4)
    few = sparse.csr_array(X)
    found = scaler().fit(few, y)
    assert found.mean_ is None
    scaled = found.transform(few)
    assert sparse.issparse(scaled)
    np.testing.assert_allclose(scaled.toarray(), X / found.scale_)
    np.testing.assert_allclose(found.inverse_transform(scaled).toarray(), X, atol=1e-12)
    np.testing.assert_array_equal(few.toarray(), X)
    with pytest.raises(ValueError, match="fitted to dense rows"):
        scaler().fit(X, y).transform(few)


@pytest.mark.slow
def test_wide_sparse_rows() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 20_000), density=1e-3, rng=rng, format="csr")
    found = scaler(max_iter=3).fit(X, rng.permutation(200) % 2)
    assert found.relevance_.shape == (20_000,)
    assert np.isfinite(found.scale_).all()


# ---- a scaler like others ----


def test_round_trips() -> None:
    X, y = two_of_eight(200)
    found = scaler().fit(X, y)
    np.testing.assert_allclose(found.inverse_transform(found.transform(X)), X, atol=1e-10)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(found)).transform(X), found.transform(X)
    )
    assert found.transform(X.astype(np.float32)).dtype == np.float32
    assert clone(found).get_params() == found.get_params()


@pytest.mark.parametrize("few", [False, True])
def test_saved_it_is_the_standard_scaler_that_does_the_same(tmp_path: Any, few: bool) -> None:
    X, y = two_of_eight(200)
    table = sparse.csr_array(X) if few else pd.DataFrame(X, columns=list("abcdefgh"))
    model = make_pipeline(scaler(strength=1), BudgetSVC(budget=20, random_state=0)).fit(table, y)
    budgetsvm.save(model, tmp_path / "model.bsvm")
    found = budgetsvm.load(tmp_path / "model.bsvm")
    assert type(found[0]) is StandardScaler
    np.testing.assert_array_equal(found.decision_function(table), model.decision_function(table))
    if not few:
        assert list(found[0].get_feature_names_out()) == list(model[0].get_feature_names_out())
    with pytest.raises(NotFittedError):
        budgetsvm.save(make_pipeline(scaler(), model[1]), tmp_path / "other.bsvm")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_onnx(dtype: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    X, y = two_of_eight(200)
    X = (1000 * X + 5).astype(dtype)
    model = make_pipeline(scaler(strength=1), BudgetSVC(budget=20, random_state=0)).fit(X, y)
    written = budgetsvm.to_onnx(model, X).SerializeToString()
    session = runtime.InferenceSession(written, providers=["CPUExecutionProvider"])
    found = dict(
        zip([one.name for one in session.get_outputs()], session.run(None, {"X": X}), strict=True)
    )
    values = model.decision_function(X)
    np.testing.assert_allclose(found["scores"][:, 0], values, atol=1e-3 * np.abs(values).max())


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((100, 3)), np.arange(100) % 2),  # constant features
        (np.arange(100.0)[:, np.newaxis], np.arange(100) % 2),  # a single one
        (np.random.default_rng(0).normal(size=(5, 3)), [0, 1, 0, 1, 0]),  # few rows
        (np.random.default_rng(0).normal(size=(100, 3)), np.zeros(100)),  # one class
        (np.random.default_rng(0).normal(size=(100, 3)), np.full(100, 0.5)),  # one number
        (np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 50, 0), np.arange(200) // 50 % 2),
    ],
)
def test_odd_data(X: Any, y: Any) -> None:
    found = scaler().fit(X, y)
    assert np.isfinite(found.transform(X)).all()
    assert (found.relevance_ > 0).all()


def test_many_classes_and_a_rare_one() -> None:
    X, _ = two_of_eight(500)
    y = np.append(np.arange(499) % 150, 1000)
    found = scaler(max_iter=2, task="classification").fit(X, y)
    assert np.isfinite(found.relevance_).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strength": 1.5}, "strength must be 'auto' or a number from 0 to 1, not 1.5"),
        ({"strength": -0.1}, "strength must be 'auto' or a number from 0 to 1, not -0.1"),
        ({"strength": "much"}, "strength must be one of 'auto', not 'much'"),
        ({"task": "guess"}, "task must be one of"),
        ({"sample": 0}, "sample must be at least 1"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"time_limit": 0}, "time_limit must be"),
    ],
)
def test_bad_parameters(options: dict[str, Any], words: str) -> None:
    X, y = two_of_eight(50)
    with pytest.raises(ValueError, match=words):
        scaler(**options).fit(X, y)


def test_bad_targets() -> None:
    X, y = two_of_eight(50)
    with pytest.raises(ValueError, match="requires y to be passed"):
        scaler().fit(X)
    with pytest.raises(ValueError, match="y has fractions"):
        scaler(task="classification").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="is for numbers, and y has dtype"):
        scaler(task="regression").fit(X, y.astype(str))
    with pytest.raises(ValueError, match="zero"):
        scaler().fit(X, y, sample_weight=np.zeros(50))


def test_odd_targets() -> None:
    X, y = two_of_eight(200)
    plain = scaler(max_iter=2).fit(X, y)
    with pytest.warns(DataConversionWarning):
        column = scaler(max_iter=2).fit(X, y[:, np.newaxis])
    assert column.errors_ == plain.errors_
    with pytest.raises(ValueError, match="for one column of labels, and y has shape"):
        scaler(task="classification").fit(X, np.column_stack([y, y]))
    for mixed in ([1, "a"] * 100, [None] * 200):
        with pytest.raises(ValueError, match="y must be labels in one column, or numbers"):
            scaler().fit(X, np.array(mixed, object))
    with pytest.raises(TypeError, match="verbose must be a number"):
        scaler(verbose="yes").fit(X, y)
    counts = np.arange(200) % 40
    with pytest.warns(UserWarning, match="40 different whole numbers, which are taken for classes"):
        scaler(max_iter=1).fit(X, counts)
    for task in ("classification", "regression"):  # who has said it need not hear of it
        scaler(max_iter=1, task=task).fit(X, counts)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_features_that_cannot_be_squared(make: Any) -> None:
    X, y = two_of_eight(60)
    with pytest.raises(ValueError, match="values too large for their squares"):
        scaler().fit(make(X * 1e200), y)


def test_sizes_of_weights_do_not_matter() -> None:
    X, y = two_of_eight(200)
    weights = 1.0 + np.arange(200) % 2
    plain = scaler(max_iter=3).fit(X, y, sample_weight=weights)
    for size in (1e300, 1e-300):
        other = scaler(max_iter=3).fit(X, y, sample_weight=size * weights)
        np.testing.assert_allclose(other.scale_, plain.scale_, rtol=1e-6)


@pytest.mark.parametrize("size", [1e15, 1e-15])
def test_sparse_rows_in_single_precision(size: float) -> None:
    X, y = two_of_eight(200)
    X = X * (np.random.default_rng(1).random(X.shape) < 0.4)
    plain = scaler(max_iter=3).fit(sparse.csr_array(X), y)
    rows = sparse.csr_array((size * X).astype(np.float32))
    other = scaler(max_iter=3).fit(rows, y)
    np.testing.assert_allclose(other.relevance_, plain.relevance_, rtol=1e-2)
    scaled = plain.transform(sparse.csr_array(X)).toarray()
    np.testing.assert_allclose(other.transform(rows).toarray(), scaled, rtol=1e-2)


@pytest.mark.slow
def test_small_gradients_are_no_end() -> None:
    """The first step is as long as the gradient: where that is small, it gains next to nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=2000)
    for seed in range(2):
        found = scaler(strength=1, random_state=seed).fit(X, y).relevance_
        assert set(np.argsort(-found)[:2]) == {0, 1}
        assert found[:2].min() > 1.2 * found[3:].max()


@pytest.mark.slow
def test_a_time_limit_ends_it() -> None:
    X, y = two_of_eight(300)
    assert scaler(time_limit=1e-9).fit(X, y).n_iter_ <= 2  # one step of each search
    assert scaler().fit(X, y).n_iter_ > 2


def test_a_failure_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_of_eight(200)
    found = scaler().fit(X, y)
    before = pickle.dumps(found)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("budgetsvm._estimators.relevance.scaler.find_scales", interrupted)
    with pytest.raises(KeyboardInterrupt):
        found.fit(X[:, :3], y)
    assert pickle.dumps(found) == before


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = two_of_eight(200)
    scaler(verbose=1).fit(X, y)
    assert "relevance: step" in capsys.readouterr().err
    scaler().fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.data
@pytest.mark.slow
def test_real_data() -> None:
    """A machine of the same size makes far fewer errors where features differ, and no more where they do not."""
    from tools.real_data import load

    for name, n_features, least in (
        ("covtype.libsvm.binary.scale", 54, 0.02),
        ("ijcnn1", 22, -0.003),
    ):
        X, y = load(name, n_features)
        rows = np.random.default_rng(0).permutation(len(y))[:40_000]
        X, y = X[rows].toarray(), y[rows]
        scores = [
            make_pipeline(one, BudgetSVC(C=10, gamma=gamma, budget=300, random_state=0))
            .fit(X[:30_000], y[:30_000])
            .score(X[30_000:], y[30_000:])
            for one in (StandardScaler(), scaler())
            for gamma in (1 / n_features, 4 / n_features)
        ]
        assert max(scores[2:]) > max(scores[:2]) + least

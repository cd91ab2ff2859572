"""Kernel values in the place of rows, and functions of objects: the same machines as on rows."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm.kernels import Precomputed
from budgetsvm.monitoring import Trace

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(150, 3)), RNG.normal(size=(40, 3))
Y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.5])
K, K_NEW = rbf_kernel(X, gamma=0.5), rbf_kernel(NEW, X, gamma=0.5)
TARGETS = {BudgetSVC: Y, BudgetSVR: X[:, 0] ** 2, BudgetOneClassSVM: None}
OPTIONS: list[dict[str, Any]] = [
    {"budget": 20},
    {"budget": 20, "maintenance": "remove"},
    {"budget": 20, "basis": "random"},
    {"budget": 20, "polish": False},
    {"budget": None, "epochs": 3},
    {"budget": 30, "early_stopping": True, "epochs": 5},
]


def values(model: Any, rows: Any) -> Any:
    if isinstance(model, BudgetSVC):
        model.set_params(decision_function_shape="ovo")  # those of the outputs, not votes
    return getattr(model, "decision_function", model.predict)(rows)


def pair(kind: Any, **options: Any) -> tuple[Any, Any]:
    """Return a machine of kernel values and one of rows, each with its fit ahead."""
    # To 1 %, last digits of kernel values decide which of the good solutions is found.
    common = {"precision": "double", "random_state": 0, "maintenance": "project", "tol": 1e-6}
    if kind is BudgetOneClassSVM:  # whose C is found from how large its dual variables are
        common["tol"] = 1e-10
    common |= options
    return kind(kernel="precomputed", **common), kind(gamma=0.5, **common)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", TARGETS)
def test_values_do_what_rows_do(kind: Any, options: dict[str, Any]) -> None:
    ours, usual = pair(kind, **options)
    y = TARGETS[kind]
    ours.fit(K, y)
    usual.fit(X, y)
    np.testing.assert_allclose(values(ours, K_NEW), values(usual, NEW), rtol=1e-4, atol=1e-4)
    assert set(ours.support_.tolist()) == set(usual.support_.tolist())
    rebuilt = K_NEW[:, ours.support_] @ ours.dual_coef_.T + ours.intercept_
    np.testing.assert_allclose(values(ours, K_NEW).reshape(len(NEW), -1), rebuilt, atol=1e-9)


def test_only_the_columns_of_terms_count() -> None:
    model = BudgetSVC(kernel="precomputed", budget=20, random_state=0).fit(K, Y)
    others = np.full_like(K_NEW, 1e6)
    others[:, model.support_] = K_NEW[:, model.support_]
    np.testing.assert_array_equal(model.predict(others), model.predict(K_NEW))


def test_the_exact_machine_is_that_of_svc() -> None:
    two = (Y > 0).astype(int)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, np.newaxis] + K.mean()
    model = BudgetSVC(kernel="precomputed", tol=1e-6, budget=200).fit(centred, two)
    assert model.certifies_ == "full problem"
    theirs = SVC(kernel="precomputed", tol=1e-8).fit(centred, two)
    objectives = []
    for one in (model, theirs):
        beta = one.dual_coef_[0]
        norm = beta @ centred[np.ix_(one.support_, one.support_)] @ beta
        objectives.append(abs(beta).sum() - 0.5 * norm)
    assert objectives[0] >= objectives[1] - 1e-4 * abs(objectives[1])  # they have a constraint more


def test_cross_validation_cuts_rows_and_columns() -> None:
    scores = cross_val_score(BudgetSVC(kernel="precomputed", C=10), K, Y)
    usual = cross_val_score(BudgetSVC(gamma=0.5, C=10), X, Y)
    np.testing.assert_allclose(scores, usual, atol=0.04)
    search = GridSearchCV(BudgetSVC(kernel=Precomputed()), {"C": [0.1, 10]}).fit(K, Y)
    assert search.predict(K_NEW).shape == (40,)


def test_weights_keep_the_numbers_of_rows() -> None:
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    model = BudgetSVC(kernel="precomputed", random_state=0).fit(K, Y, sample_weight=weights)
    assert (weights[model.support_] > 0).all()
    assert model.n_support_.tolist() == np.bincount(Y[model.support_]).tolist()
    kept = weights > 0
    part = BudgetSVC(kernel="precomputed", random_state=0).fit(K[np.ix_(kept, kept)], Y[kept])
    np.testing.assert_array_equal(np.flatnonzero(kept)[part.support_], model.support_)
    np.testing.assert_allclose(
        part.decision_function(K_NEW[:, kept]), model.decision_function(K_NEW)
    )


def test_a_machine_keeps_no_matrix() -> None:
    model = BudgetSVC(kernel="precomputed", budget=10, random_state=0, monitor=Trace()).fit(K, Y)
    model.monitor = None
    del model.monitor_
    content = pickle.dumps(model)
    assert len(content) < 10_000 < K.nbytes
    again, restored = pickle.loads(content), machine_of(snapshot_of(model))
    for one in (again, restored):
        np.testing.assert_array_equal(one.decision_function(K_NEW), model.decision_function(K_NEW))
        np.testing.assert_array_equal(one.support_, model.support_)


def test_a_warm_start_knows_its_terms() -> None:
    model = BudgetSVC(kernel="precomputed", budget=20, warm_start=True, random_state=0).fit(K, Y)
    terms = model.support_
    model.set_params(C=3).fit(K, Y)
    np.testing.assert_array_equal(np.sort(model.support_), np.sort(terms))
    other = K.copy()
    other[0, 1] = other[1, 0] = 0.5
    assert model.fit(other, Y).n_iter_ > 0  # learned anew


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X, "a square matrix, .* but X is 150 by 3"),
        (K + np.triu(np.ones_like(K), 1), "must be symmetric"),
        (K - 2 * np.eye(len(K)), r"k\(x, x\) >= 0, but for row 0 of X it is -1"),
        (np.full_like(K, np.nan), "NaN"),
    ],
)
def test_what_is_no_kernel(rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BudgetSVC(kernel="precomputed").fit(rows, Y)


def test_what_cannot_be() -> None:
    model = BudgetSVC(kernel="precomputed", random_state=0)
    with pytest.raises(TypeError, match="Sparse precomputed kernels"):
        clone(model).fit(sparse.csr_matrix(K), Y)
    with pytest.raises(ValueError, match=r"kernel='precomputed' needs .* use fit"):
        clone(model).partial_fit(K, Y)
    with pytest.raises(ValueError, match="choose basis='learned' or 'random'"):
        clone(model).set_params(basis="kmeans").fit(K, Y)
    with pytest.raises(ValueError, match="BudgetFeatures needs rows of numbers"):
        BudgetFeatures(kernel="precomputed").fit(K, Y)
    model.fit(K, Y)
    with pytest.raises(ValueError, match="all 150 training rows, but has 40 columns"):
        model.predict(K_NEW.T)
    with pytest.raises(AttributeError, match="support_ has their numbers"):
        _ = model.support_vectors_


def test_a_matrix_that_is_not_definite() -> None:
    """Nobody tries the exact machine, whose certificate would mean nothing."""
    strange = K - 0.9 * np.eye(len(K))
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        model = BudgetSVC(kernel="precomputed", random_state=0).fit(strange, Y > 0)
    assert model.certifies_ == "span"
    assert not model.converged_
    assert model.score(strange, Y > 0) > 1.2 * max(np.mean(Y > 0), np.mean(Y == 0))


WORDS = ["abc", "abd", "xyz", "xyw", "abq", "xzz", "aab", "yyz"]
LABELS = np.array([0, 0, 1, 1, 0, 1, 0, 1])


def common_letters(A: Any, B: Any) -> Any:
    assert isinstance(A[0], str)
    assert isinstance(B[0], str)
    return np.array([[len(set(a) & set(b)) for b in B] for a in A])


@pytest.mark.parametrize("words", [WORDS, tuple(WORDS), np.array(WORDS), np.array(WORDS, object)])
def test_a_kernel_of_words(words: Any) -> None:
    model = BudgetSVC(kernel=common_letters, random_state=0).fit(words, LABELS)
    gram = common_letters(WORDS, WORDS).astype(float)
    same = BudgetSVC(kernel="precomputed", random_state=0).fit(gram, LABELS)
    np.testing.assert_allclose(model.decision_function(words), same.decision_function(gram))
    assert model.predict(["ab", "xy"]).tolist() == [0, 1]
    assert len(model.dual_coef_[0]) == len(model.support_) <= len(WORDS)
    assert model.shape_fit_ == (8,)
    with pytest.raises(ValueError, match="objects as those of the training data"):
        model.predict(X)
    with pytest.raises(ValueError, match="use a pickle"):
        snapshot_of(model)


def test_words_in_a_stream_and_as_targets_of_others() -> None:
    with pytest.raises(ValueError, match="partial_fit needs rows of numbers"):
        BudgetSVC(kernel=common_letters).partial_fit(WORDS, LABELS)
    model = BudgetSVR(kernel=common_letters, C=10).fit(WORDS, LABELS)
    assert model.score(WORDS, LABELS) > 0.8
    assert set(BudgetOneClassSVM(kernel=common_letters).fit_predict(WORDS)) == {-1, 1}
    with pytest.raises(ValueError, match="inconsistent"):
        BudgetSVC(kernel=common_letters).fit(WORDS, LABELS[:-1])
    model.set_params(kernel="rbf").fit(X, Y)  # and back to rows
    assert model.n_features_in_ == 3
    assert model.predict(NEW).shape == (40,)


def test_a_kernel_of_sentences() -> None:
    """Lists of words are objects, and no rows, whether they are equally long or not."""
    for sentences in ([list(word) for word in WORDS], [tuple(word) for word in WORDS]):
        model = BudgetSVC(kernel=common_parts, random_state=0).fit(sentences, LABELS)
        assert model.predict([["a", "b"], ["x"]]).tolist() == [0, 1]


def common_parts(A: Any, B: Any) -> Any:
    return np.array([[len(set(a) & set(b)) for b in B] for a in A])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: np.triu(values) + 1, "a kernel function must be symmetric"),
        (lambda values: -values, r"k\(x, x\) >= 0, but for row 0 of X it is -"),
        (lambda values: 1j * values, "complex numbers"),
    ],
)
def test_a_function_that_is_no_kernel(change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BudgetSVC(kernel=lambda A, B: change(common_letters(A, B))).fit(WORDS, LABELS)


def test_objects_without_terms() -> None:
    """A kernel that vanishes has none; what X must be like can still be said."""
    model = BudgetSVC(kernel=lambda A, B: np.zeros((len(A), len(B)))).fit(WORDS, LABELS)
    assert model.dual_coef_.shape == (1, 0)
    with pytest.raises(ValueError, match="objects as those of the training data"):
        model.predict(X)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("objects", [False, True])
def test_a_kernel_function_may_return_sparse_values(form: Any, objects: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (80, 1))
    y = (X[:, 0] > 0.3).astype(int)
    rows = [str(number) for number in X[:, 0].tolist()] if objects else X

    def near(A: Any, B: Any) -> Any:
        a, b = (np.array(values, float).reshape(-1, 1) for values in (A, B))
        return np.maximum(0.0, 1.0 - abs(a - b.T))

    plain, few = (
        BudgetSVC(kernel=kernel, random_state=0).fit(rows, y)
        for kernel in (near, lambda A, B: form(near(A, B)))
    )
    np.testing.assert_array_equal(few.decision_function(rows), plain.decision_function(rows))

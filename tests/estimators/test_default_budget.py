"""``budget="auto"``: which number it becomes, that nothing else decides on it, and that all calls know of it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.svm import SVC, SVR

import budgetsvm
from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm._exact import budget as rule


def _noisy(rows, features=12, seed=0):
    return make_classification(
        rows, features, n_informative=min(6, features), flip_y=0.2, random_state=seed
    )


@pytest.fixture
def few(monkeypatch):
    """Let some hundred rows be many."""
    monkeypatch.setattr(rule, "LEARNED", 40)
    monkeypatch.setattr(rule, "_FEW_VALUES", 100**2)
    monkeypatch.setattr(rule, "_MOST_VALUES", 500**2)
    monkeypatch.setattr(rule, "_MORE", 80)


@pytest.mark.parametrize("machine", [BudgetSVC(), BudgetSVR()])
@pytest.mark.parametrize("n", [2, 30, 700])
def test_few_rows_may_all_be_terms(machine, n):
    X, y = _noisy(max(n, 20))
    X, y = X[:n], y[:n]
    y[:2] = 0, 1
    machine = clone(machine).fit(X, y)
    assert machine.get_params()["budget"] == "auto"
    assert machine.budget_ == n
    assert machine.certifies_ == "full problem"
    assert machine.C_ == 1.0


@pytest.mark.parametrize("precision", ["single", "double"])
def test_it_is_the_machine_of_scikit_learn(precision):
    X, y = _noisy(900)
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    for labels in (y, three):
        ours = BudgetSVC(precision=precision, tol=1e-4, decision_function_shape="ovo").fit(
            X, labels
        )
        exact = SVC(tol=1e-6, decision_function_shape="ovo").fit(X, labels)
        np.testing.assert_allclose(ours.decision_function(X), exact.decision_function(X), atol=3e-2)
    target = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    ours, exact = (
        BudgetSVR(precision=precision, tol=1e-4).fit(X, target),
        SVR(tol=1e-6).fit(X, target),
    )
    np.testing.assert_allclose(ours.predict(X), exact.predict(X), atol=2e-2)


def test_the_share_of_the_kernel_decides_on_more_rows(few):
    """Where features mean nothing, all rows differ; in two dimensions they do not."""
    budgets = {
        (n, features): BudgetSVC(gamma=gamma).fit(*_noisy_or_flat(n, features)).budget_
        for n in (90, 300, 700)
        for features, gamma in ((12, 0.2), (2, 0.05))
    }
    assert budgets == {
        (90, 12): 90,
        (90, 2): 90,
        (300, 12): 300,
        (300, 2): 40,
        (700, 12): 80,
        (700, 2): 40,
    }


def _noisy_or_flat(n, features):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, features))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)


def test_pairs_of_classes_count_the_values_of_a_pair(few):
    X, y = make_blobs(300, 12, centers=12, cluster_std=3.0, random_state=0)
    assert BudgetSVC().fit(X, y).budget_ == 300


def test_a_model_of_all_rows_has_a_bounded_number_of_coefficients(monkeypatch):
    monkeypatch.setattr(rule, "_MOST_COEFFICIENTS", 20_000)
    X, y = make_blobs(1100, 12, centers=12, cluster_std=3.0, random_state=0)
    assert BudgetSVC().fit(X, y).budget_ == 500
    # A model of 500 terms would hardly be smaller, and learning them takes longer.
    assert BudgetSVC().fit(X[:600], y[:600]).budget_ == 600


def test_the_seed_does_not_matter(few):
    X, y = _noisy_or_flat(300, 12)
    found = {BudgetSVC(random_state=seed).fit(X, y).budget_ for seed in (0, 1, None)}
    assert found == {300}


@pytest.mark.parametrize(
    "machine",
    [
        BudgetSVC(loss="log_loss"),
        BudgetSVC(loss="squared_hinge"),
        BudgetSVC(kernel="sigmoid", gamma=0.01),
        BudgetSVC(polish=False, epochs=1),
        BudgetSVC(basis="random"),
        BudgetSVC(early_stopping=True),
        BudgetSVC(fit_intercept=False),
        BudgetOneClassSVM(),
    ],
    ids=repr,
)
def test_five_hundred_where_all_rows_would_take_long(machine):
    X, y = _noisy(600)
    assert machine.fit(X, y).budget_ == 500
    assert len(machine.support_vectors_) <= 500


def test_a_basis_is_as_large_as_it_is():
    X, y = _noisy(900)
    assert BudgetSVC(basis=X[:600]).fit(X, y).budget_ == 600


def test_streams_have_five_hundred_and_go_on_with_what_there_is():
    X, y = _noisy(700)
    model = BudgetSVC(random_state=0).partial_fit(X[:100], y[:100])
    assert model.budget_ == 500
    model.partial_fit(X, y)
    assert len(model.support_vectors_) <= model.budget_ == 500
    model = BudgetSVC(random_state=0).fit(X, y)
    assert model.budget_ == 700
    model.partial_fit(X[:50], y[:50]).polish_now  # noqa: B018 - it is there
    assert model.budget_ == 700
    model = BudgetSVC(random_state=0).fit(X[:60], y[:60]).partial_fit(X, y)
    assert model.budget_ == 500
    assert BudgetSVC(random_state=0).fit_stream([(X, y)]).budget_ == 500


def test_a_number_is_what_it_is_and_none_is_none():
    X, y = _noisy(200)
    assert BudgetSVC(budget=1e2).fit(X, y).budget_ == 100
    assert BudgetSVC(budget=None, epochs=1).fit(X, y).budget_ is None


@pytest.mark.parametrize("budget", ["scale", "500", ""])
def test_other_words_are_refused(budget):
    with pytest.raises(ValueError, match="'auto'"):
        BudgetSVC(budget=budget).fit([[0.0], [1.0]], [0, 1])


def test_where_the_exact_machine_gives_up_terms_are_learned(monkeypatch):
    """Then the budget is the other one; and a warm start with another C knows."""
    monkeypatch.setattr(
        "budgetsvm._estimators.fitting.two_phases.solve_exactly", lambda *_, **__: None
    )
    X, y = _noisy(700)
    model = BudgetSVC(warm_start=True, random_state=0).fit(X, y)
    assert model.budget_ == 500
    assert model.certifies_ == "span"
    terms = model.support_vectors_.copy()
    model.set_params(C=2.0).fit(X, y)
    assert model.budget_ == 500
    np.testing.assert_array_equal(model.support_vectors_, terms)


def test_copies_and_files_keep_it(tmp_path):
    X, y = _noisy(120)
    model = BudgetSVC().fit(X, y)
    assert not hasattr(clone(model), "budget_")
    budgetsvm.save(model, tmp_path / "model.bsvm")
    copies = (
        pickle.loads(pickle.dumps(model)),
        machine_of(snapshot_of(model)),
        budgetsvm.load(tmp_path / "model.bsvm"),
    )
    for other in copies:
        assert other.budget == "auto"
        assert other.budget_ == 120
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_old_snapshots_have_the_budget_of_their_parameter():
    X, y = _noisy(120)
    snapshot = snapshot_of(BudgetSVC(budget=30, random_state=0).fit(X, y))
    snapshot["version"] = 6
    del snapshot["machine"]["state"]["budget"]
    assert machine_of(snapshot).budget_ == 30


def test_a_refit_on_other_rows_decides_anew():
    X, y = _noisy(400)
    model = BudgetSVC(warm_start=True).fit(X, y)
    assert model.fit(X[:90], y[:90]).budget_ == 90
    assert model.fit(X, y).budget_ == 400

"""Parameters that change between calls: each change is taken over, or refused; never half of it."""

from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_certificate, check_optimal, check_primal
from oracles.model_math import Model
from oracles.problems import Array
from scipy import sparse
from sequences.runs import SUBJECTS, Data, Merge, Run
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.svm import SVC

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR

MACHINES = [subject for subject in SUBJECTS if subject != "features"]
FORMS = {"dense": np.asarray, "sparse": sparse.csr_array, "float32": np.float32}


@pytest.fixture(scope="module")
def moons() -> tuple[Array, Array]:
    return make_moons(3000, noise=0.2, random_state=0)


# ---- the budget ----


@pytest.mark.parametrize("low", [63, 10, 1])
@pytest.mark.parametrize("maintenance", ["merge", "multimerge", "project", "remove"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_lowered_budget_is_met_at_once(subject: str, maintenance: str, low: int) -> None:
    run = Run(subject, budget=64, maintenance=maintenance, n_jobs=1, random_state=0)
    run.set_params(gamma=5.0, reservoir=1000)
    run.partial_fit(Data(n=200, d=2))
    run.set_params(budget=low)
    for seed in range(3):
        run.partial_fit(Data(n=100, d=2, seed=seed))  # the run looks at the size
    assert run.succeeded


@pytest.mark.parametrize("call", ["partial_fit", "polish_now", "warm fit"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("subject", MACHINES)
def test_every_way_of_training_meets_a_lowered_budget(subject: str, form: str, call: str) -> None:
    data = Data(n=150, d=2)
    X, y = FORMS[form](data.rows()), data.targets(subject)
    model = SUBJECTS[subject](budget=100, gamma=5.0, n_jobs=1, random_state=0)
    if call == "warm fit":
        model.set_params(warm_start=True).fit(X, y).set_params(budget=10).fit(X, y)
    else:
        model.partial_fit(X, y).set_params(budget=10)
        model = model.polish_now() if call == "polish_now" else model.partial_fit(X, y)
    assert 0 < len(model.support_vectors_) <= 10


def test_the_budget_is_met_after_a_fit_with_a_larger_one(moons: tuple[Array, Array]) -> None:
    X, y = moons
    model = BudgetSVC(budget=100, gamma=5.0, random_state=0).fit(X, y)
    before = model.score(X, y)
    model.set_params(budget=10).partial_fit(X, y)
    assert len(model.support_vectors_) <= 10
    assert model.score(X, y) > before - 0.12  # it was merged, not cut


@pytest.mark.parametrize("subject", MACHINES)
def test_a_raised_budget_is_used(subject: str) -> None:
    data = Data(n=200, d=2)
    X, y = data.rows(), data.targets(subject)
    model = SUBJECTS[subject](budget=5, gamma=5.0, n_jobs=1, random_state=0).partial_fit(X, y)
    assert len(model.support_vectors_) <= 5
    model.set_params(budget=50).partial_fit(X, y)
    assert 5 < len(model.support_vectors_) <= 50
    model.set_params(budget=None).partial_fit(X, y)
    assert len(model.support_vectors_) > 50
    model.set_params(budget=3).partial_fit(X, y)
    assert len(model.support_vectors_) <= 3


@pytest.mark.parametrize("change", [{"budget": 5}, {"gamma": 0.5}, {"C": 100.0}])
def test_features_do_not_ignore_a_change(change: dict[str, Any]) -> None:
    data, fresh = Data(n=200, d=2), Data(n=200, d=2, seed=1)
    made = []
    for between in ({}, change):
        model = BudgetFeatures(20, C=0.01, gamma=5.0, n_jobs=1, random_state=0)
        model.partial_fit(data.rows(), data.targets("features")).set_params(**between)
        try:
            made.append(model.partial_fit(fresh.rows(), fresh.targets("features")))
        except ValueError as error:
            assert "gamma" in str(error)  # noqa: PT017 - what is refused is not ignored
            return
    assert len(made[1].components_) <= made[1].budget
    assert made[1].kernel_.gamma == made[1].gamma
    assert not np.array_equal(made[0].components_, made[1].components_)


# ---- the certificate of a warm start ----

CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "squared hinge to hinge": ({"loss": "squared_hinge"}, {"loss": "hinge"}),
    "squared hinge to logistic": ({"loss": "squared_hinge"}, {"loss": "logistic"}),
    "hinge to squared hinge": ({}, {"loss": "squared_hinge"}),
    "hinge to logistic": ({}, {"loss": "logistic"}),
    "logistic to hinge": ({"loss": "logistic"}, {"loss": "hinge"}),
    "C up": ({"C": 0.01}, {"C": 10.0}),
    "C down": ({"C": 10.0}, {"C": 0.01}),
    "C down, squared hinge": ({"C": 10.0, "loss": "squared_hinge"}, {"C": 0.01}),
    "gamma": ({"gamma": 0.1}, {"gamma": 1.0}),
    "kernel": ({"maintenance": "remove"}, {"kernel": "laplacian"}),
    "intercept": ({}, {"fit_intercept": True}),
    "no intercept": ({"fit_intercept": True}, {"fit_intercept": False}),
    "class weights": ({}, {"class_weight": {0: 0.1, 1: 3.0}}),
    "precision": ({"precision": "single"}, {"precision": "double"}),
    "budget": ({}, {"budget": 20}),
    "basis": ({}, {"basis": "random"}),
    "tolerance": ({"tol": 0.1}, {"tol": 1e-4}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", CHANGES)
def test_a_warm_start_certifies_the_problem_at_hand(change: str) -> None:
    X, y = make_classification(1000, 10, random_state=0, flip_y=0.2)
    first, then = CHANGES[change]
    model = BudgetSVC(warm_start=True, budget=50, random_state=0, **first).fit(X, y)
    check_optimal(model, X, y)
    check_optimal(model.set_params(**then).fit(X, y), X, y)


def test_a_dual_point_of_another_loss_proves_nothing() -> None:
    X, y = make_classification(3000, 10, random_state=0, flip_y=0.2)
    model = BudgetSVC(loss="squared_hinge", warm_start=True, budget=50, random_state=0).fit(X, y)
    model.set_params(loss="hinge").fit(X, y)
    P, D = model.objective_
    assert D <= P
    Z = model.support_vectors_
    anew = BudgetSVC(model.C_, budget=50, basis=Z, random_state=0).fit(X, y)
    assert anew.objective_[0] == pytest.approx(P, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_warm_start_certifies_other_weights(loss: str) -> None:
    X, y = make_classification(1000, 10, random_state=0, flip_y=0.2)
    model = BudgetSVC(loss=loss, warm_start=True, budget=50, random_state=0).fit(X, y)
    for seed in range(3):
        weights = 10 ** np.random.default_rng(seed).uniform(-3, 2, len(y))
        check_optimal(model.fit(X, y, sample_weight=weights), X, y, weights)
    check_optimal(model.fit(X, 1 - y), X, 1 - y)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("change", [{"epsilon": 0.5}, {"epsilon": 0.0}, {"C": 0.01}, {"C": 100.0}])
def test_a_warm_start_certifies_regression(change: dict[str, float], targets: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (800, 2))
    y = np.sin(X[:, :targets]) + 0.2 * rng.standard_normal((800, targets))
    y = y if targets > 1 else y[:, 0]
    model = BudgetSVR(warm_start=True, budget=40, gamma=1.0, random_state=0).fit(X, y)
    model.set_params(**change).fit(X, y)
    check_optimal(model, X, y)
    shifted = 100 - 50 * y
    check_optimal(model.fit(X, shifted), X, shifted)


@pytest.mark.parametrize("call", ["partial_fit", "polish_now"])
@pytest.mark.parametrize(
    ("first", "then"), [("ovo", "ovr"), ("ovr", "ovo"), ("weston-watkins", "ovo")]
)
def test_other_outputs_are_refused(first: Any, then: Any, call: str) -> None:
    """Pairs of classes do not become classes in between; and the model answers as before."""
    X, y = make_blobs(200, 3, centers=4, cluster_std=3.0, random_state=0)
    model = BudgetSVC(multi_class=first, budget=20, random_state=0).partial_fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=f"multi_class is '{then}' now"):
        getattr(model.set_params(multi_class=then), call)(
            *([X, y] if call == "partial_fit" else [])
        )
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.set_params(multi_class=first).polish_now()
    assert model.converged_


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", ["ovr", "weston-watkins"])
def test_a_warm_start_certifies_several_classes(multi_class: str) -> None:
    X, y = make_blobs(600, 3, centers=4, cluster_std=4, random_state=0)
    model = BudgetSVC(multi_class=multi_class, warm_start=True, budget=40, random_state=0).fit(X, y)
    for change in ({"C": 0.01}, {"C": 100.0}, {"gamma": 0.3}, {"fit_intercept": True}):
        model.set_params(**change).fit(X, y)
        assert model.converged_
        check_certificate(model)
        check_primal(model, X, y)


@pytest.mark.parametrize("change", [{"nu": 0.5}, {"gamma": 2.0}, {"precision": "double"}])
def test_a_warm_start_certifies_one_class(change: dict[str, Any]) -> None:
    X = np.random.default_rng(0).standard_normal((500, 2))
    model = BudgetOneClassSVM(nu=0.1, warm_start=True, budget=40, random_state=0).fit(X)
    model.set_params(**change).fit(X)
    assert model.converged_
    check_certificate(model)
    assert np.mean(model.predict(X) < 0) == pytest.approx(model.nu, abs=0.02)


# ---- the terms of a warm start ----


@pytest.mark.parametrize("labels", [2, 3])
def test_a_warm_start_learns_other_rows(moons: tuple[Array, Array], labels: int) -> None:
    X, y = moons if labels == 2 else make_blobs(1000, 2, centers=3, random_state=0)
    model = BudgetSVC(gamma=2.0, budget=50, warm_start=True, random_state=0).fit(X, y)
    before = model.score(X, y)
    assert model.fit(X + 5, y).score(X + 5, y) > before - 0.02
    check_primal(model, X + 5, y)


@pytest.mark.slow
def test_a_warm_start_fills_a_larger_budget(moons: tuple[Array, Array]) -> None:
    X, y = moons
    cold = BudgetSVC(C=100.0, gamma=10.0, budget=300, random_state=0).fit(X, y)
    model = BudgetSVC(C=100.0, gamma=10.0, budget=10, warm_start=True, random_state=0).fit(X, y)
    model.set_params(budget=300).fit(X, y)
    assert len(model.support_vectors_) > 10
    assert model.objective_[0] < 1.1 * cold.objective_[0]
    check_optimal(model, X, y)


# ---- what partial_fit cannot take over, it has to refuse ----

NEW_KERNELS = {
    "gamma": {"gamma": 0.5},
    "kernel": {"kernel": "laplacian", "maintenance": "remove"},
    "object": {"kernel": "poly", "degree": 2, "coef0": 1.0, "maintenance": "project"},
}


@pytest.mark.parametrize("call", ["partial_fit", "polish_now"])
@pytest.mark.parametrize("change", NEW_KERNELS)
@pytest.mark.parametrize("subject", MACHINES)
def test_a_changed_kernel_is_not_ignored(subject: str, change: str, call: str) -> None:
    data = Data(n=80, d=2)
    X, y = data.rows(), data.targets(subject)
    model = SUBJECTS[subject](budget=20, gamma=5.0, n_jobs=1, random_state=0).partial_fit(X, y)
    model.set_params(**NEW_KERNELS[change])
    try:
        model = model.polish_now() if call == "polish_now" else model.partial_fit(X, y)
    except ValueError as error:
        assert "kernel" in str(error) or "gamma" in str(error)  # noqa: PT017 - one of two ways out
        return
    assert model.kernel_.name == model.kernel
    assert model.kernel_.gamma == model.gamma
    expansion = Model.of(model)
    found = model.score_samples(X) if subject == "one class" else None
    if found is not None:
        np.testing.assert_allclose(found, expansion.values(X)[:, 0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("nu", [0.2, 0.8])
def test_when_a_detector_is_first_asked_does_not_matter(nu: float) -> None:
    """A parameter counts when a model is trained, not when somebody first looks at it."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    asked, unasked = (
        BudgetOneClassSVM(nu=0.5, gamma=1.0, budget=20, random_state=0).partial_fit(X)
        for _ in range(2)
    )
    before = asked.offset_
    assert asked.set_params(nu=nu).offset_ == before
    assert unasked.set_params(nu=nu).offset_ == before


# ---- early stopping ----


@pytest.mark.parametrize(
    "options", [{"budget": 500}, {"basis": "random"}, {"basis": "kmeans"}, {"polish": False}]
)
def test_early_stopping_acts_or_is_refused(options: dict[str, Any]) -> None:
    X, y = make_moons(300, noise=0.2, random_state=0)
    model = BudgetSVC(**{"budget": 30, "random_state": 0, "early_stopping": True, **options})
    try:
        model.fit(X, y)
    except ValueError as error:
        assert "early_stopping" in str(error)  # noqa: PT017 - one of two ways out
        return
    assert len(model.validation_scores_) > 0


@pytest.mark.parametrize("seed", range(10))
def test_early_stopping_holds_no_whole_class_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes, centres = [100, 100, 2], [-10.0, 0.0, 10.0]
    X = np.concatenate(
        [c + rng.standard_normal((n, 1)) for n, c in zip(sizes, centres, strict=True)]
    )
    y = np.repeat([0, 1, 2], sizes)
    model = BudgetSVC(
        C=1000.0,
        gamma=0.5,
        budget=20,
        early_stopping=True,
        validation_fraction=0.5,
        random_state=seed,
        multi_class="ovr",  # no bias: where phase 1 ends without a term near by, that would decide
        fit_intercept=False,
    )
    assert model.fit(X, y).predict([[10.0]]) == 2


# ---- a sane model in the end ----


OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in (Merge(n_terms=4), "project")]


@pytest.mark.slow
@pytest.mark.parametrize("maintenance", ["merge", *OTHERS])
def test_after_all_changes_the_model_is_as_good_as_a_new_one(
    moons: tuple[Array, Array], maintenance: Any
) -> None:
    X, y = moons
    model = BudgetSVC(C=10.0, gamma=5.0, budget=60, maintenance=maintenance, random_state=0)
    for budget in (60, 5, 80, 40):
        model.set_params(budget=budget).partial_fit(X, y)
    exact = SVC(C=10.0, gamma=5.0).fit(X, y).score(X, y)
    assert model.polish_now().score(X, y) > exact - 0.01
    check_optimal(model, np.tile(X, (4, 1)), np.tile(y, 4))  # every call has brought its rows

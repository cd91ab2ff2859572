"""Early stopping: when it stops, what it keeps, what it says about bad fractions."""

from functools import partial

import numpy as np
import pytest
from oracles.problems import noisy_xor
from sklearn.datasets import make_blobs
from tools.core.joint_problems import SOLVERS, outputs_of

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, kernels
from budgetsvm._estimators.one_class.density import DensityTarget
from budgetsvm._estimators.user_input import generator
from budgetsvm._learn.early_stopping import EarlyStopping
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets, ManyTargets, SingleTarget
from budgetsvm.losses import Hinge
from budgetsvm.monitoring._observer import Counts, Learned, LearnMoment


def problem_of(kind):
    """Estimator class and data: easy ones."""
    X, y = noisy_xor(1000, 0, flips=0.0)
    if kind == "many classes":
        return BudgetSVC, make_blobs(1000, centers=3, random_state=0)
    if kind == "regression":
        return BudgetSVR, (X, np.sin(X[:, 0]))
    if kind == "several targets":
        return BudgetSVR, (X, np.column_stack([np.sin(X[:, 0]), X[:, 1]]))
    return (BudgetOneClassSVM, (X, None)) if kind == "density" else (BudgetSVC, (X, y))


KINDS = ["two classes", "many classes", "regression", "several targets", "density"]


def make(kind, **options):
    defaults = {"gamma": 0.5, "budget": 30, "random_state": 0, "early_stopping": True}
    estimator, data = problem_of(kind)
    return estimator(**{**defaults, **options}), data


@pytest.mark.parametrize("polish", [True, False], ids=["polished", "plain"])
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_stops_early(kind, solver, polish):
    options = {"epochs": 200, "solver": solver, "polish": polish, "n_iter_no_change": 3}
    model, data = make(kind, **options)
    model.fit(*data)
    scores = model.validation_scores_
    assert 3 < len(scores) == model.n_iter_ < 200
    assert [record["visits"] for record in model.history_] == [900] * len(scores)
    assert scores[:-3].max() >= scores[-3:].max() - 1e-4  # the last three brought nothing
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("kind", KINDS)
def test_it_keeps_the_best_model(kind):
    """A fit that ends with the best epoch has the same model."""
    model, data = make(kind, epochs=40, polish=False, n_iter_no_change=40)
    model.fit(*data)
    best = int(model.validation_scores_.argmax())
    shorter, _ = make(kind, **{**model.get_params(), "epochs": best + 1})
    shorter.fit(*data)
    np.testing.assert_array_equal(shorter.validation_scores_, model.validation_scores_[: best + 1])
    np.testing.assert_allclose(shorter.dual_coef_, model.dual_coef_)


def test_scores_are_those_of_rows_held_out():
    """The score of a classifier is its accuracy on the fraction: a multiple of 1/200."""
    model, data = make("two classes", epochs=3, polish=False, validation_fraction=0.2)
    model.fit(*data)
    multiples = model.validation_scores_ * 200
    np.testing.assert_allclose(multiples, multiples.round())
    assert [record["visits"] for record in model.history_] == [800] * 3
    assert model.validation_scores_[-1] > 0.9


def test_scores_of_one_class_are_not_all_the_same():
    model, data = make("density", epochs=3, polish=False)
    scores = model.fit(*data).validation_scores_
    assert (scores <= 0).all()
    assert len(set(scores)) > 1


@pytest.mark.parametrize("polish", [True, False])
def test_reproducible(polish):
    model, (X, y) = make("two classes", epochs=20, polish=polish)
    a = model.fit(X, y)
    scores, values = a.validation_scores_, a.decision_function(X)
    b = model.fit(X, y)
    np.testing.assert_array_equal(b.validation_scores_, scores)
    np.testing.assert_array_equal(b.decision_function(X), values)
    c = model.set_params(random_state=1).fit(X, y)
    assert not np.array_equal(c.decision_function(X), values)


def test_with_a_polish_there_is_a_certificate():
    model, (X, y) = make("two classes", epochs=20)
    model.fit(X, y)
    assert model.converged_
    assert len(model.validation_scores_) == model.n_iter_
    assert model.score(X, y) > 0.95
    model.set_params(early_stopping=False).fit(X, y)
    assert not hasattr(model, "validation_scores_")


def test_bad_fractions():
    for fraction in (0, 1, -0.5, 1.5, np.nan):
        model, data = make("two classes", validation_fraction=fraction)
        with pytest.raises(ValueError, match=r"validation_fraction must be .* not"):
            model.fit(*data)
    for fraction, left in ((1e-6, "none to hold out"), (1 - 1e-6, "none to train on")):
        model, data = make("two classes", validation_fraction=fraction)
        with pytest.raises(ValueError, match=rf"validation_fraction=.* of 1000 rows leaves {left}"):
            model.fit(*data)
    for patience in (0, 1.5, -1):
        model, data = make("two classes", n_iter_no_change=patience)
        with pytest.raises((TypeError, ValueError), match=r"n_iter_no_change must be .* not"):
            model.fit(*data)


def test_many_outputs_without_a_budget():
    for kind in ("many classes", "several targets"):
        model, data = make(kind, budget=None)
        with pytest.raises(ValueError, match=r"early_stopping of more than two classes.*budget"):
            model.fit(*data)
    model, data = make("two classes", budget=None, epochs=100)
    assert model.fit(*data).n_iter_ < 100


# ---- which rows are held out ----


def split(labels, share=0.1, seed=0, kind="classes"):
    """Numbers of the rows to train on and of those held out."""
    n = len(labels)
    if kind == "signs":
        targets = SingleTarget.of_labels(np.where(labels > 0, 1.0, -1.0), np.ones(n))
    elif kind == "density":
        targets = DensityTarget.of_labels(np.ones(n), np.ones(n))
    elif kind == "targets":
        targets = ManyTargets(np.ones(n), Hinge(), labels[:, np.newaxis].astype(float))
    else:
        targets = ClassTargets(np.ones(n), Hinge(), labels.astype(np.int32), labels.max() + 1)
    rows = Rows(np.arange(n, dtype=float)[:, np.newaxis], np.float64, None)
    rest, stopping = EarlyStopping.hold_out(
        Problem(rows, targets, n), share, 3, np.random.default_rng(seed)
    )
    parts = [part.rows.X[:, 0].astype(int) for part in (rest, stopping.held)]
    assert sorted(np.concatenate(parts)) == list(range(n))
    assert all(len(part.targets) == len(part.rows) for part in (rest, stopping.held))
    return parts


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize(
    "sizes",
    [[500, 500], [1000, 1], [1000, 2], [1000, 3], [3, 3000], [400, 30, 2, 1], [7] * 60],
    ids=str,
)
def test_every_class_is_held_out_by_its_share(sizes, share):
    for seed in range(5):
        labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
        for kind in ("classes", "signs")[: 2 if len(sizes) == 2 else 1]:
            kept, held = split(labels, share, seed, kind)
            counts = np.bincount(labels[held], minlength=len(sizes))
            due = share * np.array(sizes)
            assert (np.bincount(labels[kept], minlength=len(sizes)) >= 1).all()
            assert (abs(counts - due) <= 1.5).all()
            assert len(held) > 0
            if max(due) >= 0.5:
                assert (counts[due < 0.45] == 0).all()


def test_a_few_rows_of_all_classes():
    """Not one of them is due half a row, but together they are."""
    labels = np.repeat(np.arange(50), 4)
    chosen = [set(labels[split(labels, 0.1, seed)[1]]) for seed in range(20)]
    assert {len(classes) for classes in chosen} == {20}
    assert set().union(*chosen) == set(range(50))  # it is not always the same ones


def test_which_rows_are_held_out_is_random_and_reproducible():
    labels = np.arange(300) % 3
    held = [split(labels, 0.2, seed)[1] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(held[0], held[1])
    assert not np.array_equal(held[0], held[2])
    counts = np.zeros(300)
    for seed in range(400):
        counts[split(labels, 0.2, seed)[1]] += 1
    assert abs(counts / 400 - 0.2).max() < 0.1


@pytest.mark.parametrize("kind", ["targets", "density"])
def test_without_classes_any_rows_are_held_out(kind):
    labels = np.arange(200)
    kept, held = split(labels, 0.1, 3, kind)
    order = np.random.default_rng(3).permutation(200)
    np.testing.assert_array_equal(held, np.sort(order[:20]))
    np.testing.assert_array_equal(kept, np.sort(order[20:]))


def test_nothing_to_hold_out():
    with pytest.raises(ValueError, match=r"of 5 rows leaves none to hold out"):
        split(np.arange(5), 0.4)  # every row is a class


@pytest.mark.parametrize("rare", [1, 2, 3])
@pytest.mark.parametrize("several", [False, True])
def test_no_class_vanishes_from_a_fit(rare, several):
    """Its rows are far from all others, and so are learned if they are there at all."""
    X, y = make_blobs(1000, centers=[[0, 0], [5, 0]], cluster_std=0.5, random_state=0)
    y = y if several else np.zeros(1000, int)
    X, y = np.vstack([X, np.full((rare, 2), 30.0)]), np.append(y, [7] * rare)
    for seed in range(5):
        model = BudgetSVC(100.0, gamma=0.5, budget=60, early_stopping=True, random_state=seed)
        assert (model.fit(X, y).predict(X[-rare:]) == 7).all()


# ---- with several outputs ----


def test_early_stopping_keeps_the_best_model() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((200, 2)), rng.integers(3, size=200).astype(np.int32)
    targets = ClassTargets(np.ones(200), Hinge(), labels, 3)
    problem = Problem(Rows(X, np.float64, None), targets)
    rest, stopping = EarlyStopping.hold_out(problem, 0.25, 2, np.random.default_rng(1))
    assert (len(rest.rows), len(stopping.held.rows), len(rest.targets)) == (150, 50, 150)
    together = np.vstack([rest.rows.X, stopping.held.rows.X])
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(X, axis=0))
    own = stopping.held.targets.labels  # type: ignore[attr-defined]

    def model_with(right: int) -> KernelExpansion:
        """A model that has so many of the rows held out right."""
        coef = np.zeros((3, 50))
        coef[np.where(np.arange(50) < right, own, (own + 1) % 3), np.arange(50)] = 1
        points = stopping.held.rows.X
        return KernelExpansion(kernels.Gaussian(1e6), points, coef, np.zeros(3), None)

    models = [model_with(k) for k in (10, 30, 20, 40, 40, 39, 50)]
    stops = [
        stopping.end_epoch(LearnMoment(0, Counts(), 0, partial(Learned, model, 0, 0, []), None))
        for model in models
    ]
    assert stopping.scores[:6] == [0.2, 0.6, 0.4, 0.8, 0.8, 0.78]
    assert stops[:6] == [False] * 5 + [True]
    assert stopping.best is models[6]  # the last one was better still


@pytest.mark.parametrize("share", [0.001, 0.9999])
def test_nothing_to_hold_out_or_to_train_on(share: float) -> None:
    problem = Problem(Rows(np.eye(5), np.float64, None), outputs_of("classes", None, 1.0))
    with pytest.raises(ValueError, match="early_stopping=False"):
        EarlyStopping.hold_out(problem, share, 2, np.random.default_rng(1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_early_stopping_of_an_estimator(solver: str) -> None:
    """Scores are those of the model after each epoch, also in the middle of gradient descent."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    model = BudgetSVR(
        C=1.0 if solver == "bsca" else 0.01,
        budget=20,
        gamma=0.5,
        solver=solver,
        epochs=30,
        polish=False,
        early_stopping=True,
        n_iter_no_change=3,
        random_state=0,
        fit_intercept=True,
    ).fit(X, Y)
    scores = model.validation_scores_
    assert len(scores) == model.n_iter_ <= 30
    held = generator(0).permutation(300)[:30]
    errors = (Y - model.predict(X))[held] / model.target_scale_
    loss = np.maximum(0, abs(errors) - model.epsilon).mean()
    assert -loss == pytest.approx(scores.max(), rel=1e-4)

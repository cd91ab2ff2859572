"""Early stopping: when it stops, what it keeps, what it says about bad fractions."""

import numpy as np
import pytest
from problems import noisy_xor
from sklearn.datasets import make_blobs

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR


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

"""Fewer terms for a trained estimator: as near as terms allow, and what it says of the loss is true."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_friedman1, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tools.frozen import frozen

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, compress, load
from budgetsvm._estimators.compression import terms
from budgetsvm._estimators.compression.terms import Smaller
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Gaussian

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(300) > 0, "a", "b")
CLASSES = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])
SUBJECTS: dict[str, Any] = {
    "two classes": (BudgetSVC(C=10, gamma=0.5, fit_intercept=True), Y),
    "single": (BudgetSVC(C=10, gamma=0.5, precision="single"), Y),
    "classes": (BudgetSVC(C=10, gamma=0.5, multi_class="ovr"), CLASSES),
    "targets": (BudgetSVR(C=10, gamma=0.5), 100 * X[:, :2] ** 2),
    "detector": (BudgetOneClassSVM(nu=0.2, gamma=0.5), None),
    "laplacian": (BudgetSVC(kernel="laplacian", gamma=0.3, maintenance="remove"), Y),
    "poly": (BudgetSVC(kernel="poly", gamma=0.3, coef0=1, maintenance="remove"), CLASSES),
    "pairs": (BudgetSVC(C=10, gamma=0.5, multi_class="ovo"), CLASSES),
}


def trained(subject: str) -> Any:
    model, y = SUBJECTS[subject]
    return model.set_params(budget=100, random_state=0).fit(X, y)


def values(model: Any, rows: Any = X) -> Any:
    if isinstance(model, BudgetSVR):
        return model.predict(rows)
    if isinstance(model, BudgetSVC):  # of pairs of classes, decision values are more than that
        return model._expansion.decision(rows)
    return model.decision_function(rows)


def squared_norm(coef: np.ndarray, points: np.ndarray, kernel: Any) -> float:
    return float(np.sum(coef * (coef @ kernel.matrix(points, points))))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_distance_is_that_of_the_definition(subject: str) -> None:
    big = trained(subject)
    before = frozen(snapshot_of(big))
    found = compress(big, 10)
    small = found.estimator
    assert frozen(snapshot_of(big)) == before
    assert found.n_terms == (len(big.support_vectors_), len(small.support_vectors_))
    assert len(small.support_vectors_) <= small.budget == 10
    points = np.concatenate([big.support_vectors_, small.support_vectors_])
    coef = np.concatenate([big._expansion.coef, -small._expansion.coef], axis=1)
    whole = squared_norm(big._expansion.coef, big.support_vectors_, big.kernel_)
    distance = np.sqrt(squared_norm(coef, points, big.kernel_) / whole)
    assert_allclose(found.distance, distance, rtol=1e-3, atol=1e-5)
    assert found.distance < 0.9
    assert not hasattr(small, "duality_gap_")
    machine_of(snapshot_of(small))  # it can be saved


def test_of_terms_that_were_rows_no_number_is_kept(tmp_path) -> None:
    big = BudgetSVC(random_state=0).fit(X, Y)
    assert len(big.support_) > 10
    small = compress(big, 10).estimator
    assert not hasattr(small, "support_")
    assert not hasattr(small, "n_support_")
    same = compress(big, len(big.support_)).estimator
    assert_array_equal(same.support_, big.support_)
    for model in (small, same):
        model.save(tmp_path / "a.bsvm")
        assert_array_equal(load(tmp_path / "a.bsvm").predict(X), model.predict(X))


def test_numbered_rows_are_refused() -> None:
    model = BudgetSVC(kernel="precomputed", random_state=0).fit(X @ X.T + 1, Y)
    with pytest.raises(ValueError, match="fit again with the smaller budget"):
        compress(model, 3)


def slope(Z: np.ndarray, coef: np.ndarray, big: Any) -> np.ndarray:
    """Return half of the slope of ‖f_small - f_big‖², by coefficients."""
    kernel = big.kernel_.matrix
    return kernel(Z, Z) @ coef.T - kernel(Z, big.support_vectors_) @ big._expansion.coef.T


@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_coefficients_are_nearer_than_those_of_the_projection(subject: str) -> None:
    """The difference is orthogonal to all terms."""
    big = trained(subject)
    smaller = Smaller(big._expansion, 1)
    points = smaller.big.points[smaller._chosen(10)].astype(np.float32).astype(np.float64)
    kept, coef, _ = smaller.refitted(points)
    largest = abs(big.kernel_.matrix(points, smaller.big.points)).max()
    kernel = big.kernel_.matrix
    wanted = kernel(points[kept], smaller.big.points) @ smaller.big.coef.T
    assert abs(kernel(points[kept], points[kept]) @ coef.T - wanted).max() < 1e-4 * largest


@pytest.mark.parametrize("subject", SUBJECTS)
def test_on_rows_the_distance_counts_with_one_weight(subject: str) -> None:
    """Slopes of the sum of squares and of the squared distance are opposite to each other."""
    big = trained(subject)
    small = compress(big, 10, X).estimator
    units = getattr(big, "target_scale_", getattr(big, "_scale", 1.0))
    difference = (values(small) - values(big)).reshape(len(X), -1) / units
    features = big.kernel_.matrix(X, small.support_vectors_)
    of_rows = features.T @ difference
    of_distance = slope(small.support_vectors_, small._expansion.coef, big)
    # The least weight may be chosen, which cannot be told from none.
    weight = max(0.0, -np.vdot(of_rows, of_distance) / np.vdot(of_distance, of_distance))
    scale = np.linalg.norm(features) * np.linalg.norm(values(big) / units)
    assert np.linalg.norm(of_rows + weight * of_distance) < 1e-4 * scale


def test_the_weight_is_that_which_serves_rows_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of as few rows as there are terms, not all is to be believed."""
    big = trained("two classes")

    def off() -> float:
        small = compress(big, 20, X[:25]).estimator
        return float(np.mean((values(small) - values(big))[25:] ** 2))

    chosen = off()
    monkeypatch.setattr(terms, "_WEIGHTS", np.array([1e-9]))
    assert chosen < 0.5 * off()


@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_it_says_of_rows(subject: str) -> None:
    big = trained(subject)
    found = compress(big, 15, X)
    blind = compress(big, 15)
    terms = big._expansion.original_points()
    off = values(big, terms) - values(blind.estimator, terms)
    assert_allclose(blind.difference, np.sqrt(np.mean(off**2)))

    difference = np.sqrt(np.mean((values(big) - values(found.estimator)) ** 2))
    assert_allclose(found.difference, difference)
    without = np.sqrt(np.mean((values(big) - values(blind.estimator)) ** 2))
    assert difference <= without * (1 + 1e-4) + 1e-5 * abs(values(big)).max()
    if subject == "targets":
        assert found.agreement is None
    else:
        assert found.agreement == np.mean(big.predict(X) == found.estimator.predict(X)) > 0.8


def test_a_linear_model_needs_one_term() -> None:
    model = BudgetSVC(kernel="linear", maintenance="remove", precision="double", budget=80)
    big = model.set_params(basis="random", random_state=0).fit(X, Y)
    big._expansion.__dict__["points"] = X[:80]
    big._expansion.__dict__["coef"] = RNG.standard_normal((1, 80))
    found = compress(big, 3)
    assert found.n_terms == (80, 1)
    assert found.distance < 1e-6
    assert_allclose(found.estimator.decision_function(X), big.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo", "weston-watkins"])
def test_linear_models_of_classes_need_a_term_each(multi_class: str) -> None:
    rows, y = load_iris(return_X_y=True)
    settings = {"kernel": "linear", "multi_class": multi_class, "budget": 100, "random_state": 0}
    big = BudgetSVC(**settings, fit_intercept=True).fit(rows, y)
    found = compress(big, 3)
    assert found.n_terms[1] <= 3
    assert found.agreement == 1
    off = big._expansion.decision(rows, 1) - found.estimator._expansion.decision(rows, 1)
    assert abs(off).max() < 1e-4 * abs(big._expansion.decision(rows, 1)).max()
    directions = [compress(big, budget).distance for budget in (1, 2, 3)]
    assert directions == sorted(directions, reverse=True)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
@pytest.mark.parametrize("kind", [BudgetSVR, BudgetOneClassSVM])
def test_one_term_is_better_than_a_constant(kind: Any, kernel: str) -> None:
    """What the sum of terms has lost on average, the bias makes up for."""
    data, y = make_friedman1(400, random_state=0)
    model = kind(kernel=kernel, gamma=0.25, coef0=1.0, budget=400, random_state=0)
    big = model.fit(data, y) if kind is BudgetSVR else model.fit(data)
    for rows in (None, 3 * data):
        shown = big._expansion.original_points() if rows is None else rows
        wanted = getattr(big, "decision_function", big.predict)(shown)
        for budget in (1, 2, 5):
            assert compress(big, budget, rows).difference <= 1.001 * wanted.std()


def test_small_models_stay_as_they_are() -> None:
    big = trained("two classes")
    found = compress(big, 1000, X)
    assert found.distance == found.difference == 0
    assert found.agreement == 1
    assert_array_equal(found.estimator.decision_function(X), big.decision_function(X))


def test_the_better_one_of_merging_and_choosing() -> None:
    """Of two terms near each other, the one between them is better than either."""
    rng = np.random.default_rng(0)
    centres = 10 * rng.permutation(64)[:20, np.newaxis] // np.array([16, 4, 1]) % 40
    points = np.concatenate([centres - 0.2, centres + 0.2])
    model = KernelExpansion(Gaussian(0.5), points, np.ones((1, 40)), np.zeros(1), None)
    smaller = Smaller(model, 1)
    chosen = smaller.refitted(points[smaller._chosen(20)])[2]
    found = smaller.terms(BudgetSVC(budget=20, gamma=0.5)._settings())
    assert [len(points) for points in found] == [20, 20]
    assert smaller.refitted(found[0])[2] < 0.2 * chosen


def test_fewer_rows_than_terms() -> None:
    """They are met better than without them, and the distance hardly suffers."""
    big = trained("two classes")
    found, without = compress(big, 20, X[:5]), compress(big, 20)
    off = (values(without.estimator) - values(big))[:5]
    assert found.difference < np.sqrt(np.mean(off**2))
    assert found.distance < 1.1 * without.distance


def test_pipelines() -> None:
    big = make_pipeline(StandardScaler(), BudgetSVC(budget=60, random_state=0)).fit(5 * X, Y)
    found = compress(big, 10, 5 * X)
    assert found.agreement == np.mean(big.predict(5 * X) == found.estimator.predict(5 * X)) > 0.9
    assert len(big[-1].support_vectors_) > len(found.estimator[-1].support_vectors_) == 10


def test_one_class_has_an_offset_and_no_bias() -> None:
    big = trained("detector")
    for rows in (None, X):
        assert not compress(big, 10, rows).estimator._expansion.bias.any()
    assert abs(np.mean(compress(big, 20, X).estimator.predict(X) < 0) - 0.2) < 0.1


def test_sigmoid_goes_by_values_alone() -> None:
    model = BudgetSVC(kernel="sigmoid", gamma=0.1, maintenance="remove", budget=40)
    big = model.set_params(basis="random", random_state=0).fit(X, Y)
    budget = len(big.support_vectors_) - 1
    found = compress(big, budget, X)
    assert np.isnan(found.distance)
    assert found.agreement > 0.9


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="a BudgetFeatures cannot be compressed"):
        compress(BudgetFeatures(5).fit(X, Y), 3)
    with pytest.raises(NotFittedError, match="nothing to compress"):
        compress(BudgetSVC(), 3)
    with pytest.raises(ValueError, match="budget"):
        compress(trained("two classes"), 0)
    with pytest.raises(ValueError, match="features"):
        compress(trained("two classes"), 3, X[:, :2])


@pytest.mark.parametrize("kind", ["-s 0 -r -0.5 -c 10", "-s 3", "-s 2 -n 0.2"])
def test_sigmoid_uses_the_budget(kind: str, tmp_path: Path) -> None:
    """Models of LIBSVM, whose kernel matrix has negative eigenvalues."""
    svmutil = pytest.importorskip("libsvm.svmutil")
    rows, y = make_moons(400, noise=0.2, random_state=0)
    problem = svmutil.svm_problem(list(2.0 * y - 1), rows.tolist())
    path = str(tmp_path / "model")
    svmutil.svm_save_model(path, svmutil.svm_train(problem, f"{kind} -t 3 -g 0.3 -q"))
    big = load(path)
    values = getattr(big, "decision_function", big.predict)(rows)
    for given in (rows, None):  # without rows, terms take their place
        found = [compress(big, budget, given) for budget in (3, 8, 15)]
        assert [one.n_terms[1] for one in found] == [3, 8, 15]
        differences = [one.difference for one in found]
        assert differences == sorted(differences, reverse=True)
        assert differences[-1] < 0.01 * values.std()
        assert all(np.isnan(one.distance) for one in found)

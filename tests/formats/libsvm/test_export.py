"""LIBSVM itself predicts by exported models as the estimators do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tools.peers import libsvm

import budgetsvm
from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, to_libsvm
from budgetsvm._formats.libsvm.model import LibsvmModel
from budgetsvm._formats.libsvm.pairs import libsvm_layout, pair_coefficients
from budgetsvm._formats.libsvm.write import libsvm_text
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Gaussian

X, Y = libsvm.two_classes()
OPTIONS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.5, "coef0": 1.0},
}


def made(kind: Any, kernel: str, **more: Any) -> Any:
    maintenance = "merge" if kernel == "rbf" else "remove"
    given = OPTIONS[kernel] | {"maintenance": maintenance, "budget": 25, "random_state": 0}
    if (
        kernel != "rbf"
    ):  # large coefficients of terms that are nearly dependent: single precision is not 1e-5
        given["precision"] = "double"
    return kind(**(given | more))


def written(path: Path, estimator: Any) -> Path:
    path.write_text(to_libsvm(estimator))
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kernel", "labels", "far"),
    [
        *((kernel, (1, -1), 0.0) for kernel in OPTIONS),
        *(("rbf", labels, 0.0) for labels in ((3, 5), (False, True), (2.0, 7.0))),
        ("rbf", (5, 3), 1000.0),
    ],
)
def test_two_classes(tmp_path: Path, kernel: str, labels: tuple[Any, Any], far: float) -> None:
    """With a bias, and far from the origin, where the model has a centre."""
    rows = X + far
    model = made(BudgetSVC, kernel, fit_intercept=True).fit(rows, np.where(Y == 1, *labels))
    path = written(tmp_path / "a", model)
    found, values = libsvm.predict(path, rows)
    assert_array_equal(found, model.predict(rows))
    expected = model.decision_function(rows)
    assert_allclose(values[:, 0], expected, rtol=1e-5, atol=1e-5 * abs(expected).max())
    again = budgetsvm.load(path)
    assert again.n_features_in_ == X.shape[1]
    assert_allclose(again.decision_function(rows), expected, atol=1e-5 * abs(expected).max())
    assert to_libsvm(again).splitlines()[-1] == path.read_text().splitlines()[-1]


@pytest.mark.parametrize("kernel", OPTIONS)
def test_regression(tmp_path: Path, kernel: str) -> None:
    y = 500 + 20 * np.sin(X[:, 0])
    model = made(BudgetSVR, kernel, C=10).fit(X, y)
    path = written(tmp_path / "a", model)
    assert_allclose(libsvm.predict(path, X)[0], model.predict(X), rtol=1e-5)
    assert_allclose(budgetsvm.load(path).predict(X), model.predict(X), rtol=1e-5)


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_one_class(tmp_path: Path, kernel: str) -> None:
    model = made(BudgetOneClassSVM, kernel, nu=0.2).fit(X)
    path = written(tmp_path / "a", model)
    labels, values = libsvm.predict(path, X)
    expected = model.decision_function(X)
    clear = abs(expected) > 1e-5 * abs(expected).max()  # rows at the quantile itself
    assert clear.sum() > 190
    assert_array_equal(labels[clear], model.predict(X)[clear])
    assert_allclose(values[:, 0], expected, atol=1e-5 * abs(expected).max())


def test_a_model_without_terms(tmp_path: Path) -> None:
    model = BudgetSVR(budget=5).fit(X, np.full(len(X), 7.0))
    path = written(tmp_path / "a", model)
    assert_array_equal(libsvm.predict(path, X)[0], np.full(len(X), 7.0))
    again = budgetsvm.load(path)
    assert_array_equal(again.predict(X), np.full(len(X), 7.0))


def test_probabilities(tmp_path: Path) -> None:
    model = made(BudgetSVC, "rbf", loss="logistic").fit(X, Y)
    path = written(tmp_path / "a", model)
    labels, shares = libsvm.predict(path, X, "-b 1")
    assert_array_equal(labels, model.predict(X))
    assert_allclose(shares[:, ::-1], model.predict_proba(X), atol=1e-5)  # the larger label first
    assert_allclose(budgetsvm.load(path).predict_proba(X), model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_pairs(tmp_path: Path, n_classes: int, share: float) -> None:
    """A model with a coefficient of every pair for a share of the terms."""
    rng = np.random.default_rng(0)
    n_pairs = n_classes * (n_classes - 1) // 2
    coef = rng.standard_normal((n_pairs, 12)) * (rng.random((n_pairs, 12)) < share)
    bias, points = rng.standard_normal(n_pairs), rng.standard_normal((12, 3))
    layout = libsvm_layout(coef, n_classes)
    restored = pair_coefficients(layout.coef, layout.counts)
    sums = np.zeros_like(coef)
    np.add.at(sums.T, layout.terms, restored.T)
    assert_array_equal(sums, coef)
    labels = rng.permutation(10)[:n_classes]
    given = (Gaussian(0.3), layout.coef, points[layout.terms], -bias, labels, layout.counts)
    path = tmp_path / "a"
    path.write_text(libsvm_text(LibsvmModel("c_svc", *given)))
    rows = rng.standard_normal((30, 3))
    values = libsvm.predict(path, rows)[1]
    expected = KernelExpansion(Gaussian(0.3), points, coef, bias, None).decision(rows)
    assert_allclose(values, expected, atol=1e-12)


def test_a_term_of_one_class_stands_there_once() -> None:
    """As in models of LIBSVM itself, which are written as they were."""
    coef = np.array([[1.0, -0.5, 2.0, 0.0], [0.5, -1.0, 0.25, -3.0]])
    counts = np.array([2, 1, 1])
    coef[:, 2] = [-0.5, 1.0]  # of the second class: against the first and the third
    coef[:, 3] = [-0.5, -1.0]  # of the third
    coef[:, :2] = abs(coef[:, :2])  # of the first
    layout = libsvm_layout(pair_coefficients(coef, counts), 3)
    assert_array_equal(layout.terms, np.arange(4))
    assert_array_equal(layout.counts, counts)
    assert_array_equal(layout.coef, coef)


def test_pairs_of_an_estimator(tmp_path: Path) -> None:
    rows, y = libsvm.classes(4)
    options = {"multi_class": "ovo", "decision_function_shape": "ovo", "break_ties": False}
    model = made(BudgetSVC, "rbf", **options).fit(rows, y)
    path = written(tmp_path / "a", model)
    values = libsvm.predict(path, rows)[1]
    assert_allclose(values, model.decision_function(rows), atol=1e-5 * abs(values).max())


def test_what_libsvm_does_not_have() -> None:
    three, y = libsvm.classes(3)
    refused = {
        "this model has one output per class": BudgetSVC(budget=5, multi_class="ovr").fit(three, y),
        "this model has one output per class, and": BudgetSVC(
            budget=5, multi_class="weston-watkins"
        ).fit(three, y),
        r"does not have the kernel Precomputed\(\): use a pickle": BudgetSVC(
            kernel="precomputed", budget=5
        ).fit(X @ X.T, Y),
        "does not have the kernel Laplacian.*: use ONNX or C": BudgetSVC(
            kernel="laplacian", maintenance="remove", budget=5
        ).fit(X, Y),
        "labels of LIBSVM are integers of 32 bits, and these are 'a', 'b'": BudgetSVC(budget=5).fit(
            X, np.where(Y == 1, "a", "b")
        ),
        "and these are 1.0, 3000000000.0": BudgetSVC(budget=5).fit(X, np.where(Y == 1, 1.0, 3e9)),
        "a single target, and this model has 2": BudgetSVR(budget=5).fit(X, X[:, :2]),
        "no models like a BudgetFeatures": BudgetFeatures(5).fit(X, Y),
        "no place for steps": make_pipeline(StandardScaler(), BudgetSVC(budget=5)).fit(X, Y),
    }
    for message, estimator in refused.items():
        with pytest.raises(ValueError, match=message):
            to_libsvm(estimator)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        to_libsvm(BudgetSVC())
    passing = make_pipeline("passthrough", BudgetSVC(budget=5, random_state=0)).fit(X, Y)
    assert to_libsvm(passing) == to_libsvm(passing[-1])

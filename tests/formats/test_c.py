"""Headers of C, compiled, predict as the estimators do."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler
from tools.peers.compiled import Compiled

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, RelevanceScaler, to_c

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3)).astype(np.float32).astype(np.float64)
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(200) > 0, 1, 0)
CLASSES = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])
KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "laplacian": {"kernel": "laplacian", "gamma": 0.3},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.5, "coef0": 1.0},
}


def options(kernel: str) -> dict[str, Any]:
    maintenance = "merge" if kernel == "rbf" else "remove"
    own = {"maintenance": maintenance, "budget": 20, "random_state": 0, "precision": "double"}
    return KERNELS[kernel] | own


def close(found: Any, expected: Any, tolerance: float = 1e-4) -> None:
    expected = expected.reshape(found.shape)
    assert_allclose(found, expected, rtol=tolerance, atol=tolerance * abs(expected).max())


def same(found: Any, model: Any, rows: Any) -> None:
    """Labels are equal, but for rows on the border."""
    values = model.decision_function(rows)
    scale = abs(values).max()
    if values.ndim > 1:
        ordered = np.sort(values, axis=1)
        values = ordered[:, -1] - ordered[:, -2]
    clear = abs(values) > 1e-6 * scale
    assert clear.mean() > 0.98
    assert_array_equal(found[clear], model.predict(rows)[clear])


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_classes(tmp_path: Path, kernel: str) -> None:
    model = BudgetSVC(fit_intercept=True, **options(kernel)).fit(X, Y)
    header = model.to_c()
    if kernel == "sigmoid":
        assert np.isnan(header.distance)
    else:  # the Laplacian kernel has a kink: a distance is the root of that of points
        assert header.distance < (1e-3 if kernel == "laplacian" else 1e-5)
    compiled = Compiled(tmp_path, header.text)
    close(compiled.values(X, 1), model.decision_function(X))
    same(model.classes_[compiled.predict(X)], model, X)


def test_several_classes(tmp_path: Path) -> None:
    model = BudgetSVC(multi_class="ovr", **options("rbf")).fit(X, CLASSES)
    compiled = Compiled(tmp_path, to_c(model).text)
    close(compiled.values(X, 3), model.decision_function(X))
    same(model.classes_[compiled.predict(X)], model, X)


def test_pairs_of_classes(tmp_path: Path) -> None:
    given = options("rbf") | {"multi_class": "ovo"}
    model = BudgetSVC(**given).fit(X, CLASSES)
    compiled = Compiled(tmp_path, to_c(model).text)
    same(model.classes_[compiled.predict(X)], model, X)
    model.decision_function_shape = "ovo"
    close(compiled.values(X, 3), model.decision_function(X))


@pytest.mark.parametrize("y", [Y, CLASSES], ids=["two", "three"])
def test_probabilities(tmp_path: Path, y: np.ndarray) -> None:
    model = BudgetSVC(loss="logistic", multi_class="ovr", **options("rbf")).fit(X, y)
    compiled = Compiled(tmp_path, to_c(model).text)
    shares = compiled.values(X, len(model.classes_), "run_probabilities")
    close(shares, model.predict_proba(X))


@pytest.mark.parametrize("kernel", KERNELS)
def test_regression(tmp_path: Path, kernel: str) -> None:
    y = 500 + 20 * np.sin(X[:, :2])
    model = BudgetSVR(C=10, **options(kernel)).fit(X, y)
    close(Compiled(tmp_path, to_c(model).text).values(X, 2), model.predict(X))


def test_one_class(tmp_path: Path) -> None:
    model = BudgetOneClassSVM(nu=0.2, **options("rbf")).fit(X)
    compiled = Compiled(tmp_path, to_c(model).text)
    close(compiled.values(X, 1), model.decision_function(X))
    same(compiled.predict(X), model, X)


def test_features(tmp_path: Path) -> None:
    model = BudgetFeatures(**options("rbf")).fit(X, Y)
    features = model.transform(X)
    close(Compiled(tmp_path, to_c(model).text).values(X, features.shape[1]), features)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 1)),
        MinMaxScaler((0, 2), clip=True),
        MaxAbsScaler(),
        RelevanceScaler(strength=1, max_iter=5, random_state=0),
    ],
    ids=lambda scaler: str(scaler)[:40],
)
def test_scalers(tmp_path: Path, scaler: Any) -> None:
    rows = np.array([10.0, 0.1, 3.0], np.float32) * X.astype(np.float32) + np.float32(5)
    model = make_pipeline(scaler, BudgetSVC(**options("rbf"))).fit(rows[:100], Y[:100])
    compiled = Compiled(tmp_path, to_c(model).text)
    close(compiled.values(rows, 1), model.decision_function(rows))


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1000.0])
def test_fewer_bits(tmp_path: Path, storage: Any, scale: float) -> None:
    """What is lost is what it says: the values of the function with these points are those of the header."""
    rows = (scale * X).astype(np.float32)
    given = options("rbf") | {"gamma": 0.2 / scale**2}
    model = BudgetSVC(**given).fit(rows, Y)
    header = to_c(model, storage=storage)
    values = Compiled(tmp_path, header.text).values(rows, 1)[:, 0]
    bits = {"float32": 4, "float16": 2, "int8": 1}[storage]
    n_terms = len(model.support_vectors_)
    tables = {"int8": 24}.get(storage, 0)
    assert header.n_bytes == n_terms * 3 * bits + tables + 4 * n_terms + 4 + 4 * 3
    expected = model.decision_function(rows)
    lost = np.sqrt(np.mean((values - expected) ** 2) / np.mean(expected**2))
    most = {"float32": 1e-5, "float16": 0.01 if scale >= 1 else 0.2, "int8": 0.1}[storage]
    assert header.distance < most
    assert lost < 10 * most
    assert (header.distance > 1e-4) == (storage != "float32")
    # |f(x) - f'(x)| is at most the norm of their difference, k(x, x) being 1.
    norm = np.sqrt(
        model.dual_coef_ @ model.kernel_.matrix(*2 * [model.support_vectors_]) @ model.dual_coef_.T
    )
    assert (
        abs(values - expected).max() <= header.distance * norm.item() + 1e-4 * abs(expected).max()
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "scaler", [[], [MinMaxScaler((-1, 1), clip=True)]], ids=["alone", "scaled"]
)
@pytest.mark.parametrize("C", [1, 1e5])
def test_all_rounding_is_measured(tmp_path: Path, kernel: str, scaler: Any, C: float) -> None:
    """What is said of values at terms holds for other rows, too, and for all kernels."""
    y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], X[:, 2]])
    machine = BudgetSVR(C=C, **options(kernel), max_passes=50, epochs=1)
    with warnings.catch_warnings(action="ignore"):  # of a polish that is not quite done
        model = make_pipeline(*scaler, machine).fit(X, y)
    header = to_c(model)
    found, expected = Compiled(tmp_path, header.text).values(X, 2), model.predict(X)
    off = (abs(found - expected).max(axis=0) / expected.std(axis=0)).max()
    assert header.difference / 20 - 1e-7 < off < 20 * header.difference + 1e-6


def test_a_large_C_costs_digits_that_storage_knows_nothing_of() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 4)).astype(np.float32)
    y = np.sin(rows[:, 0]) * rows[:, 1] + 0.1 * rng.normal(size=1000)
    headers = [
        to_c(BudgetSVR(C=C, gamma=0.1, budget=200, random_state=0, tol=0.1).fit(rows, y))
        for C in (1, 1000)
    ]
    assert all(header.distance < 1e-4 for header in headers)
    assert headers[0].difference < 1e-4
    assert headers[1].difference > 10 * headers[0].difference


def test_fewer_bits_are_a_part_of_the_difference() -> None:
    model = BudgetSVC(**options("rbf")).fit(X, Y)
    whole, half, byte = (to_c(model, storage=s).difference for s in ("float32", "float16", "int8"))
    assert whole < half < byte


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (
            ["a?", '"\\@ä'],
            'static const char *const model_labels[2] = { "\\042\\134\\100\\303\\244", "a\\077" };',
        ),
        ([7, -3], "static const long long model_labels[2] = { -3LL, 7LL };"),
        ([0.0, 2.5e9], "static const double model_labels[2] = { 0.0, 2500000000.0 };"),
    ],
)
def test_labels(tmp_path: Path, labels: Any, line: str) -> None:
    model = BudgetSVC(**options("rbf")).fit(X, np.array(labels)[Y])
    text = to_c(model).text
    assert line in text
    compiled = Compiled(tmp_path, text)
    same(model.classes_[compiled.predict(X)], model, X)


def test_names_and_a_model_without_terms(tmp_path: Path) -> None:
    model = BudgetSVR(**options("rbf")).fit(X, np.full(len(X), 7.0))
    text = to_c(model, name="seven").text
    assert "seven_values" in text
    assert "@" not in text
    compiled = Compiled(tmp_path, to_c(model).text)
    close(compiled.values(X, 1), np.full(len(X), 7.0))
    assert to_c(model).difference == 0.0


def test_what_is_refused() -> None:
    model = BudgetSVC(**options("rbf")).fit(X, Y)
    with pytest.raises(ValueError, match="name must be one that C allows, not '1x'"):
        to_c(model, name="1x")
    with pytest.raises(ValueError, match="storage"):
        to_c(model, storage="int4")
    with pytest.raises(NotFittedError, match="nothing to write"):
        to_c(BudgetSVC())
    far = BudgetSVC(C=1e-12, kernel="linear", maintenance="remove", budget=5).fit(1e6 * X, Y)
    with pytest.raises(ValueError, match="float16 ends at 65504"):
        to_c(far, storage="float16")
    called = BudgetSVC(kernel=lambda A, B: A @ B.T, maintenance="remove", budget=5).fit(X, Y)
    with pytest.raises(ValueError, match="C cannot express the kernel"):
        to_c(called)
    with pytest.raises(ValueError, match="begins with a Normalizer"):
        to_c(make_pipeline(Normalizer(), BudgetSVC(budget=5)).fit(X, Y))
    with pytest.raises(ValueError, match="not 3 steps"):
        to_c(make_pipeline(StandardScaler(), StandardScaler(), BudgetSVC(budget=5)).fit(X, Y))
    with pytest.raises(ValueError, match="a StandardScaler cannot be written"):
        to_c(StandardScaler().fit(X))

"""Values far from 1, kernels near a constant, and rows far from all others."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_certificate, check_primal
from oracles.problems import Array
from scipy import sparse
from sequences.checks import check_error
from sequences.runs import SUBJECTS, Data
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR

MACHINES = [subject for subject in SUBJECTS if subject != "features"]
FORMS = {"dense": np.asarray, "sparse": sparse.csr_array, "float32": np.float32}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# ---- a large C asks for more digits than single precision has ----

CORNERS = [(2.0**-9, 2.0**13), (2.0**-11, 2.0**15), (2.0**3, 2.0**15)]
CORNERS += [pytest.param(2.0**-15, 2.0**15, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("gamma", "C"), CORNERS)
@pytest.mark.parametrize("form", FORMS)
def test_circles_are_separated_at_the_corners_of_a_grid(form: str, gamma: float, C: float) -> None:
    X, y = make_circles(1000, noise=0.05, factor=0.6, random_state=0)
    model = BudgetSVC(C=C, gamma=gamma, random_state=0).fit(FORMS[form](X), y)
    exact = SVC(C=C, gamma=gamma).fit(X, y).score(X, y)
    assert model.score(FORMS[form](X), y) > exact - 0.02
    assert not model.converged_ or model.duality_gap_ <= model.tol
    check_primal(model, np.asarray(FORMS["float32"](X) if form == "float32" else X, float), y)


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
def test_moons_with_a_wide_kernel_and_a_large_C(intercept: bool) -> None:
    X, y = make_moons(3000, noise=0.2, random_state=0)
    model = BudgetSVC(C=1e4, gamma=0.01, fit_intercept=intercept, random_state=0).fit(X, y)
    assert model.score(X, y) > SVC(C=1e4, gamma=0.01).fit(X, y).score(X, y) - 0.02
    check_primal(model, X, y)


@pytest.mark.slow
def test_three_classes_with_a_wide_kernel_and_a_large_C() -> None:
    X, _ = make_moons(900, noise=0.1, random_state=0)
    y = np.digitize(np.hypot(*X.T), [0.9, 1.2])
    model = BudgetSVC(C=1e5, gamma=0.003, random_state=0).fit(X, y)
    double = BudgetSVC(C=1e5, gamma=0.003, random_state=0, precision="double").fit(X, y)
    assert model.score(X, y) > double.score(X, y) - 0.02
    check_primal(model, X, y)


# ---- streams that move ----


@pytest.mark.parametrize("shift", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("polish", [True, False])
def test_later_blocks_may_be_elsewhere(shift: float, form: str, polish: bool) -> None:
    if form == "float32" and shift > 1e3:
        pytest.skip("the rows themselves have lost their digits")
    X, y = make_moons(3000, noise=0.2, random_state=0)
    first, rest = (
        FORMS[form](X[:300]),
        [FORMS[form](X[s : s + 900] + shift) for s in (300, 1200, 2100)],
    )
    labels = [y[300:1200], y[1200:2100], y[2100:]]
    blocks = [(first, y[:300]), *zip(rest, labels, strict=True)]
    model = BudgetSVC(C=10.0, gamma=2.0, budget=100, random_state=0, polish=polish)
    model.fit_stream(blocks)
    scores = [model.score(rows, wanted) for rows, wanted in zip(rest, labels, strict=True)]
    assert min(scores) > (0.95 if polish else 0.85)
    if polish:
        dense = [np.asarray(b.toarray() if sparse.issparse(b) else b, float) for b, _ in blocks]
        check_primal(model, np.vstack(dense), y)


@pytest.mark.parametrize("shift", [1e3, 1e5])
def test_later_blocks_of_regression_may_be_elsewhere(shift: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (2000, 1))
    y = np.sin(X[:, 0])
    moved = X + np.where(np.arange(2000) < 300, 0.0, shift)[:, np.newaxis]
    blocks = [(moved[s : s + 300], y[s : s + 300]) for s in range(0, 2000, 300)]
    model = BudgetSVR(C=10.0, gamma=1.0, budget=60, random_state=0).fit_stream(blocks)
    assert model.score(moved[300:], y[300:]) > 0.95
    check_primal(model, moved, y)


# ---- rows far from all others ----


@pytest.mark.parametrize("far", [1e4, 1e8, 1e12, -1e15])
@pytest.mark.parametrize("precision", ["auto", "double"])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_far_away_does_not_matter(far: float, precision: Any, classes: int) -> None:
    X, y = make_blobs(2000, 3, centers=classes, cluster_std=0.8, random_state=1)
    X = np.vstack([X, np.full((1, 3), far)])
    y = np.append(y, 0)
    model = BudgetSVC(C=10.0, gamma=0.5, budget=60, precision=precision, random_state=0).fit(X, y)
    assert (
        model.score(X[:-1], y[:-1]) > SVC(C=10.0, gamma=0.5).fit(X, y).score(X[:-1], y[:-1]) - 0.02
    )
    check_primal(model, X, y)


def test_one_row_far_away_does_not_matter_to_others() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(-3, 3, (1000, 1)), [[1e12]]])
    y = np.append(np.sin(X[:-1, 0]), 0.0)
    model = BudgetSVR(C=10.0, gamma=1.0, budget=40, random_state=0).fit(X, y)
    assert model.score(X[:-1], y[:-1]) > 0.98
    detector = BudgetOneClassSVM(nu=0.1, gamma=0.5, budget=40, random_state=0).fit(X)
    assert np.mean(detector.predict(X) < 0) == pytest.approx(0.1, abs=0.02)
    assert detector.predict(X[-1:]) == -1


@pytest.mark.parametrize("size", [1e6, 1e20, 3e38, 1e154, 1e300])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("subject", MACHINES)
def test_far_away_only_the_intercept_is_left(
    subject: str, precision: str, kernel: str, size: float
) -> None:
    data = Data(n=100, d=2)
    X, y = data.rows(), data.targets(subject)
    model = SUBJECTS[subject](
        budget=20,
        gamma=1.0,
        kernel=kernel,
        maintenance="remove",
        precision=precision,
        random_state=0,
    ).fit(X, y)
    far = size * np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    wanted = np.broadcast_to(model.intercept_, (4, len(model.intercept_)))
    if subject.endswith("classes"):
        model.set_params(decision_function_shape="ovo")  # the values of pairs, not votes
        found = model.decision_function(far).reshape(4, -1)
    elif subject == "one class":
        found, wanted = model.score_samples(far)[:, np.newaxis], np.zeros((4, 1))
    else:
        found = model.predict(far).reshape(4, -1)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-30)


# ---- kernels that vanish, weights and targets that are huge ----


@pytest.mark.sampled(5)
@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear"])
@pytest.mark.parametrize("maintenance", ["remove", "project"])
@pytest.mark.parametrize("subject", MACHINES)
def test_rows_that_are_all_alike(subject: str, maintenance: str, kernel: str, value: float) -> None:
    y = Data(n=100, d=3).targets(subject)
    X = np.full((100, 3), value)
    for intercept in (False, True):
        model = SUBJECTS[subject](budget=16, kernel=kernel, maintenance=maintenance, random_state=0)
        if subject != "one class":
            model.set_params(fit_intercept=intercept)
        model.fit(X, y)
        check_certificate(model)
        check_primal(model, X, y)
        assert np.isfinite(model.predict(X).astype(float)).all()
        stream = clone(model).partial_fit(X, y).partial_fit(X, y).polish_now()
        check_certificate(stream)


@pytest.mark.parametrize("kernel", ["linear", "sigmoid", "poly", "rbf"])
@pytest.mark.parametrize("seed", range(6))
def test_detectors_of_two_blocks(kernel: str, seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((60, 2))
    model = BudgetOneClassSVM(
        kernel=kernel, maintenance="remove", budget=5, nu=0.2, random_state=seed
    )
    model.partial_fit(X[:30]).partial_fit(X[30:]).polish_now()
    check_certificate(model)
    assert np.isfinite(model.decision_function(X)).all()


def _fitted_or_refused(model: Any, *arguments: Any, **named: Any) -> bool:
    """Fit; returns whether that was possible. An error must say what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(*arguments, **named)
        except ValueError as error:
            check_error(error)
            return False
    return True


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e6, 1e160, 1e300])
@pytest.mark.parametrize("targets", [1, 2])
def test_targets_of_any_size(size: float, targets: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 2))
    y = np.sin(X[:, :targets])
    model = BudgetSVR(C=10.0, gamma=1.0, budget=40, random_state=0)
    y = y if targets > 1 else y[:, 0]
    if _fitted_or_refused(model, X, size * y):
        np.testing.assert_allclose(model.predict(X) / size, y, atol=0.3)
        check_certificate(model)
    else:
        assert not 1e-100 < size < 1e100


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e12, 1e300, 1.7e308])
@pytest.mark.parametrize("subject", MACHINES)
def test_weights_of_any_size(subject: str, size: float) -> None:
    data = Data(n=80, d=2)
    X, y, weights = data.rows(), data.targets(subject), np.full(80, size)
    model = SUBJECTS[subject](budget=20, gamma=1.0, random_state=0)
    if _fitted_or_refused(model, X, y, sample_weight=weights):
        check_certificate(model)
        assert np.isfinite(model.predict(X).astype(float)).all()
        check_primal(model, X, y, weights)
    else:
        assert not 1e-100 < size < 1e100


# ---- targets far from all others ----


@pytest.mark.parametrize("far", [1e3, 1e6, -1e9])
@pytest.mark.parametrize("targets", [1, 2])
def test_one_target_far_away_does_not_matter(far: float, targets: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (1500, 1))
    y = np.repeat(np.sin(X), targets, axis=1) + 0.05 * rng.standard_normal((1500, targets))
    y[7, 0] = far
    given = y if targets > 1 else y[:, 0]
    model = BudgetSVR(C=10.0, gamma=1.0, epsilon=0.05, budget=60, random_state=0).fit(X, given)
    others = np.arange(1500) != 7
    found, wanted = model.predict(X).reshape(1500, -1)[others], y[others]
    exact = SVR(C=10.0, gamma=1.0, epsilon=0.05).fit(X, y[:, 0]).predict(X)[others]
    least = np.corrcoef(exact, wanted[:, 0])[0, 1] - 0.02
    for c in range(targets):
        assert np.corrcoef(found[:, c], wanted[:, c])[0, 1] > least
    check_primal(model, X, given)


@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
def test_plain_solvers_stay_finite(solver: str, loss: str, classes: int, C: float) -> None:
    X, y = _rings(classes)
    model = BudgetSVC(
        C=C, gamma=2.0, budget=50, solver=solver, loss=loss, polish=False, random_state=0
    )
    if _fitted_or_refused(model, X, y):
        assert np.isfinite(model.decision_function(X)).all()
        if C == 1.0:
            assert model.score(X, y) > 0.8


def _rings(classes: int) -> tuple[Array, Array]:
    X, y = make_moons(1000, noise=0.2, random_state=0)
    return (X, y) if classes == 2 else (X, y + (X[:, 0] > 1))

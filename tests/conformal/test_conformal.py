"""Coverage is as asked for, on real data; and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, datasets
from budgetsvm._common.class_values import class_values
from budgetsvm.conformal import ConformalClassifier, ConformalRegressor
from budgetsvm.model_selection import BudgetSVRCV

SPLITS = 2000


class Known:
    """Gives the answers of a model for rows by their number: it need not give them anew for every split."""

    def __init__(self, model, X) -> None:
        for name in ("predict_proba", "decision_function", "predict"):
            if hasattr(model, name):
                answers = getattr(model, name)(X)
                setattr(self, name, lambda rows, answers=answers: answers[rows])
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_


def shuffled(X, y):
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], y[order]


def coverages(y, covered):
    """Coverage of rows of one half by the other, of many random halves: exchangeable, as the guarantee asks for."""
    rng, found = np.random.default_rng(0), []
    for _ in range(SPLITS):
        order = rng.permutation(len(y))
        half = len(y) // 2
        found.append(covered(order[:half], order[half:]).mean())
    return np.array(found)


def assert_as_asked(found, coverage, n) -> None:
    """Coverage is ⌈(n + 1) c⌉ / (n + 1): of one split within two standard errors, and of all in the mean.

    The mean may be off by three: of the dozen tests here, two standard errors of so precise a mean would be too few for one
    in every second choice of splits, though nothing is wrong.
    """
    expected = np.ceil((n + 1) * coverage) / (n + 1)
    of_one = np.sqrt(coverage * (1 - coverage) * (1 / n + 1 / n))  # rows to calibrate, and to count
    assert abs(found[0] - expected) <= 2 * of_one
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - expected) <= 3 * error
    assert error < 0.05 * of_one


def of_classes(model, X, y, coverage) -> None:
    known = Known(model, X)

    def covered(one, other):
        sets = ConformalClassifier(known).calibrate(one, y[one])
        found = sets.predict_set(other, coverage)
        return found[np.arange(len(other)), np.searchsorted(model.classes_, y[other])]

    assert_as_asked(coverages(y, covered), coverage, len(y) // 2)


def of_targets(model, X, y, coverage) -> None:
    known = Known(model, X)

    def covered(one, other):
        intervals = ConformalRegressor(known).calibrate(one, y[one])
        low, high = intervals.predict_interval(other, coverage).T
        return (low <= y[other]) & (y[other] <= high)

    assert_as_asked(coverages(y, covered), coverage, len(y) // 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_coverage_of_digits(loss, coverage) -> None:
    X, y = shuffled(*load_digits(return_X_y=True))
    model = BudgetSVC(loss=loss, gamma=0.001, budget=30, random_state=0).fit(X[:600], y[:600])
    of_classes(model, X[600:], y[600:], coverage)


@pytest.mark.parametrize("coverage", [0.9, 0.97])
def test_coverage_of_cancer(coverage) -> None:
    X, y = shuffled(*load_breast_cancer(return_X_y=True))
    model = make_pipeline(StandardScaler(), BudgetSVC(random_state=0)).fit(X[:150], y[:150])
    of_classes(model, X[150:], y[150:], coverage)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_coverage_of_diabetes(coverage) -> None:
    X, y = shuffled(*load_diabetes(return_X_y=True))
    model = BudgetSVR(random_state=0).fit(X[:150], y[:150])
    of_targets(model, X[150:], y[150:], coverage)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["letter", "ijcnn", "cadata", "abalone"])
def test_coverage_of_large_data(name) -> None:
    try:
        data = datasets.load(name)
    except OSError:
        pytest.skip(f"{name} is not in the folder BUDGETSVM_DATA")
    X, y = shuffled(data.X, data.y)
    X, y = X[:6000], y[:6000]
    if name in ("cadata", "abalone"):
        of_targets(
            BudgetSVR(budget=100, random_state=0).fit(X[:2000], y[:2000]), X[2000:], y[2000:], 0.9
        )
    else:
        of_classes(
            BudgetSVC(budget=100, random_state=0).fit(X[:2000], y[:2000]), X[2000:], y[2000:], 0.9
        )


def test_a_better_model_has_smaller_sets() -> None:
    X, y = shuffled(*load_digits(return_X_y=True))
    sizes = []
    for budget in (3, 100):
        model = BudgetSVC(gamma=0.001, budget=budget, random_state=0).fit(X[:600], y[:600])
        sets = ConformalClassifier(model).calibrate(X[600:1200], y[600:1200])
        sizes.append(sets.predict_set(X[1200:], 0.99).sum(axis=1).mean())
    assert sizes[1] < 1.2 < sizes[0]


def test_sets_grow_with_the_coverage() -> None:
    X, y = shuffled(*load_digits(return_X_y=True))
    model = BudgetSVC(gamma=0.001, budget=20, random_state=0).fit(X[:600], y[:600])
    sets = ConformalClassifier(model).calibrate(X[600:1200], y[600:1200])
    found = [sets.predict_set(X[1200:], coverage) for coverage in (0.5, 0.9, 0.99)]
    assert (found[0] <= found[1]).all()
    assert (found[1] <= found[2]).all()
    assert found[0].sum() < found[1].sum() < found[2].sum()


def test_sparse_rows_several_targets_and_other_estimators() -> None:
    X, y = shuffled(*load_digits(return_X_y=True))
    rows = sparse.csr_array(X)
    names = np.array([f"digit {one}" for one in y])
    model = BudgetSVC(gamma=0.001, budget=30, random_state=0).fit(rows[:600], names[:600])
    sets = ConformalClassifier(model).calibrate(rows[600:1200], names[600:1200])
    assert sets.predict_set(rows[1200:]).shape == (597, 10)
    logistic = LogisticRegression(max_iter=1000).fit(X[:300] / 16, y[:300])
    assert ConformalClassifier(logistic).calibrate(X[300:600] / 16, y[300:600]).scores_.max() <= 1
    X, y = shuffled(*load_diabetes(return_X_y=True))
    both = np.column_stack([y, 100 * y])
    ends = (
        ConformalRegressor(BudgetSVR(random_state=0).fit(X[:200], both[:200]))
        .calibrate(X[200:300], both[200:300])
        .predict_interval(X[300:])
    )
    assert ends.shape == (142, 2, 2)
    lengths = ends[..., 1] - ends[..., 0]
    np.testing.assert_allclose(lengths[:, 1], 100 * lengths[:, 0], rtol=0.1)
    search = BudgetSVRCV([1, 10], [0.1, 1], budget=20, random_state=0).fit(X[:200], y[:200])
    assert ConformalRegressor(search).calibrate(X[200:], y[200:]).scores_.shape == (242,)
    column = y[200:, np.newaxis]
    assert ConformalRegressor(search).calibrate(X[200:], column).scores_.shape == (242,)


def test_labels_that_are_unknown_are_never_covered() -> None:
    X, y = shuffled(*load_breast_cancer(return_X_y=True))
    X = StandardScaler().fit_transform(X)
    model = BudgetSVC(random_state=0).fit(X[:200], y[:200])
    strange = np.where(np.arange(200) < 10, 7, y[200:400])
    sets = ConformalClassifier(model).calibrate(X[200:400], strange)
    assert np.isinf(sets.scores_).sum() == 10
    assert sets.predict_set(X[400:], 0.99).all()  # one in a hundred cannot be had otherwise


def test_what_is_refused() -> None:
    X, y = shuffled(*load_breast_cancer(return_X_y=True))
    X = StandardScaler().fit_transform(X)
    model = BudgetSVC(random_state=0).fit(X[:200], y[:200])
    with pytest.raises(TypeError, match="fitted classifier"):
        ConformalClassifier(BudgetSVC())
    with pytest.raises(TypeError, match="fitted regressor"):
        ConformalRegressor(model)
    with pytest.raises(NotFittedError, match="calibrate"):
        ConformalClassifier(model).predict_set(X)
    with pytest.raises(ValueError, match="X has 10 rows, and y 9"):
        ConformalClassifier(model).calibrate(X[:10], y[:9])
    sets = ConformalClassifier(model).calibrate(X[200:250], y[200:250])
    with pytest.raises(ValueError, match=r"50 rows are too few .* 99 at least"):
        sets.predict_set(X, 0.99)
    with pytest.raises(ValueError, match="between 0 and 1"):
        sets.predict_set(X, 1.0)
    targets = BudgetSVR(random_state=0).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="of the shape"):
        ConformalRegressor(targets).calibrate(X[:10], np.ones((10, 2)))
    with pytest.raises(ValueError, match="no label in y is one of the classes"):
        ConformalClassifier(BudgetSVC().fit(X[:200], np.arange(200) % 4)).calibrate(
            X[:9], ["a"] * 9
        )
    with pytest.raises(TypeError, match="a fitted regressor, not a BudgetOneClassSVM"):
        ConformalRegressor(BudgetOneClassSVM(random_state=0).fit(X[:50]))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("wrapped", [False, True])
def test_values_of_pairs_are_not_those_of_classes(n_classes: int, wrapped: bool) -> None:
    """Three classes have three pairs."""
    labels = np.arange(300) % n_classes
    rows = np.random.default_rng(0).normal(size=(300, 2)) + labels[:, np.newaxis]
    scores = []
    for shape in ("ovr", "ovo"):
        model = BudgetSVC(decision_function_shape=shape, random_state=0)
        model = make_pipeline(StandardScaler(), model) if wrapped else model
        model.fit(rows[:200], labels[:200])
        scores.append(ConformalClassifier(model).calibrate(rows[200:], labels[200:]).scores_)
        np.testing.assert_array_equal(
            class_values(model, rows).shape[1:], [n_classes] * (n_classes > 2)
        )
    np.testing.assert_array_equal(*scores)

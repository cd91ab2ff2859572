"""No false alarms: models that are as they should be, of data sets that are."""

from functools import partial

import numpy as np
import pytest
from sklearn import datasets as toys
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, datasets, diagnose
from budgetsvm.model_selection import BudgetSVCCV


def halves(X, y, most=8000):
    """Rows in random order, three quarters to train on."""
    order = np.random.default_rng(0).permutation(X.shape[0])[:most]
    X, y = X[order], y[order]
    used = 3 * len(y) // 4
    return X[:used], y[:used], X[used:], y[used:]


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


CLASSES = {
    "digits": lambda: scaled(toys.load_digits),
    "cancer": lambda: scaled(toys.load_breast_cancer),
    "wine": lambda: scaled(toys.load_wine),
    "iris": lambda: toys.load_iris(return_X_y=True),
    "moons": lambda: toys.make_moons(3000, noise=0.25, random_state=0),
    "circles": lambda: toys.make_circles(2000, noise=0.1, factor=0.5, random_state=0),
    "blobs": lambda: toys.make_blobs(2000, centers=5, cluster_std=2, random_state=0),
    "hastie": lambda: toys.make_hastie_10_2(4000, random_state=0),
    "gaussians": lambda: toys.make_gaussian_quantiles(n_samples=3000, n_classes=3, random_state=0),
}
TARGETS = {
    "diabetes": lambda: scaled(toys.load_diabetes),
    "friedman": lambda: toys.make_friedman1(3000, noise=1.0, random_state=0),
    "friedman 2": lambda: scaled(partial(_friedman, toys.make_friedman2)),
    "friedman 3": lambda: scaled(partial(_friedman, toys.make_friedman3)),
}
MACHINES = {
    "default": BudgetSVC(random_state=0),
    "budget": BudgetSVC(budget=300, random_state=0),
    "logistic": BudgetSVC(loss="log_loss", random_state=0),
}


def _friedman(make, return_X_y):
    return make(2000, noise=0.1, random_state=0)


def silent(model, X, y) -> None:
    assert [f"{one.about}: {one.sentence}" for one in diagnose(model, X, y).advice] == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, machine) -> None:
    X, y, X_new, y_new = halves(*CLASSES[name]())
    model = MACHINES[machine].fit(X, y)
    silent(model, X_new, y_new)
    silent(model, X, y)


@pytest.mark.parametrize("name", TARGETS)
def test_targets(name) -> None:
    X, y, X_new, y_new = halves(*TARGETS[name]())
    for model in (BudgetSVR(random_state=0), BudgetSVR(budget=300, random_state=0)):
        silent(model.fit(X, y), X_new, y_new)


def test_one_class() -> None:
    X, _, X_new, _ = halves(*CLASSES["moons"]())
    silent(BudgetOneClassSVM(nu=0.1, random_state=0).fit(X), X_new, None)


@pytest.mark.slow
def test_a_search() -> None:
    X, y, X_new, y_new = halves(*CLASSES["moons"](), most=1000)
    silent(BudgetSVCCV([1, 10], [0.3, 3], random_state=0).fit(X, y), X_new, y_new)


@pytest.mark.sampled(4)
@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        *("adult", "ijcnn", "cod-rna", "susy", "mushrooms", "letter", "pendigits", "satimage"),
        *("usps-esl", "abalone", "cadata", "cpusmall"),
    ],
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*subset:UserWarning")
def test_real_data(name) -> None:
    try:
        data = datasets.load(name)
    except OSError:
        pytest.skip(f"{name} is not in the folder BUDGETSVM_DATA")
    X, y, X_new, y_new = halves(data.X, data.y, 12_000)
    regression = name in ("abalone", "cadata", "cpusmall")
    kind = BudgetSVR if regression else BudgetSVC
    silent(kind(random_state=0).fit(X, y), X_new, y_new)
    silent(kind(budget=500, random_state=0).fit(X, y), X_new, y_new)

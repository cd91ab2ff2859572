"""Features that were not scaled are named; those that need not be are left alone."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.kernels import Gaussian, Laplacian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] > 0).astype(int)
INCOME = X * [1, 1, 1e5, 1]


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR, BudgetOneClassSVM])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_feature_that_dwarfs_the_others_is_named(kind: Any, method: str) -> None:
    with pytest.warns(UserWarning, match=r"feature 2 has a spread of 9.*StandardScaler") as told:
        getattr(kind(budget=20), method)(INCOME, Y)
    assert len(told) == 1
    assert told[0].filename == __file__


def test_by_its_name() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(INCOME, columns=["age", "height", "income", "weight"])
    with pytest.warns(UserWarning, match="feature 'income' has"):
        BudgetSVC(kernel=Gaussian()).fit(frame, Y)


@pytest.mark.parametrize(
    "options", [{"gamma": 0.1}, {"kernel": Laplacian(gamma=1e-5)}, {"kernel": "linear"}]
)
def test_a_gamma_that_was_chosen(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        BudgetSVC(budget=20, polish=False, epochs=1, **options).fit(INCOME, Y)


def counts() -> Any:
    return RNG.poisson(np.geomspace(1e-3, 30, 60), size=(2000, 60)).astype(float)


@pytest.mark.parametrize(
    "rows",
    [
        X,
        X * [1, 10, 100, 500],
        np.column_stack([X, np.full(300, 1e9), np.zeros(300)]),
        np.column_stack([X, 1e9 + 1e-3 * X[:, 0]]),
        counts(),
        sparse.csr_matrix(INCOME),
        np.eye(500)[RNG.integers(0, 500, 3000)],
        np.column_stack([3 * RNG.normal(size=3000), np.arange(3000) % 3000 == 7]),
        load_digits().data,
        load_iris().data,
        load_wine().data,
        INCOME[:, 2:3],
        np.zeros((50, 3)),
    ],
    ids=range(13),
)
def test_nothing_is_said_of_others(rows: Any) -> None:
    y = np.arange(rows.shape[0]) % 2
    BudgetSVC(budget=10, epochs=0.1, polish=False, random_state=0).fit(rows, y)


def test_scaling_is_the_way_out() -> None:
    model = make_pipeline(StandardScaler(), BudgetSVC()).fit(INCOME, Y)
    assert model.score(INCOME, Y) > 0.95

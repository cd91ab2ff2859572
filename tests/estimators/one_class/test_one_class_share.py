"""One-class machines call the share nu of the rows outliers, whatever was done before."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from oracles.problems import Array
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.svm import OneClassSVM

from budgetsvm import BudgetOneClassSVM

FORMS = {"dense": np.asarray, "sparse": sparse.csr_array, "float32": np.float32}


@pytest.fixture(scope="module")
def cloud() -> Array:
    return np.random.default_rng(0).standard_normal((2000, 2))


def _share(model: BudgetOneClassSVM, X: Any) -> float:
    return float(np.mean(model.predict(X) < 0))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("nu", [0.1, 0.5])
@pytest.mark.parametrize("reservoir", [50_000, 100, 0])
def test_partial_fit_after_fit_keeps_the_share(
    cloud: Array, form: str, blocks: int, nu: float, reservoir: int
) -> None:
    X = FORMS[form](cloud)
    model = BudgetOneClassSVM(
        nu=nu, gamma=0.5, budget=40, reservoir=reservoir, random_state=0, n_jobs=1
    ).fit(X)
    assert _share(model, X) == pytest.approx(nu, abs=0.02)
    for _ in range(blocks):
        model.partial_fit(X)
    assert _share(model, X) == pytest.approx(nu, abs=0.1 if reservoir == 100 else 0.03)


@pytest.mark.parametrize("weights", [None, "wide"])
def test_partial_fit_after_fit_goes_on_with_the_same_scores(cloud: Array, weights: Any) -> None:
    w = None if weights is None else 10 ** np.random.default_rng(1).uniform(-1, 1, len(cloud))
    model = BudgetOneClassSVM(nu=0.1, gamma=0.5, budget=40, random_state=0)
    before = model.fit(cloud, sample_weight=w).score_samples(cloud)
    model.partial_fit(cloud[:200], sample_weight=None if w is None else w[:200])
    after = model.score_samples(cloud)
    assert np.corrcoef(before, after)[0, 1] > 0.9
    # 200 rows more make scores a tenth larger: they are sums over all rows
    assert np.median(after) == pytest.approx(1.1 * np.median(before), rel=0.25)


def _moons(n: int) -> Array:
    return make_moons(n, noise=0.2, random_state=0)[0]


def _normal(n: int) -> Array:
    return np.random.default_rng(0).standard_normal((n, 5))


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.2, 1.0, pytest.param(5.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("nu", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("rows", [_moons, _normal])
def test_scores_are_those_of_the_exact_machine(rows: Any, gamma: float, nu: float) -> None:
    X = rows(1000)
    exact = OneClassSVM(nu=nu, gamma=gamma, tol=1e-6).fit(X)
    # Scores go as the root of the gap: a tenth of the usual one shows whether C is the right one.
    model = BudgetOneClassSVM(nu=nu, gamma=gamma, budget=1000, random_state=0, tol=1e-4).fit(X)
    assert model.converged_
    wanted, found = exact.score_samples(X), model.score_samples(X)
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found / scale, wanted / scale, atol=0.04)
    assert _share(model, X) == pytest.approx(nu, abs=0.02)


def _exact(kernel: str) -> Any:
    return partial(laplacian_kernel, gamma=1.0) if kernel == "laplacian" else kernel


@pytest.mark.parametrize("kernel", ["linear", "sigmoid", "poly", "laplacian"])
@pytest.mark.parametrize("nu", [0.1, 0.9])
def test_a_share_that_is_missed_is_said_so(kernel: str, nu: float) -> None:
    """With a kernel for which there may be no such C: the scores are right, or there is a warning."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    model = BudgetOneClassSVM(
        nu=nu, kernel=kernel, maintenance="remove", gamma=1.0, budget=300, random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.set_params(time_limit=10).fit(X)  # it takes a blink, or goes on for minutes
    assert {one.category for one in caught} <= {ConvergenceWarning}
    if caught:
        assert not model.converged_ or "nu" in str(caught[0].message)
        return
    exact = OneClassSVM(nu=nu, kernel=_exact(kernel), gamma=1.0, tol=1e-6).fit(X).score_samples(X)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(model.score_samples(X) / scale, exact / scale, atol=0.05)

"""Several classes, regression and novelty detection on a cluster, beside one machine."""

import pickle
from typing import Any

import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import make_blobs

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.distributed import DaskBudgetOneClassSVM, DaskBudgetSVC, DaskBudgetSVR

CHUNK = 400


def lazy(values: Any) -> Any:
    return da.from_array(values, chunks=(CHUNK, *values.shape[1:]))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(client: Any, multi_class: str) -> None:
    X, y = make_blobs(1500, centers=4, cluster_std=2.5, random_state=0)
    options: dict[str, Any] = {"C": 1.0, "budget": 40, "random_state": 0}
    options["multi_class"] = multi_class
    found = DaskBudgetSVC(**options).fit(lazy(X), lazy(y))
    local = BudgetSVC(**options).fit(X, y)
    assert found.converged_
    assert found.objective_[0] == pytest.approx(local.objective_[0], rel=0.02)
    assert found.score(X, y) == pytest.approx(local.score(X, y), abs=0.01)
    values = found.decision_function(lazy(X))
    assert values.shape == (1500, 4)
    np.testing.assert_array_equal(values.compute(), found.decision_function(X))
    np.testing.assert_array_equal(found.predict(lazy(X)).compute(), found.predict(X))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_regression(client: Any, n_targets: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (1500, 2))
    y = np.column_stack([np.sin(2 * X[:, 0]), 50 + 7 * X[:, 1] ** 2])[:, :n_targets]
    y = y + 0.1 * rng.standard_normal(y.shape)
    targets = y[:, 0] if n_targets == 1 else y
    options: dict[str, Any] = {"C": 1.0, "budget": 40, "random_state": 0}
    found = DaskBudgetSVR(**options).fit(lazy(X), lazy(targets))
    local = BudgetSVR(**options).fit(X, targets)
    assert type(found.to_local()) is BudgetSVR
    assert found.converged_
    assert found.objective_[0] == pytest.approx(local.objective_[0], rel=0.02)
    assert found.score(X, targets) == pytest.approx(local.score(X, targets), abs=0.01)
    np.testing.assert_array_equal(found.predict(lazy(X)).compute(), found.predict(X))
    assert pickle.loads(pickle.dumps(found)).target_scale_.tolist() == found.target_scale_.tolist()


def test_novelty_detection(client: Any) -> None:
    X = np.random.default_rng(0).standard_normal((1500, 2))
    options: dict[str, Any] = {"nu": 0.1, "gamma": 0.2, "budget": 30, "random_state": 0}
    found = DaskBudgetOneClassSVM(**options).fit(lazy(X))
    local = BudgetOneClassSVM(**options).fit(X)
    assert type(found.to_local()) is BudgetOneClassSVM
    assert found.converged_
    assert np.mean(found.predict(lazy(X)).compute() < 0) == pytest.approx(0.1, abs=0.005)
    agree = found.predict(X) == local.predict(X)
    assert agree.mean() > 0.97
    scores = found.score_samples(lazy(X))
    np.testing.assert_array_equal(scores.compute(), found.score_samples(X))
    np.testing.assert_array_equal(
        found.decision_function(lazy(X)).compute(), found.score_samples(X) - found.offset_
    )


def test_targets_are_needed(client: Any) -> None:
    with pytest.raises(ValueError, match="y is missing"):
        DaskBudgetSVR(budget=10).fit(lazy(np.random.default_rng(0).standard_normal((900, 2))))

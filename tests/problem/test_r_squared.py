"""R² of regressions: that of scikit-learn, and the same in all units."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import r2_score

from budgetsvm import BudgetSVR
from budgetsvm._problem.r_squared import r_squared

RNG = np.random.default_rng(0)
Y = RNG.normal(size=(40, 2))
FOUND = Y + RNG.normal(size=Y.shape)
WEIGHTS = RNG.uniform(size=40)


@pytest.mark.parametrize("columns", [0, slice(0, 1), slice(0, 2)])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
def test_it_is_that_of_scikit_learn(columns: Any, weights: Any, dtype: Any) -> None:
    y = (8 * Y[:, columns]).astype(dtype)
    found = FOUND[:, columns]
    expected = r2_score(y, found, sample_weight=weights)
    assert r_squared(y, found, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("units", [(1e-300, 1.0), (1.0, 1e300), (1e160, 1e-160), (1e305, 1e305)])
@pytest.mark.parametrize("multioutput", ["raw_values", "uniform_average"])
def test_it_is_the_same_in_all_units(units: tuple[float, float], multioutput: str) -> None:
    found = r_squared(Y * units, FOUND * units, multioutput=multioutput)
    np.testing.assert_allclose(found, r2_score(Y, FOUND, multioutput=multioutput), rtol=1e-12)


@pytest.mark.parametrize("y", [[0.0, 0.0, 0.0], [2, 2, 2]])
def test_constant_targets(y: Any) -> None:
    for found in (y, [0.0, 1.0, 2.0]):
        assert r_squared(y, found) == r2_score(y, found)


def test_complaints_are_those_of_scikit_learn() -> None:
    with pytest.raises(ValueError, match="NaN"):
        r_squared([1.0, np.nan], [1.0, 2.0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        r_squared([1.0, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_a_machine_and_its_search_have_it_in_all_units(
    scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetsvm._estimators.tuning.tuned_fit._CS", 2)
    X = RNG.normal(size=(60, 2))
    y = X[:, 0] ** 2
    plain = BudgetSVR(C="tune", budget=10, random_state=0).fit(X, y)
    other = BudgetSVR(C="tune", budget=10, random_state=0).fit(X, y * scale)
    assert other.best_params_ == plain.best_params_
    assert other.best_score_ == pytest.approx(plain.best_score_, rel=1e-3)
    assert other.score(X, y * scale) == pytest.approx(plain.score(X, y), rel=1e-3)

"""A search finds the same in all units of the features, as far as their squares are numbers."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC
from budgetsvm.model_selection import BudgetSVCCV

X, Y = make_moons(120, noise=0.3, random_state=0)
TUNED = {
    "tune": BudgetSVC(C=1.0, gamma="tune", budget=20, random_state=0),
    "search": BudgetSVCCV(Cs=[1.0], gammas=9, budget=20, cv=3, random_state=0),
}


@pytest.mark.parametrize("kind", TUNED)
@pytest.mark.parametrize("power", [-510, -508, -100, 100, 500])
def test_units_do_not_matter(kind: str, power: int) -> None:
    """Also where the largest of some gammas, or the smallest, would be none."""
    unit: Any = np.ldexp(1.0, power)
    usual, other = (TUNED[kind].fit(rows, Y).predict(rows) for rows in (X, X * unit))
    assert np.mean(usual == other) > 0.9


@pytest.mark.parametrize("model", [BudgetSVC(), *TUNED.values()])
@pytest.mark.parametrize(("unit", "size"), [(1e-157, "small"), (1e157, "large")])
def test_squares_that_are_no_numbers(model: Any, unit: float, size: str) -> None:
    with pytest.raises(ValueError, match=f"values too {size} for their squares; scale"):
        model.fit(X * unit, Y)

"""scikit-learn's own checks of the searches."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV

SMALL: dict[str, Any] = {"budget": 20, "cv": 2, "n_jobs": 1, "random_state": 0}


def different(estimator: Any) -> dict[str, str]:
    """Return checks that no search can pass: rows that are repeated, or left out, make other folds."""
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": "folds are of rows, not of weights"
        for kind in ("dense", "sparse")
    }


@pytest.mark.sampled(3)
@parametrize_with_checks(
    [BudgetSVCCV([1.0], [0.1], **SMALL), BudgetSVRCV([1.0], [0.1], **SMALL)],
    expected_failed_checks=different,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)

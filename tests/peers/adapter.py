"""Ours in the place of scikit-learn's SVC, SVR and OneClassSVM: their parameters, and a budget that holds all rows."""

import inspect
from copy import copy
from typing import Any

import numpy as np
from sklearn import svm

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR

# What theirs is like: exact, in double precision, the same each time.
_EXACT: dict[str, Any] = {"budget": 100_000, "precision": "double", "n_jobs": 1, "random_state": 0}
_HARD_MARGIN = 1e10  # what infinity stands for, in units of the targets as every other C
_BIAS = {"fit_intercept": True}


def _with_their_signature(theirs: type[Any], tol: float = 1e-9) -> Any:
    """Let a class take the parameters of another one, and those of its own that are not among these."""

    def complete(cls: type[Any]) -> type[Any]:
        own = {
            name: parameter.default
            for name, parameter in inspect.signature(cls.__init__).parameters.items()
            if name != "self"
        }
        given = inspect.signature(theirs.__init__)
        names = [name for name in given.parameters if name != "self"]
        constant = {**own, **_EXACT, "tol": tol, **(_BIAS if "fit_intercept" in own else {})}

        def __init__(self: Any, *args: Any, **named: Any) -> None:
            bound = given.bind(self, *args, **named)
            bound.apply_defaults()
            for name, value in constant.items():
                setattr(self, name, value)
            for name in names:
                if name != "tol":  # theirs is another one
                    setattr(self, name, bound.arguments[name])

        __init__.__signature__ = given  # type: ignore[attr-defined]
        cls.__init__ = __init__
        cls.__name__ = cls.__qualname__ = theirs.__name__
        return cls

    return complete


@_with_their_signature(svm.SVC)
class SVC(BudgetSVC):
    """Ours."""

    @property
    def _gamma(self) -> float:
        """What theirs keeps in private: ours is public."""
        return float(self.kernel_.gamma)


@_with_their_signature(svm.SVR)
class SVR(BudgetSVR):
    """Ours, with C and epsilon in units of the targets, as docs/coming-from/svc.md says."""

    def _targets(self, encoded: np.ndarray, weights: np.ndarray) -> Any:
        ours, scale = copy(self), float(self.target_scale_[0])
        ours.C, ours.epsilon = min(self.C, _HARD_MARGIN) / scale, self.epsilon / scale
        return BudgetSVR._targets(ours, encoded, weights)


@_with_their_signature(svm.OneClassSVM, tol=1e-5)
class OneClassSVM(BudgetOneClassSVM):
    """Ours."""


OURS = {"SVC": SVC, "SVR": SVR, "OneClassSVM": OneClassSVM}

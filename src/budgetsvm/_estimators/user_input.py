"""What users give, parameters and data: checked, and turned into what training needs."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from budgetsvm._common.checks import (
    check_choice,
    check_count,
    check_integer,
    check_number,
    check_truth,
)
from budgetsvm._common.records import PlainPickles
from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.reporting import Reports
from budgetsvm._estimators.saving import Saves
from budgetsvm._exact.budget import LEARNED
from budgetsvm._learn.settings import Settings
from budgetsvm.kernels import make_kernel
from budgetsvm.kernels._interface import Gamma
from budgetsvm.maintenance import make_maintenance
from budgetsvm.monitoring._interface import Monitor
from budgetsvm.solvers import make_solver

Epochs: TypeAlias = float | Literal["auto"]
Bias: TypeAlias = bool | Literal["auto"]
Penalty: TypeAlias = float | Literal["scale", "tune"]
Budget: TypeAlias = int | Literal["auto"] | None
PrecisionName: TypeAlias = Literal["auto", "single", "double"]


class TakesParameters(BaseEstimator):
    """An estimator whose ``__init__`` keeps all that it is given."""

    def _set_parameters(self, given: dict[str, Any]) -> None:
        """Take over what ``__init__`` was called with, given as its ``locals()``."""
        for name, value in given.items():
            if name not in ("self", "__class__"):  # a subclass may have more of its own
                setattr(self, name, value)


class MachineParameters(Saves, Reports, PlainPickles, TakesParameters):
    """An estimator with parameters; ``__init__`` of a subclass names and documents them."""

    kernel: Any
    gamma: Gamma
    degree: int
    coef0: float
    budget: Budget
    solver: Any
    maintenance: Any
    epochs: Epochs
    polish: bool
    basis: Any
    fit_intercept: Bias = False
    tol: float
    max_passes: int
    time_limit: float | None
    memory_limit: float | None
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    reservoir: int
    warm_start: bool
    precision: PrecisionName
    random_state: Any
    n_jobs: int | None
    monitor: Any
    verbose: int
    _may_be_tuned: ClassVar[bool] = False  # whether C and gamma may be "tune"

    def _settings(self) -> Settings:
        """Check all parameters, and return those that training needs."""
        for name in ("polish", "early_stopping", "warm_start"):
            check_truth(name, getattr(self, name))
        if not isinstance(self.verbose, bool):
            check_number("verbose", self.verbose)
        if self.epochs != "auto":
            check_number("epochs", self.epochs, above=0)
        if self.fit_intercept not in (True, False, "auto"):
            message = f"fit_intercept must be True, False or 'auto', not {self.fit_intercept!r}"
            raise ValueError(message)
        self._check_polish()
        self._check_stopping()
        check_choice("precision", self.precision, ("auto", "single", "double"))
        threads = count_threads(self.n_jobs)
        if not (self.monitor is None or isinstance(self.monitor, Monitor)):
            message = f"monitor must be an object of budgetsvm.monitoring, not {self.monitor!r}"
            raise ValueError(message)
        budget = check_budget(self.budget)
        self._check_gamma()
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        maintenance = make_maintenance(self.maintenance, kernel, budget, needed=self._learns_terms)
        solver, intercept = make_solver(self.solver), self._has_bias
        return Settings(kernel, solver, maintenance, budget, intercept, threads)

    def _check_gamma(self) -> None:
        """Refuse words that gamma cannot be here; of others than those, kernels know."""
        if "gamma" in self._tuned:
            message = "gamma must be a number, 'scale' or 'auto', not 'tune', which is for fit(X, y) alone"
            raise ValueError(message)
        if not self._may_be_tuned or self.kernel not in ("rbf", "laplacian", "poly", "sigmoid"):
            return
        if isinstance(self.gamma, str) and self.gamma not in ("scale", "auto"):
            message = (
                f"gamma must be a positive number, 'scale', 'auto' or 'tune', not {self.gamma!r}"
            )
            raise ValueError(message)

    def _check_polish(self) -> None:
        check_number("tol", self.tol, above=0)
        check_integer("max_passes", self.max_passes, least=1)
        for name in ("time_limit", "memory_limit"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0)
        if isinstance(self.basis, str):
            check_choice("basis", self.basis, ("learned", "random", "kmeans"))
        if not self._learns_terms and not (self.polish and self.budget is not None):
            message = (
                "terms that are not learned get their coefficients from the polish: set polish=True "
                "and a budget, or basis='learned'"
            )
            raise ValueError(message)

    def _check_stopping(self) -> None:
        check_integer("n_iter_no_change", self.n_iter_no_change, least=1)
        check_integer("reservoir", self.reservoir, least=0)
        if self.early_stopping and not self._learns_terms:
            message = (
                "early_stopping ends the learning of terms, which a basis takes the place of: "
                "set early_stopping=False, or basis='learned'"
            )
            raise ValueError(message)
        if not 0 < check_number("validation_fraction", self.validation_fraction) < 1:
            message = f"validation_fraction must be between 0 and 1, not {self.validation_fraction}"
            raise ValueError(message)

    @property
    def _tuned(self) -> tuple[str, ...]:
        """The parameters that are to be found by cross-validation."""
        given = {name: getattr(self, name, None) for name in ("C", "gamma")}
        return tuple(name for name in given if isinstance(given[name], str) and given[name] == TUNE)

    def _untuned(self) -> Self:
        """Return itself or, where parameters are to be found, a copy with the default in their place."""
        return clone(self).set_params(**dict.fromkeys(self._tuned, SCALED)) if self._tuned else self

    @property
    def _most_terms(self) -> int:
        """The budget, whole though it may be given as 1e3; 0 for none."""
        budget = self.__dict__.get("budget_") if self.budget == AUTO else self.budget
        return int(budget or 0)

    @property
    def _learns_terms(self) -> bool:
        return isinstance(self.basis, str) and self.basis == "learned"

    @property
    def _polishes(self) -> bool:
        return bool(self.polish) and self.budget is not None

    @property
    def _has_bias(self) -> bool:
        return self._polishes if self.fit_intercept == "auto" else bool(self.fit_intercept)


#: The budget is to depend on the data.
AUTO = "auto"
_LARGEST_WEIGHT = 1e100
#: A C of 1, divided by the share of the kernel that the span of the terms has.
SCALED = "scale"
#: C, or gamma, are to be found by cross-validation.
TUNE = "tune"
_HARD_MARGIN = 1e10  # as C: beyond, rounding errors of the losses exceed the norm of a model


def check_budget(budget: object) -> int | None:
    """Return the budget, as far as it is known without data."""
    if budget is None:
        return None
    if isinstance(budget, str):
        if budget != AUTO:
            message = f"budget must be a number, None or 'auto', not {budget!r}"
            raise ValueError(message)
        return LEARNED
    return check_count("budget", budget, least=1)


def check_penalty(C: object, *, may_be_tuned: bool = False) -> float:
    """Return C as a number to compute with, before the span of terms is known.

    Infinity asks for a hard margin, where there is one. `may_be_tuned`: another call may find it.
    """
    if isinstance(C, str):
        if C != SCALED:
            hint = ", which is for fit(X, y) alone" if C == TUNE else ""
            words = (
                "a number, 'scale' or 'tune'"
                if may_be_tuned and not hint
                else "a number, or 'scale'"
            )
            message = f"C must be {words}, not {C!r}{hint}"
            raise ValueError(message)
        return 1.0
    if isinstance(C, float) and np.inf == C:
        return _HARD_MARGIN
    return check_number("C", C, above=0)


def check_class_weight(weights: object) -> None:
    """Raise a ValueError unless these may be weights of classes; their labels are not known yet."""
    if not (weights is None or weights == "balanced" or isinstance(weights, Mapping)):
        message = f"class_weight must be a dict, 'balanced' or None, not {weights!r}"
        raise ValueError(message)


def find_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the labels in y, or say what is wrong with them."""
    numbers = y.ndim == 1 and y.dtype.kind in "iubf"
    classes: NDArray[Any] = np.unique(y) if numbers else np.empty(0)
    whole = y.dtype.kind != "f" or bool(
        (np.isfinite(classes) & (classes == np.trunc(classes))).all()
    )
    # Where few whole numbers come again and again these are labels for sure, and the checks take long.
    if not (whole and 0 < 2 * len(classes) <= len(y)):
        check_classification_targets(y)
        classes = np.unique(y)
    if len(classes) == 1:
        message = f"y has only one class, {classes.tolist()[0]!r}; a classifier needs two"
        raise ValueError(message)
    return classes


def weighted_rows(
    X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, classes: NDArray[Any] | None
) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
    """Check the weights, and leave out rows of weight zero; all `classes` must remain."""
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if weights.max(initial=0.0) > _LARGEST_WEIGHT:
        message = (
            f"sample_weight has {weights.max():.3g}, too large to compute with; scale the weights"
        )
        raise ValueError(message)
    used = weights > 0
    if used.all():
        return X, y, weights
    if not used.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    X, y = X[used], y[used]
    if classes is not None and len(np.unique(y)) < len(classes):
        missing = np.setdiff1d(classes, y).tolist()
        message = (
            f"all rows of class {missing[0]!r} have weight zero; a classifier needs all its classes"
        )
        raise ValueError(message)
    return X, y, weights[used]


def generator(random_state: Any) -> np.random.Generator:
    """Turn what scikit-learn accepts as a random_state, or a Generator, into a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))

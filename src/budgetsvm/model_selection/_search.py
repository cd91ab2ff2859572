"""What both searches have in common: a fit that looks for the best cell, and methods of the machine that was found."""

from abc import abstractmethod
from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from budgetsvm._common.checks import check_truth
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.machine import all_or_nothing
from budgetsvm._estimators.reporting import Reports
from budgetsvm._estimators.tuning.preparation import Data, Wanted
from budgetsvm._estimators.tuning.search import search
from budgetsvm._estimators.tuning.tuned_fit import refitted
from budgetsvm._estimators.user_input import TakesParameters

_Method = TypeVar("_Method", bound=Callable[..., Any])


def machine_has(name: str) -> Callable[[_Method], _Method]:
    """Let a search have a method where its machine has it."""

    def check(found: Any) -> bool:
        getattr(found.__dict__.get("best_estimator_", None) or found._machine(), name)
        return True

    return available_if(check)  # type: ignore[no-any-return]


class Search(Reports, TakesParameters):
    """A search. Subclasses say of what, and document the parameters."""

    _KIND: ClassVar[type[Any]]  #: of the machine

    Cs: Any
    gammas: Any
    budget: Any
    cv: Any
    scoring: Any
    refit: bool
    halving: bool
    time_limit: float | None
    random_state: Any
    n_jobs: int | None
    verbose: int
    best_estimator_: Any
    n_features_in_: int

    @abstractmethod
    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Search, and fit the best machine."""

    def _machine(self) -> BudgetMachine:
        """Return a machine with all parameters that are not searched for."""
        own, known = self.get_params(deep=False), self._KIND._get_param_names()
        given = {name: own[name] for name in known if name in own and name != "budget"}
        machine: BudgetMachine = self._KIND(**given)
        return machine

    @all_or_nothing
    def _search(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> None:
        started, machine, refit = perf_counter(), self._machine(), check_truth("refit", self.refit)
        wanted = Wanted(
            self.Cs,
            self.gammas,
            self.budget,
            self.cv,
            self.scoring,
            self.halving,
            self.n_jobs,
            self.random_state,
            self.time_limit,
            int(self.verbose),
            refit=refit,
        )
        data = Data(X, y, groups, sample_weight)
        found = search(machine, wanted, data, started)
        self.cv_results_, self.best_index_ = found.results, found.index
        self.best_params_, self.best_score_ = found.parameters, found.score
        self.n_splits_, self.scorer_ = found.n_splits, found.scorer
        self.search_complete_ = found.complete
        for name in ("budget_curve_", "best_estimator_", "refit_time_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if found.curve is not None:
            self.budget_curve_ = found.curve
        if not refit:
            self.n_features_in_ = machine.n_features_in_
            return
        begun = perf_counter()
        fitted: Any = refitted(machine, found, data, started)
        self.refit_time_ = perf_counter() - begun
        self.best_estimator_, self.n_features_in_ = fitted, fitted.n_features_in_
        if hasattr(fitted, "feature_names_in_"):
            self.feature_names_in_ = fitted.feature_names_in_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the best machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return np.asarray(self._best().predict(X))

    def score(self, X: Any, y: Any) -> float:
        """Return the score of the best machine, as `scoring` has it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What is to be predicted.

        Returns
        -------
        score : float
        """
        best = self._best()
        return float(self.scorer_(best, X, y))

    def _best(self) -> Any:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            message = f"refit={self.refit!r}: there is no machine of all rows; fit one with best_params_, or set refit=True"
            raise AttributeError(message)
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = self._machine().__sklearn_tags__()
        tags.input_tags, tags.target_tags = own.input_tags, own.target_tags
        return tags

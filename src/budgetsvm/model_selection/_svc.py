"""BudgetSVCCV: the classifier with the best C and gamma."""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from budgetsvm import BudgetSVC
from budgetsvm._common.public import public_in
from budgetsvm._estimators.user_input import Bias, Epochs, PrecisionName
from budgetsvm.model_selection._documentation import documented_search
from budgetsvm.model_selection._search import Search, machine_has


@public_in("budgetsvm.model_selection")
@documented_search
class BudgetSVCCV(ClassifierMixin, Search):
    """Kernel support vector classifier with the C, gamma and budget that are best on rows held out.

    Finds what ``GridSearchCV(BudgetSVC(), ...)`` would, in a fraction of the time: for each gamma and fold, the terms are
    learned once, on the training rows of the fold alone, and the machine is solved in their span for all C, from small
    to large, each from the solution before.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "log_loss"} or Loss, default="hinge"
        What an error costs, as for :class:`budgetsvm.BudgetSVC`; and so are all that follow.
    multi_class : {"ovo", "ovr", "weston-watkins"}, default="ovo"
        More than two classes.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What ``decision_function`` returns where `multi_class` is "ovo".
    break_ties : {"head_to_head", True, False}, default="head_to_head"
        What decides where several classes win equally many pairs.
    class_weight : dict, "balanced" or None, default=None
        C of a class is multiplied by its weight; "balanced" goes by the training rows of each fold.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    best_estimator_ : BudgetSVC
        With `refit`: the machine with the best parameters, trained on all rows.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm.model_selection import BudgetSVCCV
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> search = BudgetSVCCV(Cs=[1, 10, 100], gammas=[0.1, 1, 10], budget=30, random_state=0).fit(
    ...     X, y
    ... )
    >>> len(search.cv_results_["params"]), sorted(search.best_params_)
    (9, ['C', 'gamma'])
    >>> bool(search.best_score_ > 0.95), len(search.best_estimator_.support_vectors_) <= 30
    (True, True)
    """

    _KIND: ClassVar[type[Any]] = BudgetSVC

    def __init__(
        self,
        Cs: Any = 10,
        gammas: Any = 10,
        *,
        budget: Any = "auto",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        halving: bool = True,
        loss: Any = "hinge",
        multi_class: Literal["ovo", "ovr", "weston-watkins"] = "ovo",
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool | Literal["head_to_head"] = "head_to_head",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        solver: Any = "bsca",
        maintenance: Any = "auto",
        epochs: Epochs = "auto",
        basis: Any = "learned",
        fit_intercept: Bias = "auto",
        tol: float = 1e-2,
        max_passes: int = 500,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        precision: PrecisionName = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Search, and fit the best machine to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        groups : array-like of shape (n_samples,), default=None
            Groups that a splitter keeps together.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight. Scores are not weighted, as for ``GridSearchCV``, but rows of
            weight 0 are not scored.

        Returns
        -------
        self : BudgetSVCCV
        """
        self._search(X, y, groups, sample_weight)
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self._best().classes_)

    @machine_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the values of the best machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
        """
        return np.asarray(self._best().decision_function(X))

    @machine_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class; with ``loss="log_loss"`` only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(self._best().predict_proba(X))
